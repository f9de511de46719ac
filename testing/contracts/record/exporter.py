"""The contract of the record about the rows of an export."""

from core.corpora import Corpus
from core.ports.record import Record
from testing.graph_rows import told
from testing.record import SETTINGS, RecordFixtures, delete, export, put

__all__ = ["ExporterContract"]


class ExporterContract(RecordFixtures):
    async def test_content_equals_that_of_the_survivors_alone(self, record: Record, corpus: Corpus) -> None:
        clean = await record.corpora.create("clean", SETTINGS)
        a = [("one", ["Ada", "ADA"]), ("two", ["Bob"])]
        b = [("three", ["ada", "Cyd"])]
        for target in (corpus, clean):
            await put(record, target, "b", b, facts=[("Cyd", "met", "ada")])
        await put(record, corpus, "a", a, facts=[("Ada", "met", "Bob")])
        await put(record, corpus, "a", [("zero", ["Bob"]), *a])
        await put(record, corpus, "c", a)
        await delete(record, corpus, "c")
        await delete(record, corpus, "a")
        assert await export(record, corpus) == await export(record, clean)
        graph, expected = await record.graph.graph(corpus.id), await record.graph.graph(clean.id)
        assert told(graph[1]) == told(expected[1])

    async def test_deleting_removes_every_row(self, record: Record, corpus: Corpus) -> None:
        await put(record, corpus, "a", [("one", ["Ada", "Bob"])], facts=[("Ada", "met", "Bob")])
        await put(record, corpus, "b", [("two", ["Bob"])])
        await delete(record, corpus, "a")
        rows = await export(record, corpus)
        assert {r["name"] for r in rows if r["kind"] == "entity"} == {"bob"}
        assert not [r for r in rows if r["kind"] == "fact"]
        assert (await record.jobs.list())[0].counts == {"deleted": 1}
