"""Processes: the command that starts a module of Hopweave in a process of its own, with which every child process is
started, and how a process shares its time between threads.
"""

import gc
import sys

__all__ = ["favour_event_loop", "freeze_objects", "python_command"]

_SWITCH_SECONDS = 0.001  # a fifth of the default
_GC_THRESHOLDS = (20_000, 50, 100)  # a full collection takes tenths of a second with the libraries of models loaded


def python_command(module: str, *arguments: str) -> list[str]:
    """Returns the command for `python -m MODULE ARGUMENTS`, with this interpreter and Hopweave's packages on the path.

    The working directory is not on the module search path of the child, so nothing there is imported by accident.
    """
    return [sys.executable, "-P", "-m", "hopweave._start", module, *arguments]


def favour_event_loop() -> None:
    """Makes busy threads of this process leave the interpreter to the event loop soon, and garbage collections rare."""
    sys.setswitchinterval(_SWITCH_SECONDS)
    gc.set_threshold(*_GC_THRESHOLDS)


def freeze_objects() -> None:
    """Collects garbage, and leaves what is loaded now out of later collections, which stop the event loop."""
    gc.collect()
    gc.freeze()
