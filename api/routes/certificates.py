"""The route of certificates of deletions."""

from fastapi import APIRouter

from api.access.keys import ADMIN
from api.cursors import decode_cursor, encode_cursor
from api.deps import ContainerDep, Limit
from api.schemas.values import fill
from app.services.certificates import list_page, read_place
from hopweave.wire.corpora import Certificate, CertificateList

router = APIRouter(prefix="/v1/corpora/{corpus}/certificates", tags=["corpora"])


@router.get("", dependencies=[ADMIN], summary="List the certificates of what was removed from a corpus")
async def list_certificates(
    corpus: str, container: ContainerDep, limit: Limit = 50, cursor: str | None = None
) -> CertificateList:
    """By chain and number, also of deleted corpora that had this name."""
    place = decode_cursor(cursor, "certificates", corpus, check=read_place)
    page = await list_page(container, corpus, limit=limit, after=place)
    data = tuple(fill(Certificate, certificate) for certificate in page.certificates)
    return CertificateList(data=data, next_cursor=encode_cursor(page.last, "certificates", corpus))
