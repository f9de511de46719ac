"""Two workers on one record, without the folder lock: one is stopped beyond its lease and wakes when all is done."""

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from tests.desk import DOCUMENTS, Desk
from tests.faults.late_worker import LEASE_SECONDS

HARNESS = Path(__file__).with_name("late_worker.py")
ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("change", ["same content", "replaced", "deleted"])
async def test_a_worker_that_wakes_late_changes_nothing(tmp_path: Path, change: str) -> None:
    desk = Desk(tmp_path)
    corpus = await desk.corpus()
    await desk.queue(corpus, *DOCUMENTS)
    late = await asyncio.create_subprocess_exec(
        *(sys.executable, str(HARNESS), str(tmp_path), corpus.id),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert late.stdin is not None
    assert late.stdout is not None
    try:
        assert await late.stdout.readline() == b"embedding\n"
        late.send_signal(signal.SIGSTOP)
        await asyncio.sleep(1.5 * LEASE_SECONDS)
        if change == "replaced":
            await desk.queue(corpus, *({**document, "text": "Something else."} for document in DOCUMENTS))
        await desk.worker.work(corpus.id)
        if change == "deleted":
            await desk.delete(corpus, *(document["id"] for document in DOCUMENTS))
        before, views = await desk.export(corpus), await desk.view_ids(corpus)
        late.send_signal(signal.SIGCONT)
        late.stdin.write(b"go on\n")
        await late.stdin.drain()
        assert await late.stdout.readline() == b"done\n"
        assert await late.wait() == 0
        assert await desk.export(corpus) == before
        assert await desk.record.maintenance.list_corpora_with_work() in ([], [corpus.id]), (
            "nothing but a tombstone may wait"
        )
        await asyncio.sleep(2 * LEASE_SECONDS + 0.5)  # what it wrote late to the views is swept after its grace
        await desk.worker.work(corpus.id)
        assert await desk.view_ids(corpus) == views
        jobs = await desk.record.jobs.list()
        assert all(job.state.final for job in jobs)
        ended = "cancelled" if change == "replaced" else "indexed"
        assert jobs[-1].counts == {ended: len(DOCUMENTS)}
    finally:
        if late.returncode is None:
            late.kill()
            await late.wait()
        await desk.close()
