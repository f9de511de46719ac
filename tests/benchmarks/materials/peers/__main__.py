"""Installs peers, and runs them over one folder of material.

`python -m tests.benchmarks.materials.peers install [NAME…]`, or `run FOLDER OUT [NAME…]`.
`answer NAME FOLDER OUT` is what `run` calls in the environment of a peer.
"""

import argparse
import importlib
import statistics
import sys
from pathlib import Path

from tests.benchmarks.materials.peers.environments import PEERS, NotInstalled, install
from tests.benchmarks.materials.peers.running import run_peers


def main() -> int:
    """Returns 1 if a peer could not be installed, or did not answer."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.materials.peers")
    commands = parser.add_subparsers(dest="command", required=True)
    installing = commands.add_parser("install", help="build the environments of peers")
    running = commands.add_parser("run", help="run peers over a folder of material")
    answering = commands.add_parser("answer", help="run a peer in this process")
    answering.add_argument("name", choices=list(PEERS))
    for command in (running, answering):
        command.add_argument("folder", type=Path)
        command.add_argument("out", type=Path)
        command.add_argument("--k", type=int, default=10)
    for command in (installing, running):
        command.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(PEERS)}; else all")
    given = parser.parse_args()
    if unknown := set(getattr(given, "names", ())) - set(PEERS):
        parser.error(f"unknown: {', '.join(sorted(unknown))}; choose from {', '.join(PEERS)}")
    if given.command == "install":
        return _install(given.names or list(PEERS))
    if given.command == "run":
        return _run(given.folder.resolve(), given.out.resolve(), given.names or list(PEERS), given.k)
    importlib.import_module(f"{__package__}.{PEERS[given.name].module}").run(given.folder, given.out, given.k)
    return 0


def _install(names: list[str]) -> int:
    failed = False
    for name in names:
        try:
            install(PEERS[name])
        except NotInstalled as error:
            failed = True
            sys.stderr.write(f"{name}: {error}\n")
    return int(failed)


def _run(folder: Path, out: Path, names: list[str], k: int) -> int:
    runs = run_peers(folder, out, names, k=k)
    for name, answers in runs.answers.items():
        p50 = statistics.median(answers.milliseconds)
        print(f"{name:12} {p50:8.1f} ms  {answers.index_seconds:8.1f} s to index  {answers.version}")
    return int(bool(runs.failures))


if __name__ == "__main__":
    raise SystemExit(main())
