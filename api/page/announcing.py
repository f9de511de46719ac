"""`announce_page`: tells the person who starts a server where its web page is, and opens it if that is wanted."""

import socket
import sys
import threading
import time
import webbrowser
from urllib.parse import urlsplit

__all__ = ["announce_page"]

_LOOK_SECONDS = 0.1
_CONNECT_SECONDS = 1.0


def announce_page(address: str, public_url: str, *, opens: bool) -> None:
    """Waits in the background until the server listens. Then writes a line to standard error, if that is a terminal,
    and with `opens` opens the page in the browser of this user.
    """
    if opens or sys.stderr.isatty():
        threading.Thread(target=_announce, args=(address, public_url, opens), daemon=True).start()


def _announce(address: str, public_url: str, opens: bool) -> None:
    while not _listens(address):
        time.sleep(_LOOK_SECONDS)
    if sys.stderr.isatty():
        also = f", for users at {public_url}" if public_url else ""
        _write(f"The web page is at {address}{also}. Ctrl-C stops the server.")
    if opens and not webbrowser.open(address):
        _write(f"no browser can be opened here; open {address} yourself")


def _listens(address: str) -> bool:
    parts = urlsplit(address)
    try:
        socket.create_connection((parts.hostname or "", parts.port or 0), timeout=_CONNECT_SECONDS).close()
    except OSError:
        return False
    return True


def _write(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()
