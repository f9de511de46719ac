"""Certificates of deletions: their lines, and the keys of a corpus' chain."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

from app.container import Container
from core.errors import NotFound
from core.ports.record import Certificate
from core.record_policy.certificates import HashKey, Secret

__all__ = ["ChainKeys", "list_all", "read_keys"]

_PAGE = 1000


@dataclass(frozen=True, kw_only=True)
class ChainKeys:
    """The public key of signatures, and the key of the HMACs of one chain."""

    chain: str
    public_key: str
    hash_key: HashKey


async def list_all(container: Container, corpus: str) -> AsyncIterator[Certificate]:
    """Yields the certificates of the corpora that have this name or id, or had the name and are deleted, by chain and
    number.
    """
    after: tuple[str, int] | None = None
    while page := await container.record.certificates.list(corpus, limit=_PAGE, after=after):
        for certificate in page:
            yield certificate
        after = page[-1].chain, page[-1].number


async def read_keys(container: Container, corpus: str) -> list[ChainKeys]:
    """Returns the keys of each chain of a corpus. Raises `NotFound` if it has no certificates."""
    chains = sorted({certificate.chain async for certificate in list_all(container, corpus)})
    if not chains:
        raise NotFound(f"there is no certificate of a corpus {corpus!r}: nothing was deleted or replaced in it")
    secret = Secret(await container.certificate_secret.make())
    return [ChainKeys(chain=chain, public_key=secret.public_key(), hash_key=secret.hash_key(chain)) for chain in chains]
