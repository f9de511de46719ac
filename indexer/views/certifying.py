"""Certificates of what was removed: a worker looks into the views and files for it, and signs what it found.

`certify` is called after each commit that deleted something, and before a worker begins, for what other workers left.
`core.record_policy.certificates` has the form of a certificate.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, TypeAlias

from core.errors import NotFound
from core.ports.record import Certificate, Removal, RemovalKind, RemovedDocument, Tombstone
from core.ports.views import VectorKind
from core.record_policy.certificates import HashKey, Secret, digest_line, sign
from indexer.backends import IndexingBackends
from indexer.views.repair import ViewDeleter

UNKNOWN = (
    "backups, and copies of the data folder or of the servers' disks",
    "exports, and what was read, copied or answered before",
    "what the endpoints of models and other services keep",
    "logs, and free space that the disk has not overwritten",
    "cached answers of models, which are not used any more and are deleted by the next process that uses the cache",
    "answers that were stored in words of their own, of documents that were replaced",
)
"""What no certificate can know."""

Counts: TypeAlias = dict[str, int]
Describe: TypeAlias = Callable[[HashKey], Mapping[str, Any]]


async def certify(backends: IndexingBackends, corpus_id: str | None = None) -> None:
    """Makes the certificates of what was removed from a corpus, or from all. Several workers may do so at once."""
    while removals := await backends.record.certificates.list_removals(corpus_id):
        for removal in removals:
            await _certify(backends, removal)


async def _certify(backends: IndexingBackends, removal: Removal) -> None:
    listed = await backends.record.tombstones.select_orphans(removal.listed)
    checked, found = await _check(backends, removal, listed)
    if any(found[kind] for kind in found if kind != "contents"):  # its worker has not deleted them yet, or has died
        await _delete(backends, removal, listed)
        checked, found = await _check(backends, removal, listed)
    names = await _read_names(backends, removal)
    removed = {
        "passages": sum(document.passages for document in removal.documents),
        "entities": len(listed.entity_ids),
        "facts": len(listed.triple_ids),
        "answers": removal.answers,
    }

    def describe(hashes: HashKey) -> Mapping[str, Any]:
        return {
            "kind": removal.kind.value,
            "removed_at": _moment(removal.removed_at),
            "documents": [_describe(document, hashes, names) for document in removal.documents],
            "removed": removed,
            "checked": checked,
            "found": found,
        }

    await append_certificate(backends, removal.corpus_id, removal.corpus, describe, removal)


async def append_certificate(
    backends: IndexingBackends, corpus_id: str, corpus: str, describe: Describe, removal: Removal | None = None
) -> Certificate:
    """Signs what `describe` says with the key of the chain's HMACs, and appends it to the chain of the corpus."""
    secret = await read_secret(backends)
    while True:
        last = await backends.record.certificates.get_last(corpus_id)
        chain, number = (corpus_id, 1) if last is None else (last.chain, last.number + 1)
        body = {
            **describe(secret.hash_key(chain)),
            "corpus": corpus,
            "certified_at": _moment(datetime.now(UTC).timestamp()),
            "unknown": list(UNKNOWN),
        }
        previous = "" if last is None else digest_line(last.line)
        line = sign(secret, body, chain=chain, number=number, previous=previous)
        certificate = Certificate(chain=chain, number=number, corpus=corpus, line=line)
        if await backends.record.certificates.append(corpus_id, certificate, removal):
            return certificate


async def read_secret(backends: IndexingBackends) -> Secret:
    """Returns the secret of certificates, which the first process makes."""
    return Secret(await backends.certificate_secret.make())


async def _check(backends: IndexingBackends, removal: Removal, listed: Tombstone) -> tuple[Counts, Counts]:
    """Returns how many of the removed things were looked for, and how many are still there, by kind.

    `contents` are originals that the record names: another document has the same bytes, or they were submitted again.
    """
    id = removal.corpus_id
    if removal.kind is RemovalKind.CORPUS:
        return await _check_corpus(backends, removal)
    contents = tuple(sorted({hash for document in removal.documents for hash in document.contents}))
    named = Tombstone(id=0, corpus_id=id, content_hashes=contents)
    gone = (await backends.record.tombstones.select_orphans(named)).content_hashes
    kinds = {
        VectorKind.CHUNK: listed.view_ids,
        VectorKind.ENTITY: listed.entity_ids,
        VectorKind.FACT: listed.triple_ids,
    }
    vectors = sum([len(ids) - len(await backends.vectors.missing(id, kind, ids)) for kind, ids in kinds.items() if ids])
    texts = len(listed.view_ids) - len(await backends.text.missing(id, listed.view_ids)) if listed.view_ids else 0
    checked = {
        "contents": len(contents),
        "originals": len(gone),
        "text_entries": len(listed.view_ids),
        "vectors": sum(map(len, kinds.values())),
    }
    found = {
        "contents": len(contents) - len(gone),
        "originals": sum([await _has_original(backends, id, name) for name in gone]),
        "text_entries": texts,
        "vectors": vectors,
    }
    return checked, found


async def _check_corpus(backends: IndexingBackends, removal: Removal) -> tuple[Counts, Counts]:
    """The views and files are asked for anything of the corpus."""
    id = removal.corpus_id
    contents = {hash for document in removal.documents for hash in document.contents}
    checked = {"contents": len(contents), "originals": len(contents), "text_entries": 0, "vectors": 0}
    found = {
        "contents": 0,  # `list_removals` leaves the removal out while the record has rows of the corpus
        "originals": len(await backends.files.names(id)),
        "text_entries": await backends.text.count(id),
        "vectors": sum([await backends.vectors.count(id, kind) for kind in VectorKind]),
    }
    return checked, found


async def _has_original(backends: IndexingBackends, corpus_id: str, name: str) -> bool:
    try:
        await backends.files.get(corpus_id, name)
    except NotFound:
        return False
    return True


async def _delete(backends: IndexingBackends, removal: Removal, listed: Tombstone) -> None:
    try:
        corpus = await backends.record.corpora.get_by_id(removal.corpus_id)
    except NotFound:
        return  # with the corpus, its entries were deleted
    contents = tuple({hash for document in removal.documents for hash in document.contents})
    all_listed = replace(listed, content_hashes=contents)
    await ViewDeleter(corpus, backends.for_corpus(corpus)).delete([all_listed])


async def _read_names(backends: IndexingBackends, removal: Removal) -> Mapping[str, str]:
    """Returns the names of the keys whose holders asked for it, as far as the keys are still there."""
    if not any(document.by for document in removal.documents):
        return {}
    return {key.id: key.name for key in await backends.record.keys.list()}


def _describe(document: RemovedDocument, hashes: HashKey, names: Mapping[str, str]) -> Mapping[str, Any]:
    return {
        "document": hashes.hash_document(document.key),
        "contents": sorted(map(hashes.hash_content, document.contents)),
        "replaced": document.is_replaced,
        "passages": document.passages,
        "job": document.job,
        "by": f"key {document.by} ({names.get(document.by, 'deleted')})" if document.by else "operator",
    }


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
