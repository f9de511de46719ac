"""What just fits into the bounds of access: the limits of a key, and the keys of an issuer."""

from types import SimpleNamespace
from typing import Any

import pytest

from api.access import issuer
from api.access.limits import Ledger
from core.errors import InvalidInput, TooLarge
from core.keys import KeyLimits, KeyUsage


async def test_a_request_as_large_as_a_limit_is_admitted(monkeypatch: pytest.MonkeyPatch) -> None:
    async def know_all(_: Ledger, __: str) -> None: ...

    monkeypatch.setattr(Ledger, "_sync", know_all)
    ledger = Ledger(lambda: pytest.fail("nothing is read"))
    caller: Any = SimpleNamespace(id="ada", limits=KeyLimits(ingest_bytes=10))
    with pytest.raises(TooLarge, match="11 bytes of documents, and this key allows 10"):
        await ledger.admit(caller, KeyUsage(ingest_bytes=11))
    await ledger.admit(caller, KeyUsage(ingest_bytes=10))


def test_as_many_keys_as_are_read_may_be_published() -> None:
    keys = [{"kid": str(number), "kty": "unknown"} for number in range(issuer._MOST_KEYS)]
    assert issuer._parse_keys({"keys": keys}) == {}
    with pytest.raises(InvalidInput, match="more than 100 keys"):
        issuer._parse_keys({"keys": [*keys, keys[0]]})
