"""Kill -9 a process that deletes, replaces and prunes documents at random moments; certificates tell of all of it.

    python -m tests.faults.deletions --operations 500 [--seed 0]

The process makes the operations of a plan one after the other, and is started again after each kill, at the operation
at which it was killed. In the end, the canonical export and the views are those of a corpus that never held what was
removed; the chain verifies, and names each removed content exactly once; a sweep finds none of it; and each certificate
that is changed, left out, moved or forged is refused. `tests.faults.deletions_on_servers` does the same on servers.
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
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.container import Container
from app.services import sweep as sweeping
from app.services.certificates import list_all
from core.corpora import Corpus
from core.errors import InvalidInput
from core.ids import content_hash, document_id
from core.ports.views import VectorKind
from core.record_policy.certificates import HashKey, Secret, digest_line, dump, sign, verify_lines
from core.settings import Settings
from indexer import submission_from_json
from tests.desk import Desk

__all__ = ["CORPUS", "SECRET", "Operation", "check", "find_final", "make_document", "make_plan", "run", "verify"]

CORPUS = "people"
SECRET = Secret(b"c" * 32)
"""The secret of `tests.desk.Desk`."""
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


def make_document(key: str, text: str) -> dict[str, Any]:
    return {"id": key, "text": text, "title": key}


async def _work(folder: Path, count: int, seed: int) -> None:
    """The process that is killed. Operations that were made already change nothing when they are made again."""
    desk = Desk(folder)
    found = [corpus for corpus in await desk.record.corpora.list() if corpus.name == CORPUS]
    corpus = found[0] if found else await desk.corpus(CORPUS)
    await desk.record.maintenance.expire_leases()
    done = folder.parent / _DONE
    begin = int(done.read_text()) if done.exists() else 0
    for number, operation in enumerate(make_plan(count, seed)[begin:], start=begin + 1):
        documents = [make_document(key, text) for key, text in operation.texts.items()]
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


async def verify(folder: Path, count: int, seed: int) -> str:
    """Returns a summary, or raises `AssertionError`."""
    plan = make_plan(count, seed)
    fresh = Desk(folder / "fresh")
    documents = [make_document(key, text) for key, text in find_final(plan).items()]
    await fresh.ingest(await fresh.corpus(CORPUS), *documents)
    await fresh.close()
    container, never = Container(Settings(data_dir=folder / "data")), Container(Settings(data_dir=folder / "fresh"))
    try:
        return await check(container, never, plan, SECRET)
    finally:
        await container.close()
        await never.close()


def find_final(plan: Sequence[Operation]) -> dict[str, str]:
    """Returns the texts by key that are left when all operations are done."""
    final: dict[str, str] = {}
    for operation in plan:
        final |= operation.texts
        for key in operation.deleted:
            del final[key]
    return final


def _count_gone(plan: Sequence[Operation]) -> Counter[tuple[str, str]]:
    """Returns how often each text was removed from the document with this key."""
    present: dict[str, str] = {}
    gone: Counter[tuple[str, str]] = Counter()
    for operation in plan:
        gone.update((key, present[key]) for key in operation.texts if key in present)
        present |= operation.texts
        gone.update((key, present.pop(key)) for key in operation.deleted)
    return gone


async def check(container: Container, never: Container, plan: Sequence[Operation], secret: Secret) -> str:
    """Compares the corpus with a corpus that never held what was removed, and examines the certificates. Returns a
    summary, or raises `AssertionError`.
    """
    corpus = await container.record.corpora.get(CORPUS)
    await _compare(container, corpus, never)
    assert await container.record.certificates.list_removals() == []
    lines = [certificate.line async for certificate in list_all(container, CORPUS)]
    [chain] = verify_lines(lines, keys=[secret.public_key()])
    hashes, gone = secret.hash_key(chain.id), _count_gone(plan)
    told = Counter(
        (document["document"], content)
        for certificate in chain.certificates
        for document in certificate["documents"]
        for content in document["contents"]
    )
    assert told == Counter({_hash(hashes, key, text): n for (key, text), n in gone.items()})
    assert not any(sum(certificate["found"].values()) for certificate in chain.certificates)
    tampered = _count_refused(lines, secret)
    runs = frozenset(run for _, text in gone for run in sweeping.runs_of(text, _LENGTH))
    sought = sweeping.Sought(keys=["all"], runs=runs, needles={}, length=_LENGTH)
    swept = json.loads((await sweeping.sweep(container, corpus, sought)).line)["certificate"]
    assert not any(swept["found"].values()), swept
    return (
        f"{len(lines)} certificates of {gone.total()} removed contents; {tampered} tampered files refused; "
        f"swept {swept['checked']}"
    )


def _count_refused(lines: Sequence[str], secret: Secret) -> int:
    """Returns how many files with a tampered certificate are refused. Raises `AssertionError` if one is not."""
    dice, head = random.Random(len(lines)), digest_line(lines[-1])
    refused = 0
    for at in range(len(lines)):
        for tampered in _tamper(lines, at, dice):
            try:
                verify_lines(tampered, keys=[secret.public_key()], heads=[head])
            except InvalidInput:
                refused += 1
            else:
                raise AssertionError(f"line {at + 1} was tampered with, and the file verifies: {tampered[at]}")
    return refused


def _tamper(lines: Sequence[str], at: int, dice: random.Random) -> Iterator[list[str]]:
    """Yields the file with one line changed in one character, left out, with another body, and signed by a stranger."""
    before, line, after = list(lines[:at]), lines[at], list(lines[at + 1 :])
    place = dice.randrange(len(line))
    yield [*before, line[:place] + ("0" if line[place] != "0" else "1") + line[place + 1 :], *after]
    yield [*before, *after]
    whole = json.loads(line)
    whole["certificate"]["documents"] = whole["certificate"]["documents"][1:]
    yield [*before, dump(whole), *after]
    body = whole["certificate"]
    named = {name: body.pop(name) for name in ("chain", "number", "previous", "key", "version")}
    stranger = Secret(b"x" * 32)
    forged = sign(stranger, body, chain=named["chain"], number=named["number"], previous=named["previous"])
    yield [*before, forged, *after]


def _hash(hashes: HashKey, key: str, text: str) -> tuple[str, str]:
    submission = submission_from_json({"key": key, "text": text, "title": key})
    return hashes.hash_document(key), hashes.hash_content(content_hash(submission.content))


async def _compare(container: Container, corpus: Corpus, never: Container) -> None:
    other = await never.record.corpora.get(CORPUS)
    assert await _export(container, corpus) == await _export(never, other)
    assert await _list_view_ids(container, corpus) == await _list_view_ids(never, other)
    assert set(await container.files.names(corpus.id)) == set(await never.files.names(other.id))


async def _export(container: Container, corpus: Corpus) -> list[str]:
    rows = container.record.exporter.rows(corpus.id, canonical=True)
    return [json.dumps(row, sort_keys=True) async for row in rows]


async def _list_view_ids(container: Container, corpus: Corpus) -> list[set[str]]:
    kinds = [set(await container.vectors.ids(corpus.id, kind)) for kind in VectorKind]
    return [set(await container.text.ids(corpus.id)), *kinds]


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
        summary = asyncio.run(verify(Path(name), arguments.operations, arguments.seed))
        print(f"{arguments.operations} operations, {kills} kills, {time.monotonic() - began:.0f} s: {summary}")


if __name__ == "__main__":
    main()
