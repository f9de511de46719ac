"""The contract of the record about API keys."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from core.errors import NotFound
from core.keys import KeyLimits, KeyState, KeyUsage, Scope, make_key
from core.ports.record import Record
from testing.record import RecordFixtures

__all__ = ["KeysContract"]

_NOW = datetime.now(UTC).replace(microsecond=0)


class KeysContract(RecordFixtures):
    async def test_a_key_is_kept_as_it_was_made_without_its_secret(self, record: Record, other: Record) -> None:
        limits = KeyLimits(requests=60, tokens=1000, ingest_bytes=10_000_000)
        where = {"$or": [{"team": "ж"}, {"year": {"$gte": 1990}}]}
        made = [
            make_key("CI of Ada", [Scope.READ, Scope.WRITE], corpora=["people"], filter=where, limits=limits),
            make_key("Ø", [Scope.ADMIN], expires_at=_NOW + timedelta(days=1)),
        ]
        for key, _ in made:
            await record.keys.create(key)
        found = {key.id: key for key in await other.keys.list()}
        assert found == {key.id: key for key, _ in made}
        for key, text in made:
            assert text[-16:] not in repr(found[key.id])

    async def test_a_revoked_key_stays_in_the_list_until_it_is_deleted(self, record: Record, other: Record) -> None:
        key, _ = make_key("a", [Scope.READ])
        await record.keys.create(key)
        revoked = await record.keys.revoke(key.id)
        assert revoked.revoked_at is not None
        assert await other.keys.revoke(key.id) == revoked
        [found] = await other.keys.list()
        assert found.state(_NOW) is KeyState.REVOKED
        assert await other.keys.delete(key.id) == revoked
        assert await record.keys.list() == []

    async def test_unknown_keys(self, record: Record) -> None:
        for call in (record.keys.revoke, record.keys.delete):
            with pytest.raises(NotFound, match="no key with the id 'x'; `hopweave keys list`"):
                await call("x")

    async def test_usage_is_that_of_all_processes(self, record: Record, other: Record) -> None:
        used = KeyUsage(requests=1, tokens=20, ingest_bytes=300)
        minutes = await asyncio.gather(*(one.keys.add_usage({"k": used}) for one in (record, other)))
        total = await record.keys.add_usage({"k": KeyUsage(), "l": KeyUsage(requests=5)})
        assert 0 < total.seconds <= 60
        if {one.number for one in minutes} == {total.number}:  # unless a minute has just begun
            assert total.usage == {"k": used + used, "l": KeyUsage(requests=5)}
        assert (await other.keys.add_usage({})).usage == {}
