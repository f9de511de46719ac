"""Processes: the command that starts a module of Hopweave in a process of its own, with which every child process is
started, and how a process shares its time between threads.
"""

import gc
import os
import sys

_THREADS = "OMP_NUM_THREADS"  # torch reads it by itself

_SWITCH_SECONDS = 0.001  # a fifth of the default
_GC_THRESHOLDS = (20_000, 50, 100)  # a full collection takes tenths of a second with the libraries of models loaded


def python_command(module: str, *arguments: str) -> list[str]:
    """Returns the command for `python -m MODULE ARGUMENTS`, with this interpreter and Hopweave's packages on the path.

    The working directory is not on the module search path of the child, so nothing there is imported by accident.
    """
    return [sys.executable, "-P", "-m", "hopweave._start", module, *arguments]


def count_cores() -> int:
    """Returns how many cores models may use in this process: `OMP_NUM_THREADS`, or all that the process may run on."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    limit = os.environ.get(_THREADS, "")
    return min(cores, int(limit)) if limit.isdecimal() and int(limit) > 0 else cores


def share_cores(processes: int) -> dict[str, str]:
    """Returns the variables with which each of several equal processes uses its share of the cores, at least one.

    A value that the environment has already stays.
    """
    return {} if processes == 1 or _THREADS in os.environ else {_THREADS: str(max(1, count_cores() // processes))}


def favour_event_loop() -> None:
    """Makes busy threads of this process leave the interpreter to the event loop soon, and garbage collections rare."""
    sys.setswitchinterval(_SWITCH_SECONDS)
    gc.set_threshold(*_GC_THRESHOLDS)


def freeze_objects() -> None:
    """Collects garbage, and leaves what is loaded now out of later collections, which stop the event loop."""
    gc.collect()
    gc.freeze()
