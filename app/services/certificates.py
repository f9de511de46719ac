"""Certificates of deletions: their lines, and the keys of a corpus' chain."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from app.container import Container
from core.errors import InvalidInput, NotFound
from core.ports.record import Certificate
from core.record_policy.certificates import HashKey, Secret

_PAGE = 1000
_DIGITS = 16
"""Numbers of certificates have fewer digits."""


@dataclass(frozen=True, kw_only=True)
class CertificatePage:
    """Some certificates, by chain and number. `last` is the place of the last one if there are more, else None."""

    certificates: Sequence[Certificate]
    last: str | None


@dataclass(frozen=True, kw_only=True)
class ChainKeys:
    """The public key of signatures, and the key of the HMACs of one chain."""

    chain: str
    public_key: str
    hash_key: HashKey


async def list_page(
    container: Container, corpus: str, *, limit: int, after: str | None = None, characters: int | None = None
) -> CertificatePage:
    """Returns at most `limit` certificates behind the place `after`, of the corpora that `list_all` names. Their lines
    have at most so many `characters` together; a longer certificate is a page alone.

    Raises `NotFound` if there never was such a corpus, and `InvalidInput` for another place than pages have.
    """
    try:
        place = None if after is None else read_place(after)
    except ValueError as error:
        raise InvalidInput(
            f"{str(error)[:80]!r} is no place in this list; give the one that the list returned"
        ) from error
    found = await container.record.certificates.list(corpus, limit=limit + 1, after=place)
    if not found:
        await container.record.corpora.get(corpus)
    page = found[: limit if characters is None else min(limit, _count_fitting(found, characters))]
    last = f"{page[-1].chain}:{page[-1].number}" if len(found) > len(page) else None
    return CertificatePage(certificates=page, last=last)


def _count_fitting(certificates: Sequence[Certificate], characters: int) -> int:
    """Returns how many of the first certificates have lines of so many characters together: one at least."""
    totals = accumulate(len(certificate.line) for certificate in certificates)
    return max(1, sum(total <= characters for total in totals))


def read_place(place: str) -> tuple[str, int]:
    """Returns the chain and the number of `CertificatePage.last`. Raises `ValueError` for another text."""
    chain, _, number = place.rpartition(":")
    if not (number.isascii() and number.isdecimal() and 0 < len(number) < _DIGITS and int(number) > 0):
        raise ValueError(place)
    return chain, int(number)


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
