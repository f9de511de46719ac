"""The tool `list_certificates`: what was removed from a corpus, with the signed lines that prove it."""

import json

from pydantic import Field

from api.mcp.tool import CorpusName, Hints, Tool, ToolCall, choose_corpus
from api.schemas.base import In, Out, Text
from app.services.certificates import list_page
from core.keys import Scope
from core.ports.record import Certificate

_SHARED = "contents"
"""What a certificate finds and calls shared: originals that another document has, too."""

_MOST_CHARACTERS = 100_000
"""Lines of a reply, which a model reads; a certificate of many documents has 250,000."""


class CertificatesArguments(In):
    corpus: CorpusName = ""
    limit: int = Field(
        default=10, ge=1, le=50, description="The largest number of certificates. Long ones make the list shorter."
    )
    after: Text | None = Field(
        default=None, max_length=200, description="`next` of the list before, for the certificates that follow it."
    )


class CertificateOut(Out):
    chain: str
    number: int = Field(description="Its place in the chain, from 1.")
    kind: str = Field(description="`documents` deleted or replaced, `answers` withdrawn, a `corpus`, or a `sweep`.")
    certified_at: str
    documents: int = Field(description="How many documents it is about.")
    passages: int = Field(description="How many passages were removed.")
    still_there: int = Field(description="How many removed things were found afterwards; 0 is what a proof needs.")
    line: str = Field(description="The certificate with its signature, a line of a file for `hopweave verify`.")


class CertificatesResult(Out):
    certificates: list[CertificateOut] = Field(description="By chain and number, the oldest first.")
    next: str | None = Field(description="Give it as `after` for the certificates that follow; null at the end.")


async def _list(call: ToolCall, given: CertificatesArguments) -> CertificatesResult:
    corpus = await choose_corpus(call, given.corpus)
    page = await list_page(call.container, corpus, limit=given.limit, after=given.after, characters=_MOST_CHARACTERS)
    return CertificatesResult(certificates=[_show(certificate) for certificate in page.certificates], next=page.last)


def _show(certificate: Certificate) -> CertificateOut:
    body = json.loads(certificate.line)["certificate"]
    return CertificateOut(
        chain=certificate.chain,
        number=certificate.number,
        kind=body["kind"],
        certified_at=body["certified_at"],
        documents=len(body["documents"]),
        passages=body["removed"]["passages"],
        still_there=sum(number for kind, number in body["found"].items() if kind != _SHARED),
        line=certificate.line,
    )


LIST_CERTIFICATES = Tool(
    name="list_certificates",
    title="List certificates of deletions",
    description="Lists the signed certificates of what was removed from a corpus: how much, when, and whether anything "
    "of it was found afterwards. Documents are named by keyed hashes alone.",
    arguments=CertificatesArguments,
    result=CertificatesResult,
    hints=Hints(read_only=True),
    scope=Scope.ADMIN,
    run=_list,
)
