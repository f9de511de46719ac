"""Kill -9 the server, the worker or the client at random moments of all that changes a corpus.

    python -m tests.faults.storm --rounds 100 [--seed 0]

A round adds, replaces and prunes documents by `hopweave ingest`, adds, replaces, deletes, cancels, merges and reindexes
over HTTP, and exports, into a corpus of its own. Whatever was killed is started again, and the step is repeated. Then
the corpus is compared with that of an undisturbed round, and every original, job and view is looked at. The data folder
is kept from round to round.
"""

import argparse
import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from app.container import Container
from app.supervision.folder_lock import is_held, read_holder
from core.settings import read_settings
from tests.benchmarks.documents.endpoint import embedding_endpoint
from tests.documents import make_docx
from tests.faults.storm_client import STEPS
from tests.faults.storm_state import Left, find_faults, read_settled
from tests.servers.ports import free_ports

__all__ = ["run_storm"]

HOPWEAVE = Path(sys.executable).with_name("hopweave")
ROOT = Path(__file__).parents[2]
PATIENCE_SECONDS = 180.0
KILLS = (0, 1, 1, 2)
"""How often something is killed during a step; one of these, by chance."""


class Storm:
    """One data folder with a server, and the steps of a round."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._environment = {
            **os.environ,
            "HF_HUB_OFFLINE": "1",
            "HOPWEAVE_DATA_DIR": str(folder / "data"),
            "HOPWEAVE_WORKER__BATCH_BYTES": "1500",
            "HOPWEAVE_WORKER__LEASE_SECONDS": "4",
            "HOPWEAVE_WORKER__RENEW_SECONDS": "1",
            "HOPWEAVE_WORKER__SWEEP_SECONDS": "1",
            "HOPWEAVE_WORKER__TASK_SECONDS": "3",
        }
        self._server: subprocess.Popen[bytes] | None = None
        self._port = 0
        _write_papers(folder / "papers-1", "came", range(12))
        _write_papers(folder / "papers-2", "returned", range(4, 16))

    def steps(self, corpus: str) -> Iterator[tuple[str, Sequence[str | Path]]]:
        """Yields each step's name and command. A command may be repeated, also after it has ended well."""
        for number in (1, 2):
            paths = [self._folder / f"papers-{number}", "--corpus", corpus]
            yield f"ingest {number}", [HOPWEAVE, "ingest", *paths, "--extractor", "pattern", "--prune"]
            if number == 1:  # with the second ingest, everything over HTTP is pruned: it comes after
                output = self._folder / f"{corpus}.jsonl"
                yield "export", [HOPWEAVE, "export", corpus, "--format", "jsonl", "-o", output]
        for name in STEPS:
            yield name, [sys.executable, "-m", "tests.faults.storm_client", str(self._port), corpus, name]

    def start(self) -> None:
        """Starts the server if it does not run, and waits until it is ready."""
        if self._server is not None and self._server.poll() is None:
            return
        [self._port] = free_ports(1)
        with (self._folder / "serve.log").open("ab") as log:
            command = [HOPWEAVE, "serve", "--port", str(self._port)]
            self._server = subprocess.Popen(command, env=self._environment, cwd=self._folder, stdout=log, stderr=log)
        deadline = time.monotonic() + PATIENCE_SECONDS
        while b"Uvicorn running" not in (self._folder / "serve.log").read_bytes().rpartition(b"Started server")[2]:
            assert self._server.poll() is None, self.log()
            assert time.monotonic() < deadline, self.log()
            time.sleep(0.05)

    def stop(self) -> None:
        if self._server is not None and self._server.poll() is None:
            self._server.terminate()
            self._server.wait(PATIENCE_SECONDS)

    def log(self) -> str:
        return (self._folder / "serve.log").read_text(encoding="utf-8", errors="replace")[-4000:]

    def run(self, name: str, corpus: str, dice: random.Random | None, longest: float) -> list[str]:
        """Runs a step until it ends well; `dice` kills meanwhile. Returns what was killed when."""
        killed: list[str] = []
        kills = dice.choice(KILLS) if dice else 0
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            self.start()
            command = dict(self.steps(corpus))[name]
            with (self._folder / "client.log").open("wb") as log:
                client = subprocess.Popen(command, env=self._environment, cwd=ROOT, stdout=log, stderr=log)
            if dice and len(killed) < kills:
                with suppress(subprocess.TimeoutExpired):
                    client.wait(dice.uniform(0.0, longest))
                killed.append(f"{self._kill(client, dice)} in {name}")
            try:
                code = client.wait(max(1.0, deadline - time.monotonic()))
            finally:
                client.kill()
                client.wait()
            if code == 0:
                return killed
            told = (self._folder / "client.log").read_text(encoding="utf-8", errors="replace")
            assert time.monotonic() < deadline, f"{name} does not end well ({code}): {told}\n{self.log()}"

    def _kill(self, client: "subprocess.Popen[bytes]", dice: random.Random) -> str:
        who = dice.choice(("client", "server", "worker"))
        if who == "client":
            client.kill()
        elif who == "server" and self._server is not None:
            self._server.kill()
            self._server.wait()
        else:
            holder = read_holder(self._folder / "data") if is_held(self._folder / "data") else None
            if holder is not None:
                with suppress(ProcessLookupError):
                    os.kill(holder.pid, signal.SIGKILL)
        return who


