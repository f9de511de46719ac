"""`python -m tests.servers up|down|status|install [NAME…]`: the shared servers, all of them if none is named."""

import argparse
import shlex
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from tests.servers.install import PARTS, install
from tests.servers.server import INSTALLED, NotStarted, Server
from tests.servers.shared import settings_for, shared

ENVIRONMENT = INSTALLED / "env"


def main(words: Sequence[str] | None = None) -> int:
    """Returns 1 where something could not be done; for `status`, where something asked for is not healthy."""
    parser = argparse.ArgumentParser(prog="python -m tests.servers", description="Real servers on loopback.")
    parser.add_argument("what", choices=["up", "down", "status", "install"])
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"of {', '.join(PARTS)}; chromium and rabbitmq are only installed"
    )
    arguments = parser.parse_args(words)
    if unknown := set(arguments.names) - set(PARTS):
        parser.error(f"no server is called {min(unknown)!r}; there are {', '.join(PARTS)}")
    every = shared()
    chosen = [server for name, server in every.items() if not arguments.names or name in arguments.names]
    try:
        return _do(arguments.what, arguments.names or list(PARTS), chosen, list(every.values()))
    except NotStarted as problem:
        print(problem, file=sys.stderr)
        return 1


def _do(what: str, names: Sequence[str], chosen: Sequence[Server], every: Sequence[Server]) -> int:
    match what:
        case "install":
            install(names)
        case "up":
            install(server.name for server in chosen)
            up(chosen)
            write_environment(ENVIRONMENT, every)
            print(table(chosen))
            print(f"Hopweave on these servers: source {ENVIRONMENT}")
        case "down":
            down(chosen)
            write_environment(ENVIRONMENT, every)
        case _:
            print(table(chosen))
            return 0 if all(server.pid and server.is_healthy() for server in chosen) else 1
    return 0


def up(servers: Iterable[Server]) -> None:
    for server in servers:
        server.start()


def down(servers: Iterable[Server]) -> None:
    for server in servers:
        server.stop()


def table(servers: Iterable[Server]) -> str:
    rows = [("server", "address", "state", "pid", "log")]
    for server in servers:
        pid = server.pid
        state = "down" if pid is None else "healthy" if server.is_healthy() else "not healthy"
        rows.append((server.name, server.uri, state, str(pid or "-"), str(server.log)))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def write_environment(file: Path, servers: Iterable[Server]) -> None:
    """A file for a shell to read, with the settings for those that run; none, if none does."""
    settings = {
        name: value for server in servers if server.pid is not None for name, value in settings_for(server).items()
    }
    file.unlink(missing_ok=True)
    if settings:
        file.touch(mode=0o600)  # it holds passwords
        file.write_text("".join(f"export {name}={shlex.quote(value)}\n" for name, value in settings.items()), "utf-8")


if __name__ == "__main__":
    sys.exit(main())
