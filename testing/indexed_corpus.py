"""A corpus that is indexed by hand, passage by passage, for tests of searchers and of what asks them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from core import ids
from core.corpora import Corpus, Fine
from core.documents import Chunk, OnConflict
from core.graph import Fact, Mention, Synonym
from core.passage_context.row_labels import find_row_labels
from core.ports.embedding import Embedder
from core.ports.record import ChunkRow, Claim, Commit, NewRevision, Record
from core.ports.record.commits import Outcome
from core.ports.retrieval import Query
from core.ports.views import TextEntry, TextIndex, VectorBatch, VectorKind, VectorStore
from core.text.name_spans import find_names
from core.text.names import normalise
from core.text.terms import extract_terms

__all__ = ["IndexedCorpus", "Passage"]


@dataclass(frozen=True, kw_only=True)
class Passage:
    """A document of one chunk; names are found by pattern, `names` and `triples` come on top."""

    key: str
    title: str
    text: str
    names: tuple[str, ...] = ()
    triples: tuple[tuple[str, str, str], ...] = ()

    @property
    def embedded(self) -> str:
        return f"{self.title}\n{self.text}"


@dataclass(kw_only=True)
class IndexedCorpus:
    """A corpus with its record and views, which documents can be put into and removed from, as the indexer does.

    Where the corpus has `fine=Fine.ON`, its entities and facts have vectors. With `asserting`, each passage states a
    fact about its title and every name in its text.
    """

    record: Record
    vectors: VectorStore
    text: TextIndex
    embedder: Embedder
    corpus: Corpus
    asserting: bool = False

    async def put(
        self,
        passages: Sequence[Passage],
        synonyms: Sequence[tuple[str, str, float]] = (),
        *,
        keep_views: bool = True,
    ) -> int:
        """Index the passages in one commit, and (if asked) delete from the views what they replace.

        Returns the generation.
        """
        passages = [_asserting(passage) for passage in passages] if self.asserting else passages
        await self.record.submissions.enqueue(self.corpus.id, [_revision(p) for p in passages], OnConflict.REPLACE)
        by_key = {passage.key: passage for passage in passages}
        claims = await self._claims(len(passages))
        commits = [_commit(claim, by_key[claim.key]) for claim in claims]
        vectors = await self.embedder.embed_passages([by_key[claim.key].embedded for claim in claims])
        view_ids = [commit.chunks[0].chunk.view_id for commit in commits]
        documents = [claim.document_id for claim in claims]
        batch = VectorBatch(ids=view_ids, documents=documents, vectors=vectors)
        await self.vectors.write(self.corpus.id, VectorKind.CHUNK, batch)
        entries = [
            TextEntry(id=view_id, document_id=claim.document_id, text=by_key[claim.key].embedded)
            for view_id, claim in zip(view_ids, claims, strict=True)
        ]
        await self.text.write(self.corpus.id, entries)
        if self.corpus.settings.fine is Fine.ON:
            await self._write_fine(commits)
        outcome = await self.record.commits.commit(commits, [_synonym(*one) for one in synonyms], grace=0.0)
        if not keep_views:
            await self._delete_entries(outcome)
        return outcome.generation

    async def remove(self, keys: Sequence[str], *, keep_views: bool = True) -> int:
        """Delete documents from the record, and (if asked) from the views; returns the generation."""
        documents = [ids.document_id(key) for key in keys]
        await self.record.submissions.delete_documents(self.corpus.id, documents)
        outcome = await self.record.commits.commit(
            [Commit(claim=claim) for claim in await self._claims(len(keys))], grace=0.0
        )
        if not keep_views:
            await self._delete_entries(outcome)
        return outcome.generation

    def query(self, text: str, **fields: Any) -> Query:
        return Query(corpus=self.corpus, text=text, **fields)

    async def _delete_entries(self, outcome: Outcome) -> None:
        if outcome.tombstone is not None:
            await self.vectors.delete(self.corpus.id, VectorKind.CHUNK, outcome.tombstone.view_ids)
            await self.text.delete(self.corpus.id, outcome.tombstone.view_ids)

    async def _write_fine(self, commits: Sequence[Commit]) -> None:
        names = {mention.entity_id: mention.name for commit in commits for mention in commit.mentions}
        facts = {
            fact.triple_id: f"{names[fact.subject_id]} {fact.predicate} {names[fact.object_id]}"
            for commit in commits
            for fact in commit.facts
        }
        for kind, texts in ((VectorKind.ENTITY, names), (VectorKind.FACT, facts)):
            if texts:
                vectors = await self.embedder.embed_passages(list(texts.values()))
                batch = VectorBatch(ids=list(texts), documents=[""] * len(texts), vectors=vectors)
                await self.vectors.write(self.corpus.id, kind, batch)

    async def _claims(self, count: int) -> list[Claim]:
        claims = await self.record.claims.claim(
            self.corpus.id, "test", lease_seconds=60, max_bytes=1 << 40, max_documents=count
        )
        assert len(claims) == count
        return claims


def _asserting(passage: Passage) -> Passage:
    stated = [(passage.title, "has to do with", name.form) for name in find_names(passage.text)]
    return replace(passage, triples=(*passage.triples, *stated))


def _revision(passage: Passage) -> NewRevision:
    content = repr(passage).encode()
    return NewRevision(
        key=passage.key,
        media_type="text/plain",
        content_hash=ids.content_hash(content),
        size=len(content),
        fingerprint=ids.content_hash(content),
        title=passage.title,
        metadata={},
    )


def _commit(claim: Claim, passage: Passage) -> Commit:
    chunk_id = ids.chunk_id(claim.key, passage.text, 0)
    view_id = ids.view_id(chunk_id, ids.embed_hash(passage.title, "", passage.text, "words"))
    chunk = Chunk(
        id=chunk_id,
        document_id=claim.document_id,
        view_id=view_id,
        position=0,
        text=passage.text,
        heading="",
        page=None,
        span=None,
    )
    named = [span.form for span in find_names(passage.text)]
    title = re.sub(r"\s*\([^()]*\)\s*$", "", passage.title)
    named += [title, *passage.names]
    named += [name for subject, _, object_ in passage.triples for name in (subject, object_)]
    forms = {(normalise(form), form) for form in named if normalise(form)}
    mentions = tuple(
        Mention(chunk_id=chunk_id, entity_id=ids.entity_id(name), name=name, form=form, count=1)
        for name, form in sorted(forms)
    )
    facts = {fact.id: fact for fact in (_fact(chunk_id, *triple) for triple in passage.triples)}
    row = ChunkRow(
        chunk=chunk,
        extract_hash=ids.digest("extract", [repr(passage)]),
        tokens=1,
        terms=extract_terms([passage.title], passage.text, find_row_labels(passage.text)).tobytes(),
        title_names=(ids.entity_id(normalise(title)),) if normalise(title) else (),
    )
    return Commit(claim=claim, title=passage.title, chunks=(row,), mentions=mentions, facts=tuple(facts.values()))


def _fact(chunk_id: str, subject: str, predicate: str, object_: str) -> Fact:
    subject_id, object_id = ids.entity_id(normalise(subject)), ids.entity_id(normalise(object_))
    triple = ids.triple_id(subject_id, predicate, object_id)
    return Fact(
        id=ids.assertion_id(triple, chunk_id),
        triple_id=triple,
        chunk_id=chunk_id,
        subject_id=subject_id,
        predicate=predicate,
        object_id=object_id,
    )


def _synonym(first: str, second: str, score: float) -> Synonym:
    low, high = sorted([ids.entity_id(normalise(first)), ids.entity_id(normalise(second))])
    return Synonym(first_id=low, second_id=high, score=score)
