"""The command that starts a module of Hopweave in a process of its own; every child process is started with it."""

import sys

__all__ = ["python_command"]


def python_command(module: str, *arguments: str) -> list[str]:
    """Returns the command for `python -m MODULE ARGUMENTS`, with this interpreter and Hopweave's packages on the path.

    The working directory is not on the module search path of the child, so nothing there is imported by accident.
    """
    return [sys.executable, "-P", "-m", "hopweave._start", module, *arguments]
