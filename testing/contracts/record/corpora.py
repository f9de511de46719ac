"""The contract of the record about creating, naming, renaming and dropping corpora, and keeping them apart."""

import pytest

from core.corpora import Corpus
from core.errors import Conflict, InvalidInput, NotFound
from core.ports.record import Record
from testing.record import SETTINGS, RecordFixtures, delete, export, put

__all__ = ["CorporaContract"]


class CorporaContract(RecordFixtures):
    async def test_a_corpus_is_found_by_name_and_by_id(self, record: Record, corpus: Corpus) -> None:
        assert await record.corpora.get("books") == corpus
        assert await record.corpora.get_by_id(corpus.id) == corpus
        assert corpus.settings == SETTINGS
        assert corpus.generation == 0

    async def test_a_name_is_taken_once(self, record: Record, corpus: Corpus) -> None:
        with pytest.raises(Conflict, match="books"):
            await record.corpora.create("books", SETTINGS)

    @pytest.mark.parametrize("name", ["", "Books", "../etc", "a b", "-a", "a" * 64, "bücher"])
    async def test_a_bad_name_is_refused(self, record: Record, name: str) -> None:
        with pytest.raises(InvalidInput, match="not valid"):
            await record.corpora.create(name, SETTINGS)

    async def test_a_missing_corpus_is_named_with_those_there_are(self, record: Record, corpus: Corpus) -> None:
        with pytest.raises(NotFound, match=r"'nope'.*books"):
            await record.corpora.get("nope")

    async def test_rename_keeps_the_content(self, record: Record, corpus: Corpus) -> None:
        await put(record, corpus, "a", [("one", ["Ada"])])
        renamed = await record.corpora.rename("books", "library")
        assert renamed.id == corpus.id
        assert (await record.corpora.count(renamed.id)).chunks == 1
        with pytest.raises(NotFound):
            await record.corpora.get("books")

    async def test_corpora_do_not_see_each_other(self, record: Record, corpus: Corpus) -> None:
        twin = await record.corpora.create("twin", SETTINGS)
        for target in (corpus, twin):
            await put(record, target, "a", [("one", ["Ada"])])
        assert await export(record, corpus) == await export(record, twin), "equal documents have equal ids"
        await delete(record, twin, "a")
        assert (await record.corpora.count(corpus.id)).entities == 1
        assert (await record.corpora.count(twin.id)).entities == 0
