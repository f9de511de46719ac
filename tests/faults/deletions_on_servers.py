"""Kill -9 clients, workers and servers while documents are deleted and replaced; certificates tell of all of it.

    python -m tests.faults.deletions_on_servers --operations 500 [--seed 0] [--minutes 60]

`tests.faults.deletions` has the operations. A client submits one after the other to Neo4j and Redis, and two
workers do them, with vectors in Milvus. At random moments the client, a worker or one of the servers is killed. What
was killed comes back, and the client begins again with the operation at which it ended. The same is then checked as for
a folder, in comparison with a folder that never held what was removed. After `--minutes`, nothing more is begun, and
what was done is checked.
"""

import argparse
import asyncio
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from app.container import Container
from app.services import corpora, ingestion
from app.services.documents import delete_by_keys
from core.corpora import Corpus
from core.documents import OnConflict, RevisionState
from core.errors import NotFound, Unavailable
from core.ids import content_hash, document_id
from core.record_policy.certificates import Secret
from core.settings import read_settings
from indexer import Worker, submission_from_json
from tests.desk import OPTIONS
from tests.faults.deletions import CORPUS, Operation, check, find_final, make_plan
from tests.servers.installation import Installation, configured, installation
from tests.servers.server import Server
from tests.twins.embedding_server import EmbeddingServer

__all__ = ["run_on_servers"]

_SECRET = "-".join(["certificates"] * 4)
_DONE = "done"
_AWAY = 3
"""The exit code of a client that met a server that was away, or busy for too long."""
_POLL_SECONDS = 0.1
_PATIENCE_SECONDS = 600
_WORKERS = 2
_KILLS = 0.5
"""The share of operations in which something is killed."""
_VICTIMS = {"client": 6, "worker": 10, "neo4j": 1, "milvus": 2, "redis": 2}
"""How often each is killed, among all kills."""


@contextmanager
def _start_servers(folder: Path) -> Iterator[Installation]:
    """Yields servers, two workers with short leases, and the settings of an embedding model that costs nothing."""
    with EmbeddingServer(dimension=64) as embedding:
        more = {
            "HOPWEAVE_CERTIFICATES__SECRET": _SECRET,
            **embedding.environment,
            "HOPWEAVE_WORKER__LEASE_SECONDS": "4",
            "HOPWEAVE_WORKER__RENEW_SECONDS": "1",
            "HOPWEAVE_WORKER__SWEEP_SECONDS": "1",
            "HOPWEAVE_WORKER__TASK_SECONDS": "5",
        }
        with installation(folder, more, heap="768m", short_lived=True) as servers:
            yield servers


def run_on_servers(folder: Path, count: int, seed: int, seconds: float = float("inf")) -> str:
    """Makes the operations, or as many as can be begun in `seconds`. Returns a summary, or raises `AssertionError`."""
    plan = make_plan(count, seed)
    with _start_servers(folder) as servers:
        began = time.monotonic()
        storm = _Storm(servers, plan, (count, seed), began + seconds)
        made = plan[: storm.run()]
        summary = asyncio.run(_check(servers, made))
        killed = ", ".join(f"{victim} {number}" for victim, number in sorted(storm.kills.items())) or "nothing"
        removing = len(made) - _count_filling(made)
        return f"{removing} operations, killed {killed}, {time.monotonic() - began:.0f} s: {summary}"


def _count_filling(plan: Sequence[Operation]) -> int:
    """Returns how many operations only add documents."""
    present: set[str] = set()
    filling = 0
    for operation in plan:
        filling += not operation.deleted and present.isdisjoint(operation.texts)
        present = (present | operation.texts.keys()) - set(operation.deleted)
    return filling


