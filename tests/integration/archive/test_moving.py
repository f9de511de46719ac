"""A corpus exported from one installation and ingested into another is the same, and no model is asked."""

import asyncio
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from app.archive import is_archive, writing
from app.services.ingestion import submit
from core.corpora import Fine
from core.documents import OnConflict, Submission
from core.errors import Conflict, EmbeddingMismatch, InvalidInput, InvalidStrategy, LoadFailed
from core.ids import document_id, entity_id
from core.jobs import JobKind, JobState
from core.ports.views import VectorKind
from indexer.loaders import epub
from tests.integration.archive.conftest import MakeHouse
from tests.integration.archive.house import PEOPLE, House, change_lines, line_of, lines_of, sealed
from tests.openie import chat_models, openie
from tests.twins.chat_server import ChatServer


async def test_what_is_moved_is_the_same_and_nothing_is_embedded(here: House, there: House, file: Path) -> None:
    result = await there.take_in(file)
    assert there.embedder.embedded == 0
    assert (result.documents, result.unchanged, result.embedded) == (len(PEOPLE), 0, 0)
    assert await there.state("people") == await here.state("people")
    [job] = await there.container.record.jobs.list()
    assert (job.kind, job.state, job.counts) == (JobKind.RESTORE, JobState.DONE, {"indexed": len(PEOPLE)})


async def test_the_file_is_rows_in_order_with_their_counts(file: Path) -> None:
    rows = lines_of(file)
    assert is_archive(file)
    assert rows[0]["kind"] == "corpus"
    assert rows[0]["settings"]["embedding_model"] == "twin"
    kinds = list(dict.fromkeys(row["kind"] for row in rows))
    assert kinds == [
        *("corpus", "document", "chunk", "entity", "mention", "fact", "synonym"),
        *("extraction", "vector", "original", "end"),
    ]
    counts = rows[-1]["counts"]
    assert counts == {kind: sum(row["kind"] == kind for row in rows) for kind in kinds[1:-1]}


async def test_merges_of_entities_are_moved(here: House, there: House, tmp_path: Path) -> None:
    corpus = await here.named("people")
    merge = await here.container.record.merges.merge(corpus.id, entity_id("london"), entity_id("charles babbage"))
    file = tmp_path / "merged.jsonl"
    await here.export("people", file)
    assert [row["from_name"] for row in lines_of(file) if row["kind"] == "merge"] == ["london"]
    await there.take_in(file)
    assert await there.state("people") == await here.state("people")
    taken = await there.named("people")
    (moved,) = await there.container.record.merges.list(taken.id)
    assert replace(moved, merged_at=merge.merged_at) == merge
    await there.container.record.merges.undo(taken.id, merge.id)
    other = entity_id("ada lovelace")
    await there.container.record.merges.merge(taken.id, merge.from_id, other)
    result = await there.take_in(file)
    (note,) = result.notes
    assert note.endswith("contradict those of the corpus were left out (1): 'london' into 'charles babbage'")
    assert [one.into_id for one in await there.container.record.merges.list(taken.id)] == [other]


async def test_rejected_pairs_and_the_threshold_are_moved(here: House, there: House, tmp_path: Path) -> None:
    corpus = await here.named("people")
    kept = here.container.record.resolution
    rejected = await kept.reject(corpus.id, entity_id("london"), entity_id("ada lovelace"))
    await kept.set_threshold(corpus.id, 0.9)
    await here.container.record.graph_schemas.set(corpus.id, "[types.engine]")
    file = tmp_path / "decided.jsonl"
    await here.export("people", file)
    await there.take_in(file)
    assert await there.state("people") == await here.state("people")
    taken = await there.named("people")
    resolution = there.container.record.resolution
    (moved,) = await resolution.list(taken.id)
    assert replace(moved, rejected_at=rejected.rejected_at) == rejected
    assert await resolution.get_threshold(taken.id) == 0.9
    schemas = there.container.record.graph_schemas
    assert await schemas.get(taken.id) == "[types.engine]"
    await resolution.set_threshold(taken.id, 0.95)
    await schemas.set(taken.id, "[types.machine]")
    assert (await there.take_in(file)).notes == [
        "the threshold 0.9 for merging entities was left out: the corpus keeps its own",
        "the schema of the graph was left out: the corpus keeps its own",
    ]
    assert await schemas.get(taken.id) == "[types.machine]"
    assert await resolution.get_threshold(taken.id) == 0.95


