"""What a worker's log tells of claims."""

import logging
from collections.abc import Sequence
from typing import cast

import pytest

from core.ports.record import Claim, Claims
from indexer.pipeline.logged_ports import LoggedClaims

_CLAIM = Claim(
    corpus_id="c" * 16, document_id="d" * 16, key="ada.txt", revision=1, epoch=1, deletion=False,
    media_type="text/plain", content_hash="h", size=1, title=None, metadata={},
)  # fmt: skip


class _Fenced:
    """Claims that all turn out to be somebody else's when their leases are renewed."""

    async def claim(self, *_: object, **__: object) -> list[Claim]:
        return [_CLAIM]

    async def renew(self, claims: Sequence[Claim], **_: object) -> list[Claim]:
        return list(claims)


@pytest.mark.parametrize(("ended", "lost"), [(False, 1), (True, 0)])
async def test_a_claim_is_lost_once_and_not_after_its_end(
    caplog: pytest.LogCaptureFixture, ended: bool, lost: int
) -> None:
    claims = LoggedClaims(cast("Claims", _Fenced()), "people")
    await claims.claim("c" * 16, "worker", lease_seconds=1, max_bytes=1)
    if ended:
        claims.report_end(logging.INFO, "document indexed", _CLAIM)
    for _ in range(2):
        await claims.renew([_CLAIM], lease_seconds=1)
    assert sum("claim lost" in record.getMessage() for record in caplog.records) == lost
