"""The contract of the record about receipts of requests that must not be carried out twice."""

import asyncio

import pytest

from core.errors import Conflict, InvalidInput
from core.ports.record import Record
from testing.record import RecordFixtures

__all__ = ["ReceiptsContract"]


class ReceiptsContract(RecordFixtures):
    async def test_a_request_is_carried_out_once(self, record: Record, other: Record) -> None:
        assert await record.receipts.begin("k", "request", lease_seconds=60) is None
        with pytest.raises(Conflict, match="is being carried out"):
            await other.receipts.begin("k", "request", lease_seconds=60)
        await record.receipts.finish("k", "the answer")
        await record.receipts.release("k")
        assert await other.receipts.begin("k", "request", lease_seconds=60) == "the answer"
        with pytest.raises(InvalidInput, match="used for another request"):
            await other.receipts.begin("k", "another", lease_seconds=60)
        await record.maintenance.prune()
        assert await other.receipts.begin("k", "request", lease_seconds=60) == "the answer"

    async def test_a_request_that_failed_is_carried_out_again(self, record: Record) -> None:
        await record.receipts.begin("k", "request", lease_seconds=60)
        await record.receipts.release("k")
        assert await record.receipts.begin("k", "another", lease_seconds=60) is None

    async def test_a_reservation_of_a_process_that_died_ends(self, record: Record) -> None:
        await record.receipts.begin("k", "request", lease_seconds=60)
        await asyncio.sleep(0.02)
        assert await record.receipts.begin("k", "request", lease_seconds=0.01) is None

    async def test_of_two_at_once_one_carries_it_out(self, record: Record, other: Record) -> None:
        begun = await asyncio.gather(
            *(one.receipts.begin("k", "request", lease_seconds=60) for one in (record, other)), return_exceptions=True
        )
        assert sorted(type(one).__name__ for one in begun) == ["Conflict", "NoneType"]
