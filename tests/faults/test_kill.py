"""Kill -9 the worker, or `hopweave ingest`, at random moments of an ingest; the same command again makes it whole.

Each round ingests into a fresh folder, kills once to three times, repeats the command until it ends well, and compares
the canonical export and the ids of all views with those of an undisturbed ingest.
"""

import asyncio
import json
import os
import random
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from app.container import Container
from app.supervision.folder_lock import is_held, read_holder
from core.ports.views import VectorKind
from core.settings import Settings
from tests.faults.commands import HOPWEAVE, PATIENCE_SECONDS, environment

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "musique-small" / "corpus.jsonl"


@dataclass(frozen=True, kw_only=True)
class Left:
    """What an ingest leaves: the canonical export, the ids in the views, and the states of documents."""

    export: bytes
    views: tuple[frozenset[str], ...]
    states: frozenset[str]


def ingest(folder: Path, corpus: Path) -> "subprocess.Popen[bytes]":
    command = [HOPWEAVE, "ingest", corpus, "--corpus", "c", "--extractor", "pattern", "--json"]
    small = environment(folder, WORKER__BATCH_BYTES=6000, WORKER__LEASE_SECONDS=20)
    return subprocess.Popen(command, env=small, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def ended(process: "subprocess.Popen[bytes]") -> None:
    output, errors = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 0, f"ingest ended with {process.returncode}: {output!r} {errors!r}"


def kill_something(process: "subprocess.Popen[bytes]", folder: Path, dice: random.Random) -> str:
    """Kill the worker or the command; returns which."""
    who = read_holder(folder) if is_held(folder) else None
    if who is not None and dice.random() < 0.5:
        os.kill(who.pid, signal.SIGKILL)
        return "worker"
    process.kill()
    process.wait()
    return "ingest"


def disturbed(folder: Path, corpus: Path, dice: random.Random, longest: float) -> list[str]:
    """Ingest with kills at random moments; returns what was killed when, for the report."""
    log = []
    process = ingest(folder, corpus)
    for _ in range(dice.randint(1, 3)):
        pause = dice.uniform(0.0, 0.7 * longest)  # later, most rounds would find nothing left to kill
        try:
            process.wait(pause)
        except subprocess.TimeoutExpired:
            killed = kill_something(process, folder, dice)
            log.append(f"{killed} after {pause:.1f} s")
        if process.poll() is not None:
            for pipe in (process.stdout, process.stderr):
                if pipe:
                    pipe.close()
            process = ingest(folder, corpus)
    ended(process)
    return log


async def left_behind(folder: Path) -> Left:
    container = Container(Settings(data_dir=folder))
    corpus = await container.record.corpora.get("c")
    rows = [row async for row in container.record.exporter.rows(corpus.id, canonical=True)]
    export = "\n".join(json.dumps(row, sort_keys=True, ensure_ascii=False) for row in rows).encode()
    views = [frozenset(await container.vectors.ids(corpus.id, kind)) for kind in VectorKind]
    views.append(frozenset(await container.text.ids(corpus.id)))
    page = await container.record.documents.list(corpus.id, limit=10_000)
    states = frozenset(document.state.value for document in page.data)
    await container.close()
    return Left(export=export, views=tuple(views), states=states)


def rounds(folder: Path, corpus: Path, count: int, seed: int) -> None:
    started = time.monotonic()
    (folder / "whole").mkdir()
    ended(ingest(folder / "whole", corpus))
    longest = time.monotonic() - started
    expected = asyncio.run(left_behind(folder / "whole"))
    assert expected.states == {"indexed"}
    print(f"undisturbed: {longest:.1f} s, {len(expected.export)} bytes", flush=True)
    for n in range(count):
        here = folder / f"round-{n}"
        here.mkdir()
        log = disturbed(here, corpus, random.Random(seed + n), longest)
        found = asyncio.run(left_behind(here))
        assert found.states == expected.states, f"round {n} ({'; '.join(log)}): documents are {found.states}"
        assert found.export == expected.export, f"round {n} ({'; '.join(log)}): the export differs"
        assert found.views == expected.views, f"round {n} ({'; '.join(log)}): the views differ"
        print(f"round {n}: killed {'; '.join(log) or 'nothing'}; identical", flush=True)


@pytest.mark.slow
def test_killing_at_random_moments_loses_nothing(tmp_path: Path) -> None:
    rounds(tmp_path, EXAMPLE, 3, seed=7)


@pytest.mark.slow
def test_a_table_of_passages_is_resumed_after_kills(tmp_path: Path) -> None:
    passages = [json.loads(line) for line in EXAMPLE.read_text(encoding="utf-8").splitlines()]
    lines = ["\t".join((one["id"], _quote(one["text"]), one["title"])) for one in passages]
    table = tmp_path / "psgs_w100.tsv"
    table.write_text("\n".join(["id\ttext\ttitle", *lines, ""]), encoding="utf-8")
    rounds(tmp_path, table, 1, seed=11)


def _quote(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'