async def test_a_corpus_with_documents_of_its_own_takes_no_threshold(here: House, there: House, tmp_path: Path) -> None:
    corpus, file = await here.named("people"), tmp_path / "decided.jsonl"
    await here.export("people", file)
    await there.take_in(file)
    there_corpus = await there.named("people")
    await there.ingest(there_corpus, {"key": "own", "text": "Ines Corvo wrote."})
    await here.container.record.resolution.set_threshold(corpus.id, 0.9)
    await here.export("people", file)
    (note,) = (await there.take_in(file)).notes
    assert note.startswith("the threshold 0.9")
    assert await there.container.record.resolution.get_threshold(there_corpus.id) is None


_DECISIONS: list[tuple[str, dict[str, object] | None, str]] = [
    ("rejection", {"first_id": "f" * 32}, "this rejection's two entities are not in order"),
    ("threshold", {"merge_above": 0.2}, "in this threshold row `merge_above` is wrong"),
    ("schema", {"text": "x = 1"}, "in this schema row `text` is wrong"),
    *((kind, None, f"this {kind} is in the file twice") for kind in ("rejection", "threshold", "schema")),
]


async def test_decisions_that_cannot_be_are_refused(here: House, there: House, tmp_path: Path) -> None:
    corpus, file = await here.named("people"), tmp_path / "decided.jsonl"
    await here.container.record.resolution.reject(corpus.id, entity_id("london"), entity_id("ada lovelace"))
    await here.container.record.resolution.set_threshold(corpus.id, 0.9)
    await here.container.record.graph_schemas.set(corpus.id, "[types.engine]")
    whole = (await here.export("people")).splitlines(keepends=True)
    rows = [json.loads(line) for line in whole]
    for kind, change, reason in _DECISIONS:
        at = [row["kind"] for row in rows].index(kind)
        broken = [whole[at]] * 2 if change is None else [line_of({**rows[at], **change})]
        await asyncio.to_thread(file.write_bytes, b"".join(sealed([*whole[:at], *broken, *whole[at + 1 :]])))
        with pytest.raises(LoadFailed, match=reason):
            await there.take_in(file)


async def test_twice_is_once(there: House, file: Path) -> None:
    await there.take_in(file)
    before = await there.state("people")
    generation = (await there.named("people")).generation
    again = await there.take_in(file)
    assert (again.documents, again.unchanged) == (0, len(PEOPLE))
    assert await there.state("people") == before
    assert (await there.named("people")).generation == generation


async def test_what_was_moved_can_be_moved_on(there: House, make_house: MakeHouse, file: Path) -> None:
    await there.take_in(file)
    onward = file.with_name("onward.jsonl")
    await there.export("people", onward)
    third = make_house("third")
    await third.take_in(onward)
    assert await third.state("people") == await there.state("people")


async def test_a_worker_goes_on_where_the_file_ended(here: House, there: House, file: Path) -> None:
    await there.take_in(file)
    replaced = {**PEOPLE[0], "text": "Ada Lovelace wrote the first program. She was born in London."}
    for house in (here, there):
        corpus = await house.named("people")
        await house.ingest(corpus, replaced, {"key": "new", "text": "Alan Turing knew Ada Lovelace by her notes."})
        await house.delete(corpus, "notes/babbage", "chapters")
    assert await there.export("people", canonical=True) == await here.export("people", canonical=True)
    for house in (here, there):
        corpus = await house.named("people")
        assert len(await house.container.files.names(corpus.id)) == len(PEOPLE) - 1


