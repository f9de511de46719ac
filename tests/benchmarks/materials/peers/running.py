"""Runs peers over a folder of material, one after the other. Open it to call them from another measurement."""

import os
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.materials.peers.environments import PEERS, ROOT, NotInstalled, Peer, find_python
from tests.benchmarks.materials.peers.exchange import Answers, UnusableFile, read_answers, read_material

__all__ = ["PeerFailed", "PeerRuns", "run_peer", "run_peers"]

_NICENESS = "5"
_SHOWN = 300
_ENVIRONMENT = {"HAYSTACK_TELEMETRY_ENABLED": "False", "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}


class PeerFailed(RuntimeError):
    """A peer did not answer. The message is one line."""


@dataclass(frozen=True, kw_only=True)
class PeerRuns:
    """The answers of the peers that answered, and a line for each that did not, both by name."""

    answers: dict[str, Answers]
    failures: dict[str, str]


def run_peers(
    folder: Path, out: Path, names: Iterable[str] = tuple(PEERS), *, k: int = 10, timeout_seconds: float = 3600
) -> PeerRuns:
    """Runs each peer over the material in `folder`; writes `NAME.json` and `NAME.log` into the folder `out`.

    A peer that fails gets a line on standard error and in `failures`; the others run all the same. Raises
    `UnusableFile` if the material itself cannot be read.
    """
    read_material(folder)
    out.mkdir(parents=True, exist_ok=True)
    answers: dict[str, Answers] = {}
    failures: dict[str, str] = {}
    for name in names:
        try:
            answers[name] = run_peer(PEERS[name], folder, out / f"{name}.json", k=k, timeout_seconds=timeout_seconds)
        except PeerFailed as failed:
            failures[name] = str(failed)
            sys.stderr.write(f"{name}: {failed}\n")
    return PeerRuns(answers=answers, failures=failures)


def run_peer(peer: Peer, folder: Path, out: Path, *, k: int, timeout_seconds: float) -> Answers:
    """Runs one peer in its environment, and returns what it wrote to `out`.

    Raises `PeerFailed` if it is not installed, ends with an error, takes longer than allowed, or writes something that
    `read_answers` refuses. Its output is in a file beside `out`, with the suffix `.log`.
    """
    out.unlink(missing_ok=True)
    try:
        python = find_python(peer)
    except NotInstalled as missing:
        raise PeerFailed(str(missing)) from missing
    module = "tests.benchmarks.materials.peers"
    command = ["nice", "-n", _NICENESS, str(python), "-m", module, "answer", peer.name, folder, out, "--k", str(k)]
    log = out.with_suffix(".log")
    with log.open("w", encoding="utf-8") as output:
        try:
            done = subprocess.run(
                [str(part) for part in command],
                cwd=ROOT,
                env=_make_environment(),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                timeout=timeout_seconds,
                check=False,
            )
        except subprocess.TimeoutExpired as expired:
            raise PeerFailed(f"took longer than {timeout_seconds:.0f} s; see {log}") from expired
    if done.returncode != 0:
        raise PeerFailed(f"ended with {done.returncode}: {_last_line(log)}; see {log}")
    try:
        return read_answers(out, read_material(folder), k)
    except UnusableFile as unusable:
        raise PeerFailed(f"wrote no usable answers: {unusable}") from unusable


def _make_environment() -> dict[str, str]:
    """Returns the environment of a peer. numpy multiplies on all cores there, which is its default."""
    cores = len(os.sched_getaffinity(0))
    return {**os.environ, **_ENVIRONMENT, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": str(cores)}


def _last_line(log: Path) -> str:
    lines = [line.strip() for line in log.read_text("utf-8", errors="replace").splitlines() if line.strip()]
    return lines[-1][:_SHOWN] if lines else "no output"
