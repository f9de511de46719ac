"""Kill -9 a process that deletes, replaces and prunes documents at random moments; certificates tell of all of it.

    python -m tests.faults.deletions --operations 500 [--seed 0]

The process makes the operations of a plan one after the other, and is started again after each kill, at the operation
at which it was killed. In the end, the canonical export and the views are those of a corpus that never held what was
removed; the chain verifies, and names each removed content exactly once; and a sweep of the folder finds none of it.
"""

import argparse
import asyncio
import json
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.container import Container
from app.services import sweep as sweeping
from app.services.certificates import list_all
from core.ids import content_hash, document_id
from core.record_policy.certificates import HashKey, Secret, verify_lines
from core.settings import Settings
from indexer import submission_from_json
from tests.desk import Desk

_DOCUMENTS = 12
_DONE = "done"
_LENGTH = 6
_FINISHED = 12
"""The operations that a process finishes before it is killed, at most. It needs some: importing takes longer."""
_LONGEST = 1.0


@dataclass(frozen=True, kw_only=True)
class Operation:
    """`texts` are submitted by key, and `deleted` are deleted in one job, as a prune does."""

    texts: Mapping[str, str]
    deleted: tuple[str, ...] = ()


def make_plan(count: int, seed: int) -> list[Operation]:
    """Returns `count` operations that remove something, with the submissions that they need."""
    dice = random.Random(seed)
    present: dict[str, str] = {}
    plan: list[Operation] = []
    version = removing = 0

    def text() -> str:
        nonlocal version
        version += 1
        return f"Minutes {version} of Ada Byron and Zq{version} Xw{version} in Kv{version}: qz{version}a wv{version}b."

    while removing < count:
        free = [key for key in (f"d{number}" for number in range(_DOCUMENTS)) if key not in present]
        if free:
            plan.append(Operation(texts={key: text() for key in free}))
            present |= plan[-1].texts
        kind = dice.choice(("delete", "replace", "replace", "prune"))
        keys = dice.sample(sorted(present), 3 if kind == "prune" else 1)
        if kind == "replace":
            plan.append(Operation(texts={keys[0]: text()}))
            present |= plan[-1].texts
        else:
            plan.append(Operation(texts={}, deleted=tuple(keys)))
            for key in keys:
                del present[key]
        removing += 1
    return plan


def _document(key: str, text: str) -> dict[str, Any]:
    return {"id": key, "text": text, "title": key}


async def _work(folder: Path, count: int, seed: int) -> None:
    """The process that is killed. Operations that were made already change nothing when they are made again."""
    desk = Desk(folder)
    found = [one for one in await desk.record.corpora.list() if one.name == "people"]
    corpus = found[0] if found else await desk.corpus()
    await desk.record.maintenance.expire_leases()
    done = folder.parent / _DONE
    begin = int(done.read_text()) if done.exists() else 0
    for number, operation in enumerate(make_plan(count, seed)[begin:], start=begin + 1):
        documents = [_document(key, text) for key, text in operation.texts.items()]
        if documents:
            await desk.ingest(corpus, *documents)
        if operation.deleted:
            await desk.record.submissions.delete_existing(corpus.id, [document_id(key) for key in operation.deleted])
            await desk.worker.work(corpus.id)
        draft = done.with_suffix(".part")
        draft.write_text(str(number))
        draft.replace(done)
        print(number, flush=True)
    await desk.worker.work(corpus.id)
    await desk.close()


def run(folder: Path, count: int, seed: int) -> int:
    """Returns how often it was killed: within the operation after some that it has finished, or between two."""
    dice, kills = random.Random(seed), 0
    (folder / "data").mkdir()
    command = [sys.executable, "-m", "tests.faults.deletions", "--work", str(folder / "data"), str(count), str(seed)]
    while True:
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            took = 0.0
            for _ in range(dice.randint(1, _FINISHED)):
                began = time.monotonic()
                if not process.stdout.readline():
                    break
                took = time.monotonic() - began
            try:
                code = process.wait(dice.uniform(0.0, 1.5 * min(took, _LONGEST)))
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                process.wait()
                kills += 1
                continue
        assert code == 0, f"the process ended with {code}"
        return kills


async def check(folder: Path, count: int, seed: int) -> str:
    """Returns a summary, or raises `AssertionError`."""
    plan = make_plan(count, seed)
    final: dict[str, str] = {}
    held: list[tuple[str, str]] = []
    gone: Counter[tuple[str, str]] = Counter()
    for operation in plan:
        for key, text in operation.texts.items():
            if key in final:
                gone[key, final[key]] += 1
            final[key] = text
            held.append((key, text))
        for key in operation.deleted:
            gone[key, final.pop(key)] += 1
    await _compare(folder, final)
    container = Container(Settings(data_dir=folder / "data"))
    corpus = await container.record.corpora.get("people")
    assert await container.record.certificates.list_removals() == []
    lines = [certificate.line async for certificate in list_all(container, "people")]
    [chain] = verify_lines(lines, keys=[Secret(b"c" * 32).public_key()])
    hashes = Secret(b"c" * 32).hash_key(chain.id)
    told = Counter(
        (document["document"], content)
        for certificate in chain.certificates
        for document in certificate["documents"]
        for content in document["contents"]
    )
    assert told == Counter({_hash(hashes, key, text): n for (key, text), n in gone.items()})
    assert not any(sum(certificate["found"].values()) for certificate in chain.certificates)
    runs = frozenset(run for _, text in gone for run in sweeping.runs_of(text, _LENGTH))
    sought = sweeping.Sought(keys=["all"], runs=runs, needles=(), length=_LENGTH)
    swept = json.loads((await sweeping.sweep(container, corpus, sought)).line)["certificate"]
    assert not any(swept["found"].values()), swept
    await container.close()
    removed = sum(gone.values())
    return f"{len(lines)} certificates of {removed} removed contents; swept {swept['checked']}"


def _hash(hashes: HashKey, key: str, text: str) -> tuple[str, str]:
    submission = submission_from_json({"key": key, "text": text, "title": key})
    return hashes.hash_document(key), hashes.hash_content(content_hash(submission.content))


async def _compare(folder: Path, final: Mapping[str, str]) -> None:
    """Compares the corpus with one that never held what was removed."""
    desk, fresh = Desk(folder / "data"), Desk(folder / "fresh")
    corpus, other = await desk.record.corpora.get("people"), await fresh.corpus()
    await fresh.ingest(other, *(_document(key, text) for key, text in final.items()))
    assert await desk.export(corpus) == await fresh.export(other)
    assert await desk.view_ids(corpus) == await fresh.view_ids(other)
    await desk.close()
    await fresh.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--operations", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--work", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.work:
        folder, count, seed = arguments.work
        asyncio.run(_work(Path(folder), int(count), int(seed)))
        return
    with tempfile.TemporaryDirectory() as name:
        began = time.monotonic()
        kills = run(Path(name), arguments.operations, arguments.seed)
        summary = asyncio.run(check(Path(name), arguments.operations, arguments.seed))
        print(f"{arguments.operations} operations, {kills} kills, {time.monotonic() - began:.0f} s: {summary}")


if __name__ == "__main__":
    main()