async def test_into_a_corpus_with_other_documents(here: House, there: House, file: Path) -> None:
    corpus = await there.corpus()
    own = {"key": "own", "text": "Ada  Lovelance met Charles Babage.", "triples": [["Ada Lovelance", "met", "Charles"]]}
    older = {"key": "ada", "text": "An older text."}
    await there.ingest(corpus, own, older)
    result = await there.take_in(file)
    assert result.documents == len(PEOPLE)
    await here.ingest(await here.named("people"), own)
    mine, theirs = await here.state("people"), await there.state("people")
    assert theirs["canonical"] == mine["canonical"]
    pairs = [
        {(row["first_id"], row["second_id"]) for row in state["rows"] if row["kind"] == "synonym"}
        for state in (mine, theirs)
    ]
    assert pairs[0] == pairs[1], "also between what was there and what came"
    assert pairs[0]


async def test_vectors_that_are_missing_are_made_again(here: House, there: House, tmp_path: Path) -> None:
    corpus = await here.named("people")
    lost = {}
    before = await here.state("people")
    for kind in VectorKind:
        ids = sorted(await here.container.vectors.ids(corpus.id, kind))
        lost[kind] = ids[: len(ids) // 2]
        assert lost[kind]
        await here.container.vectors.delete(corpus.id, kind, lost[kind])
    path = tmp_path / "people.jsonl"
    await here.export("people", path)
    result = await there.take_in(path)
    assert there.embedder.embedded == result.embedded == sum(map(len, lost.values()))
    assert result.notes == [f"{result.embedded:,} vectors are not in the file and were made again"]
    assert await there.state("people") == before


async def test_another_embedding_model_matters_only_where_vectors_are_made(
    here: House, make_house: MakeHouse, file: Path, tmp_path: Path
) -> None:
    other = make_house("other", model="another")
    result = await other.take_in(file)
    assert "'another' is configured" in result.notes[0]
    assert await other.export("people", canonical=True) == await here.export("people", canonical=True)
    corpus = await here.named("people")
    [first, *_] = await here.container.vectors.ids(corpus.id, VectorKind.CHUNK)
    await here.container.vectors.delete(corpus.id, VectorKind.CHUNK, [first])
    path = tmp_path / "lacking.jsonl"
    await here.export("people", path)
    with pytest.raises(EmbeddingMismatch, match="HOPWEAVE_EMBEDDING__MODEL to 'twin'"):
        await other.take_in(path, "second")
    assert await other.names() == ["people"]


async def test_an_original_that_is_gone_is_told_and_the_rest_moves(here: House, there: House, tmp_path: Path) -> None:
    corpus = await here.named("people")
    [name, *_] = await here.container.files.names(corpus.id)
    await here.container.files.delete(corpus.id, [name])
    path = tmp_path / "people.jsonl"
    await here.export("people", path)
    assert (await there.take_in(path)).missing_originals == 1
    assert await there.export("people", canonical=True) == await here.export("people", canonical=True)


async def test_a_large_original_moves_in_parts(
    here: House, there: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "_PART_BYTES", 50)
    path = tmp_path / "people.jsonl"
    await here.export("people", path)
    parts = [row for row in lines_of(path) if row["kind"] == "original"]
    assert max(row["parts"] for row in parts) > 3
    await there.take_in(path)
    assert (await there.state("people"))["originals"] == (await here.state("people"))["originals"]


async def test_an_empty_corpus_moves(there: House, make_house: MakeHouse, tmp_path: Path) -> None:
    house = make_house("empty")
    corpus = await house.corpus()
    path = tmp_path / "people.jsonl"
    await house.export("people", path)
    await there.take_in(path)
    assert (await there.named("people")).settings == corpus.settings


async def test_settings_must_agree(there: House, file: Path) -> None:
    with pytest.raises(Conflict, match=r"extractor pattern\+given, not pattern"):
        await there.take_in(file, extractor="pattern")
    await there.take_in(file, "asked", extractor="pattern+given", chunker=None)
    await there.corpus(extractor="pattern", fine=Fine.OFF)
    with pytest.raises(Conflict, match=r"has the extractor pattern, and .*people.jsonl was written"):
        await there.take_in(file)
    with pytest.raises(InvalidInput, match="corpus name"):
        await there.take_in(file, "No Name")


async def test_an_unknown_extractor_is_refused(there: House, file: Path) -> None:
    change_lines(file, lambda lines: sealed([lines[0].replace(b"pattern+given", b"elsewhere"), *lines[1:]]))
    with pytest.raises(InvalidStrategy, match="elsewhere"):
        await there.take_in(file)
    assert await there.names() == []


class TestWithAModel:
    """A corpus whose facts a language model extracted."""

    @pytest.fixture
    def server(self) -> Iterator[ChatServer]:
        with ChatServer(respond=openie) as server:
            yield server

    async def test_extractions_move_and_are_never_paid_again(
        self, make_house: MakeHouse, server: ChatServer, tmp_path: Path
    ) -> None:
        async with chat_models(server) as models:
            here, there = make_house("paying", models=models), make_house("moving", models=models)
            corpus = await here.corpus(extractor="llm", fine=Fine.AUTO)
            await here.ingest(corpus, *PEOPLE[:2])
            paid = len(server.calls)
            assert paid == 2
            path = tmp_path / "people.jsonl"
            await here.export("people", path)
            await there.take_in(path)
            assert await there.state("people") == await here.state("people")
            moved = await there.named("people")
            await there.ingest(moved, {**PEOPLE[0], "metadata": {"year": 1844}})
            assert (await there.container.record.documents.get(moved.id, document_id("ada"))).metadata == {"year": 1844}
            assert len(server.calls) == paid, "replaced with equal passages: their extractions were found"


async def test_metadata_of_the_content_move_beside_those_of_the_sender(
    here: House, there: House, make_house: MakeHouse, tmp_path: Path
) -> None:
    corpus = await here.corpus("books")
    book = Submission(key="a.epub", content=epub.EXAMPLE, media_type=epub.MEDIA_TYPES[0], metadata={"language": "fr"})
    await submit(here.container, corpus, [book], OnConflict.REPLACE)
    await here.worker.work(corpus.id)
    path = tmp_path / "books.jsonl"
    await here.export("books", path)
    [row] = [row for row in lines_of(path) if row["kind"] == "document"]
    assert (row["metadata"], row["given_metadata"]) == ({"author": "Ada", "language": "fr"}, {"language": "fr"})
    await there.take_in(path, "books")
    assert await there.state("books") == await here.state("books")
    again = await submit(there.container, await there.named("books"), [book], OnConflict.REPLACE)
    assert again.job.counts == {"unchanged": 1}
    change_lines(path, lambda lines: sealed([_with_metadata(line, {"language": "de"}) for line in lines]))
    third = make_house("third")
    with pytest.raises(LoadFailed, match="the metadata of this document are not those of its submission"):
        await third.take_in(path, "books")


def _with_metadata(line: bytes, metadata: object) -> bytes:
    row = json.loads(line)
    return line_of({**row, "metadata": metadata}) if row["kind"] == "document" else line


async def test_disabled_documents_stay_so(here: House, there: House, file: Path, tmp_path: Path) -> None:
    ada, corpus = document_id("ada"), await here.named("people")
    await here.container.record.submissions.set_enabled(corpus.id, [ada], enabled=False)
    other = tmp_path / "other.jsonl"
    await here.export("people", other)
    await there.take_in(other)
    assert await there.state("people") == await here.state("people")
    moved = await there.named("people")
    assert not (await there.container.record.documents.get(moved.id, ada)).enabled
    # A file tells also of unchanged documents whether they are enabled.
    await there.take_in(file)
    assert (await there.container.record.documents.get(moved.id, ada)).enabled
    await there.take_in(other)
    assert not (await there.container.record.documents.get(moved.id, ada)).enabled
    backup = tmp_path / "all.backup"
    await here.back_up(backup)
    await there.restore(backup, "people", name="restored")
    restored = await there.named("restored")
    assert not (await there.container.record.documents.get(restored.id, ada)).enabled
