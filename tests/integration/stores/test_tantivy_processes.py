import asyncio
from pathlib import Path

from core.ids import new_id
from core.text.query import any_of
from stores.tantivy import TantivyTextIndex
from testing.contracts.text_index import entry, found
from tests.integration.stores.child_writer import BATCH, child_writer, ids_of


async def test_a_reader_sees_at_once_what_another_process_was_acknowledged(tmp_path: Path):
    reader, corpus = TantivyTextIndex(tmp_path), new_id()
    with child_writer("text", tmp_path, corpus) as child:
        for _ in range(10):
            number = await asyncio.to_thread(child.acknowledged)
            assert set(await found(reader, corpus, any_of((f"b{number}",)), 100)) == set(ids_of(number))


async def test_a_killed_writer_loses_nothing_that_was_acknowledged(tmp_path: Path):
    corpus, first = new_id(), 0
    for batches in (1, 4, 9):
        with child_writer("text", tmp_path, corpus, first) as child:
            for _ in range(batches):
                await asyncio.to_thread(child.acknowledged)
            rest = await asyncio.to_thread(child.kill)
            last = max([first + batches - 1, *rest])
        index = TantivyTextIndex(tmp_path)
        expected = {id for number in range(last + 1) for id in ids_of(number)}
        present = set(await index.ids(corpus))
        assert expected <= present
        # The batch in work is there whole or not at all.
        assert len(present) % BATCH == 0
        await index.write(corpus, [entry(id, f"again{last}") for id in ids_of(last + 1)])
        assert set(await found(index, corpus, any_of((f"again{last}",)), 100)) == set(ids_of(last + 1))
        first = last + 2
        await index.close()
