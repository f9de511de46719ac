"""A worker certifies what it deletes, and what a worker that died has deleted."""

import json
from typing import Any

from core.corpora import Corpus
from core.ids import content_hash, document_id
from core.keys import Scope, make_key
from core.ports.record import Commit
from core.ports.views import VectorKind
from core.record_policy.certificates import Secret, verify_lines
from indexer import submission_from_json
from testing.record import claim_all
from tests.desk import Desk

_SECRET = Secret(b"c" * 32)
_ADA = {"id": "ada", "text": "Ada Byron wrote notes. Charles Babbage read them."}
_BOB = {"id": "bob", "text": "Bob Dylan wrote songs. Ada Byron did not."}


async def _certificates(desk: Desk, corpus: Corpus) -> list[Any]:
    lines = [one.line for one in await desk.record.certificates.list(corpus.name)]
    [chain] = verify_lines(lines, keys=[_SECRET.public_key()])
    return list(chain.certificates)


async def test_a_deletion_is_certified_with_what_was_found_afterwards(desk: Desk) -> None:
    corpus = await desk.corpus()
    await desk.ingest(corpus, _ADA, _BOB)
    await desk.delete(corpus, "ada")
    [certificate] = await _certificates(desk, corpus)
    hashes = _SECRET.hash_key(corpus.id)
    [document] = certificate["documents"]
    content = submission_from_json({"key": "ada", "text": _ADA["text"]}).content
    assert document["document"] == hashes.hash_document("ada")
    assert document["contents"] == [hashes.hash_content(content_hash(content))]
    assert (document["replaced"], document["by"], certificate["corpus"]) == (False, "operator", "people")
    assert certificate["removed"]["passages"] == document["passages"] > 0
    assert certificate["removed"]["entities"] >= 1  # Charles Babbage
    assert certificate["checked"]["originals"] == 1
    assert certificate["checked"]["text_entries"] == document["passages"]
    assert set(certificate["found"].values()) == {0}
    assert "ada" not in json.dumps(certificate).lower()


async def test_a_replacement_and_the_key_that_deleted_are_certified_and_an_ingest_is_not(desk: Desk) -> None:
    corpus = await desk.corpus()
    await desk.ingest(corpus, _ADA)
    assert list(await desk.record.certificates.list("people")) == []
    await desk.ingest(corpus, {**_ADA, "text": "Grace Hopper wrote a compiler."})
    [certificate] = await _certificates(desk, corpus)
    assert certificate["documents"][0]["replaced"]
    key, _ = make_key("legal", [Scope.ADMIN])
    await desk.record.keys.create(key)
    await desk.record.for_key(key.id).submissions.delete_documents(corpus.id, [document_id("ada")])
    await desk.worker.work(corpus.id)
    _, certificate = await _certificates(desk, corpus)
    assert certificate["documents"][0]["by"] == f"key {key.id} (legal)"


async def test_the_next_worker_certifies_and_deletes_what_a_dead_one_left(desk: Desk) -> None:
    corpus = await desk.corpus()
    await desk.ingest(corpus, _ADA, _BOB)
    await desk.record.submissions.delete_documents(corpus.id, [document_id("ada")])
    claims = await claim_all(desk.record, corpus)
    await desk.record.commits.commit([Commit(claim=claim) for claim in claims], grace=3600)
    assert len(await desk.text.ids(corpus.id)) > len(await desk.record.contents.get_chunks_of(corpus.id, "bob"))
    await desk.worker.work(corpus.id)
    [certificate] = await _certificates(desk, corpus)
    assert certificate["checked"]["vectors"] > 0
    assert set(certificate["found"].values()) == {0}
    rows = await desk.record.contents.get_chunks_of(corpus.id, document_id("bob"))
    assert set(await desk.text.ids(corpus.id)) == {chunk.view_id for chunk in rows}


async def test_the_same_bytes_under_another_key_are_found_and_a_deleted_corpus_is_certified(desk: Desk) -> None:
    corpus = await desk.corpus()
    await desk.ingest(corpus, _ADA, _BOB, {**_ADA, "id": "twin"})
    await desk.delete(corpus, "ada")
    [first] = await _certificates(desk, corpus)
    assert (first["checked"]["contents"], first["found"]["contents"]) == (1, 1)
    assert first["checked"]["originals"] == 0
    await desk.record.corpora.delete("people")
    await desk.worker.work(corpus.id)
    _, second = await _certificates(desk, corpus)
    assert (first["kind"], second["kind"]) == ("documents", "corpus")
    hashes = _SECRET.hash_key(corpus.id)
    left = {hashes.hash_document(key) for key in ("bob", "twin")}
    assert {one["document"] for one in second["documents"]} == left
    assert set(second["found"].values()) == {0}
    assert await desk.vectors.count(corpus.id, VectorKind.CHUNK) == 0
