"""The longest task of a page's main thread, by the tracing of Chromium: its duration, and its processor time.

Both are the same on an idle machine. Beside other work a task also waits for the processor, and only the second one
says what the page does.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Page

__all__ = ["Longest", "longest_task"]

_MAIN = "CrRendererMain"
_TASK = "RunTask"


@dataclass
class Longest:
    """Milliseconds, after the block of `longest_task`."""

    duration: float = 0.0
    processor: float = 0.0


@contextmanager
def longest_task(page: Page) -> Iterator[Longest]:
    browser = page.context.browser
    assert browser is not None
    longest = Longest()
    browser.start_tracing(page=page, categories=["toplevel", "disabled-by-default-devtools.timeline"])
    try:
        yield longest
    finally:
        traced = browser.stop_tracing()
    tasks = _tasks(json.loads(traced)["traceEvents"])
    longest.duration = max((one["dur"] for one in tasks), default=0) / 1000
    longest.processor = max((one["tdur"] for one in tasks), default=0) / 1000


def _tasks(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    named = [one for one in events if one.get("name") == "thread_name" and one["args"]["name"] == _MAIN]
    threads = {(one["pid"], one["tid"]) for one in named}
    found = [one for one in events if one.get("ph") == "X" and one["name"] == _TASK]
    return [one for one in found if (one["pid"], one["tid"]) in threads and "tdur" in one]
