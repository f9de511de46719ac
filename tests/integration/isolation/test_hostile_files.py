"""Files made to take time or memory are read within bounds that grow with their size."""

import pytest

from core.ports.indexing import Source
from indexer.isolation.limits import MEGABYTE, ParserLimits
from indexer.isolation.parser_process import IsolatedLoader, ParserProcess
from indexer.selection.loaders import media_type_of, module_of
from tests.hostile_files import HOSTILE_FILES

_LIMITS = ParserLimits(seconds=120.0, memory=768 * MEGABYTE)
"""Each file takes a few seconds of the processor; without its bound, several times as much as this."""


@pytest.mark.parametrize("name", HOSTILE_FILES)
def test_a_hostile_file_is_read_within_bounds(name: str) -> None:
    media_type = media_type_of(name)
    module = module_of(media_type)
    process = ParserProcess(_LIMITS)
    loader = IsolatedLoader(module=module.__name__, config=module.Config(), process=process)
    source = Source(key=name, content=HOSTILE_FILES[name](), media_type=media_type, title=None, metadata={})
    try:
        loaded = loader.load(source)
    finally:
        process.close()
    assert any("needle" in block.text for block in loaded.blocks), "its text is there"
