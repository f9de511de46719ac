"""The start of Hopweave's own processes: the console script, `python -m hopweave`, and every child process.

In the wheel, the server's packages (`core`, `app`, `api`, …) lie in `hopweave/_server`, where no other package meets
them. This module puts that folder on the module search path of the current process, which must be one of Hopweave's
own. In a checkout there is no such folder, the packages are importable already, and the path is left alone.

`python -P -m hopweave._start [--parent FD] MODULE [ARG…]` runs a module as `python -m MODULE` would. FD is the reading
end of a pipe that the parent holds open: when the parent closes it or ends, this process gets SIGTERM.
"""

import ctypes
import importlib
import os
import runpy
import signal
import sys
import threading
import time
from pathlib import Path

__all__ = ["limit_threads", "run"]

_SERVER = Path(__file__).parent / "_server"
_COMMAND = "cli.main"
_FAREWELL_SECONDS = 60.0
_M_ARENA_MAX = -8
_ARENAS = 2


def run() -> None:
    """Runs the command line, as the console script `hopweave` does."""
    _survive_signal()
    limit_threads()
    _limit_arenas()
    _extend_path()
    importlib.import_module(_COMMAND).run()


def limit_threads() -> None:
    """Makes numpy multiply on one core, unless the environment says otherwise. numpy must not be imported yet.

    A server multiplies many small matrices at once, and waiting threads of OpenBLAS use the processor: with them, a
    search took twice as much time of it.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def _survive_signal() -> None:
    """Ignores SIGUSR2, which would end the process, until `app.telemetry.logs` handles it."""
    signal.signal(signal.SIGUSR2, signal.SIG_IGN)


def _limit_arenas() -> None:
    """Makes glibc allocate from two arenas, unless the environment says otherwise.

    By default each of a process' threads gets an arena of its own, up to eight for each core, which keeps what was
    freed in it. A worker that had ingested 16,000 passages held 439 MB, and holds 257 MB with two. Other C libraries
    have no such arenas.
    """
    if sys.platform == "linux" and "MALLOC_ARENA_MAX" not in os.environ:
        set_option = getattr(ctypes.CDLL(None), "mallopt", None)
        if set_option is not None:
            set_option(_M_ARENA_MAX, _ARENAS)


def _run_module(arguments: list[str]) -> None:
    _survive_signal()
    limit_threads()
    _limit_arenas()
    _extend_path()
    if arguments[0] == "--parent":
        threading.Thread(target=_end_with, args=(int(arguments[1]),), name="parent", daemon=True).start()
        arguments = arguments[2:]
    sys.argv = arguments
    runpy.run_module(arguments[0], run_name="__main__", alter_sys=True)


def _extend_path() -> None:
    """Makes the server's packages importable, before all others of the same names."""
    if not _SERVER.is_dir() or str(_SERVER) in sys.path:
        return
    sys.path.insert(0, str(_SERVER))
    # By default numba writes its cache beside the modules, where uninstalling the package would leave it behind.
    caches = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    os.environ.setdefault("NUMBA_CACHE_DIR", str(caches / "hopweave" / "numba"))


def _end_with(parent: int) -> None:
    os.read(parent, 1)  # nothing is ever written: this returns when the other end closes
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(_FAREWELL_SECONDS)
    os._exit(1)


if __name__ == "__main__":
    _run_module(sys.argv[1:])