class _Storm:
    """The client, the workers and the servers, of which one after the other is killed, `kills` times."""

    def __init__(
        self, servers: Installation, plan: Sequence[Operation], named: tuple[int, int], deadline: float
    ) -> None:
        """`named`: the arguments of `make_plan`. After `deadline`, nothing is killed, and no operation begun."""
        self.kills: Counter[str] = Counter()
        self._servers = servers
        self._worker = servers.start_worker(_WORKERS)
        self._dice = random.Random(named[1])
        self._named = [str(servers.folder), *map(str, named)]
        self._end = len(plan)
        self._deadline = deadline
        self._is_over = False

    def run(self) -> int:
        """Returns how many operations of the plan were made."""
        while self._run_client():
            pass
        return self._end

    def _run_client(self) -> bool:
        """Returns whether the client has to be started again: it was killed, or met a server that was away."""
        environment = {**os.environ, **self._servers.settings}
        command = [sys.executable, "-m", "tests.faults.deletions_on_servers", "--work", *self._named, str(self._end)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as client:
            assert client.stdout is not None
            began = time.monotonic()
            while client.stdout.readline():
                took, began = time.monotonic() - began, time.monotonic()
                if self._is_over:
                    continue
                if began > self._deadline:
                    client.kill()
                    client.wait()
                    self._is_over = True
                    self._end = min(self._end, _read_done(self._servers.folder) + 1)  # it may have begun the next one
                    return True
                if self._dice.random() >= _KILLS:
                    continue
                time.sleep(self._dice.uniform(0.0, 1.5 * min(took, 1.0)))
                [victim] = self._dice.choices(list(_VICTIMS), weights=list(_VICTIMS.values()))
                self.kills[victim] += 1
                if victim == "client":
                    client.kill()
                    client.wait()
                    return True
                if victim == "worker":
                    self._kill_worker()
                else:
                    self._kill_server(next(server for server in self._servers.servers if server.name == victim))
            code = client.wait()
        assert code in (0, _AWAY), f"the client ended with {code}"
        return code == _AWAY

    def _kill_worker(self) -> None:
        """Kills a process that works, whose parent starts another."""
        while not (children := _list_children(self._worker)):
            time.sleep(_POLL_SECONDS)
        os.kill(self._dice.choice(children), signal.SIGKILL)

    def _kill_server(self, server: Server) -> None:
        server.kill()
        time.sleep(self._dice.uniform(0.0, 3.0))
        server.start()


def _list_children(process: "subprocess.Popen[bytes]") -> list[int]:
    found = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text(encoding="ascii")
    return [int(pid) for pid in found.split()]


async def _work(folder: Path, count: int, seed: int, end: int) -> None:
    """The client that is killed. Operations that were made already change nothing when they are made again."""
    container = Container(read_settings())
    corpus = await corpora.ensure(container, CORPUS, chunker="sentences", extractor="pattern")
    done, begin = folder / _DONE, _read_done(folder)
    for number, operation in enumerate(make_plan(count, seed)[begin:end], start=begin + 1):
        await _make(container, corpus, operation)
        draft = done.with_suffix(".part")
        draft.write_text(str(number))
        draft.replace(done)
        print(number, flush=True)
    await container.close()


def _read_done(folder: Path) -> int:
    """Returns how many operations the clients have made."""
    done = folder / _DONE
    return int(done.read_text()) if done.exists() else 0


async def _make(container: Container, corpus: Corpus, operation: Operation) -> None:
    """Submits an operation, and waits for the documents: the job of an earlier client may still be at work."""
    submissions = [
        submission_from_json({"key": key, "text": text, "title": key}) for key, text in operation.texts.items()
    ]
    if submissions:
        await ingestion.submit(container, corpus, submissions, OnConflict.REPLACE)
        wanted = {document_id(submission.key): content_hash(submission.content) for submission in submissions}
        await _wait_until(lambda: _are_indexed(container, corpus, wanted), "the documents are indexed")
    if operation.deleted:
        job, _ = await delete_by_keys(container, corpus, operation.deleted)

        async def is_settled() -> bool:
            return (await container.record.jobs.get(job.id)).settled

        await _wait_until(is_settled, "the documents are deleted")


async def _are_indexed(container: Container, corpus: Corpus, wanted: Mapping[str, str]) -> bool:
    for id, content in wanted.items():
        try:
            document = await container.record.documents.get(corpus.id, id)
        except NotFound:
            return False
        if document.state is not RevisionState.INDEXED or document.content_hash != content:
            return False
    return True


async def _wait_until(holds: Callable[[], Awaitable[bool]], what: str) -> None:
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while not await holds():
        assert time.monotonic() < deadline, f"not within {_PATIENCE_SECONDS} seconds: {what}"
        await asyncio.sleep(_POLL_SECONDS)


async def _check(servers: Installation, plan: Sequence[Operation]) -> str:
    with configured({**servers.more, "HOPWEAVE_DATA_DIR": str(servers.folder / "never")}):
        never = Container(read_settings())
        await _fill(never, plan)
    with configured(servers.settings):
        container = Container(read_settings())
    try:

        async def is_certified() -> bool:
            return await container.record.certificates.list_removals() == []

        await _wait_until(is_certified, "all removals have certificates")
        await asyncio.to_thread(servers.stop_workers)
        return await check(container, never, plan, Secret(await container.certificate_secret.make()))
    finally:
        await container.close()
        await never.close()


async def _fill(never: Container, plan: Sequence[Operation]) -> None:
    """Indexes what is left when all operations are done, in a folder."""
    corpus = await corpora.ensure(never, CORPUS, chunker="sentences", extractor="pattern")
    texts = find_final(plan)
    submissions = [submission_from_json({"key": key, "text": text, "title": key}) for key, text in texts.items()]
    await ingestion.submit(never, corpus, submissions, OnConflict.REPLACE)
    while await Worker("never", never.indexing, OPTIONS).work(corpus.id):
        pass


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--operations", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("--work", nargs=4, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work:
        try:
            asyncio.run(_work(Path(given.work[0]), *map(int, given.work[1:])))
        except Unavailable as error:
            print(f"{error}; the client begins again", file=sys.stderr)
            sys.exit(_AWAY)
        return
    with tempfile.TemporaryDirectory() as name:
        print(run_on_servers(Path(name), given.operations, given.seed, 60 * given.minutes))


if __name__ == "__main__":
    main()
