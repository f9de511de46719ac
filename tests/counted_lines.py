"""Counts the lines that code runs, turns of comprehensions included: work that does not depend on the machine."""

import sys
from collections.abc import Callable
from types import FrameType

__all__ = ["count_lines"]


def count_lines(work: Callable[[], object], folder: str) -> int:
    """Returns how many lines of modules with `folder` in their path are run by some work."""
    lines = 0

    def count(frame: FrameType, event: str, _argument: object) -> Callable[..., object] | None:
        nonlocal lines
        if folder not in frame.f_code.co_filename:
            return None
        lines += event == "line"
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        work()
    finally:
        sys.settrace(before)
    return lines