def _write_papers(folder: Path, verb: str, numbers: range) -> None:
    """Texts, of which some are the same for any verb, and office files, which the parser process reads."""
    folder.mkdir()
    for n in numbers:
        changed = verb if n % 3 else "stayed"
        text = f"Visitor Number{n} {changed} in Paris. Mary Shelley met Guest Name{n % 5}. " * (1 + n % 3)
        (folder / f"paper-{n}.txt").write_text(text, encoding="utf-8")
    (folder / "office.docx").write_bytes(make_docx([("h1", "Harbour"), ("p", f"George Boole {verb} in Cork.")]))


async def _undisturbed(storm: Storm, container: Container, corpus: str) -> tuple[Left, dict[str, float]]:
    """Returns what a round leaves if nothing is killed, and the seconds of its steps."""
    storm.start()
    seconds = {}
    for name, _ in storm.steps(corpus):
        began = time.monotonic()
        await asyncio.to_thread(storm.run, name, corpus, None, 0.0)
        seconds[name] = time.monotonic() - began
    return await read_settled(container, await container.record.corpora.get(corpus)), seconds


async def _round(storm: Storm, corpus: str, seed: int, seconds: dict[str, float]) -> list[str]:
    dice = random.Random(seed)
    killed = []
    for name, _ in storm.steps(corpus):
        killed += await asyncio.to_thread(storm.run, name, corpus, dice, seconds[name])
    with (storm._folder / f"{corpus}.jsonl").open(encoding="utf-8") as exported:
        assert all(json.loads(line) for line in exported), "the export is not whole"
    return killed


async def run_storm(folder: Path, rounds: int, seed: int) -> list[str]:
    """Returns the faults of all rounds, each with its seed and what was killed."""
    storm, found = Storm(folder), list[str]()
    with _settings(folder):
        container = Container(read_settings())
        try:
            expected, _ = await _undisturbed(storm, container, "first")
            again, seconds = await _undisturbed(storm, container, "second")
            assert again == expected
            print(f"undisturbed: {', '.join(f'{n} {s:.1f} s' for n, s in seconds.items())}", flush=True)
            for number in range(rounds):
                began, corpus = time.monotonic(), f"round-{number}"
                killed = await _round(storm, corpus, seed + number, seconds)
                storm.start()
                faults = await find_faults(container, await container.record.corpora.get(corpus), expected)
                found += [f"seed {seed + number} (killed {', '.join(killed)}): {fault}" for fault in faults]
                told = "; ".join(faults) or "identical"
                print(f"seed {seed + number}: killed {', '.join(killed) or 'nothing'}: {told}", end=" ", flush=True)
                print(f"({time.monotonic() - began:.0f} s)", flush=True)
        finally:
            storm.stop()
            await container.close()
    return found


@contextmanager
def _settings(folder: Path) -> Iterator[None]:
    """The settings of the container in this process; `Storm` passes them to others."""
    before = os.environ.get("HOPWEAVE_DATA_DIR")
    os.environ["HOPWEAVE_DATA_DIR"] = str(folder / "data")
    try:
        yield
    finally:
        if before is None:
            del os.environ["HOPWEAVE_DATA_DIR"]
        else:
            os.environ["HOPWEAVE_DATA_DIR"] = before


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, embedding_endpoint(dimension=16):
        faults = asyncio.run(run_storm(Path(folder), arguments.rounds, arguments.seed))
    print(f"{arguments.rounds} rounds, {len(faults)} faults", *faults, sep="\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
