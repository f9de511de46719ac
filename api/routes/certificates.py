"""The route of certificates of deletions."""

from fastapi import APIRouter

from api.access.keys import ADMIN
from api.cursors import decode_cursor, encode_cursor
from api.deps import ContainerDep, Limit
from api.schemas.values import fill
from hopweave.wire.corpora import Certificate, CertificateList

__all__ = ["router"]

router = APIRouter(prefix="/v1/corpora/{corpus}/certificates", tags=["corpora"])


@router.get("", dependencies=[ADMIN], summary="List the certificates of what was removed from a corpus")
async def list_certificates(
    corpus: str, container: ContainerDep, limit: Limit = 50, cursor: str | None = None
) -> CertificateList:
    """By chain and number, also of deleted corpora that had this name."""
    place = decode_cursor(cursor, "certificates", corpus, check=_parse_place)
    found = await container.record.certificates.list(
        corpus, limit=limit + 1, after=None if place is None else _parse_place(place)
    )
    if not found:
        await container.record.corpora.get(corpus)  # a corpus that never was is a 404
    page = found[:limit]
    last = f"{page[-1].chain}:{page[-1].number}" if len(found) > limit else None
    data = tuple(fill(Certificate, certificate) for certificate in page)
    return CertificateList(data=data, next_cursor=encode_cursor(last, "certificates", corpus))


def _parse_place(place: str) -> tuple[str, int]:
    chain, _, number = place.rpartition(":")
    if not 0 < int(number) < 1 << 53:
        raise ValueError(place)
    return chain, int(number)
