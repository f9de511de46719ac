"""The contract of loaders: the modules of `indexer.loaders`, or others of the same form.

The module of a loader has an `EXAMPLE` of a file that it reads.
"""

import json
from itertools import pairwise
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import LoadFailed
from core.ports.indexing import LoadedDocument, Loader, Source
from core.strategies import StrategyConfig

__all__ = ["LoaderContract", "source_of"]


def source_of(content: bytes, *, key: str = "folder/the file.ext", title: str | None = None) -> Source:
    return Source(key=key, content=content, media_type="", title=title, metadata={})


class LoaderContract:
    """Subclasses give the fixtures `module` (the loader's) and `loader`, of scope class or wider."""

    def test_it_names_what_it_reads(self, module: ModuleType) -> None:
        assert module.MEDIA_TYPES
        assert all(kind == kind.lower() and "/" in kind and ";" not in kind for kind in module.MEDIA_TYPES)
        assert module.SUFFIXES
        assert all(suffix.startswith(".") and suffix == suffix.lower() for suffix in module.SUFFIXES)
        assert issubclass(module.Config, StrategyConfig)
        assert (module.__doc__ or "").splitlines()[0].strip()

    def test_it_reads_its_sample(self, module: ModuleType, loader: Loader) -> None:
        document = loader.load(source_of(module.EXAMPLE))
        assert document.key == "folder/the file.ext"
        assert document.title
        assert any(block.text.strip() for block in document.blocks)
        assert loader.load(source_of(module.EXAMPLE)) == document

    def test_the_senders_title_comes_first(self, module: ModuleType, loader: Loader) -> None:
        assert loader.load(source_of(module.EXAMPLE, title="  The\nsender's ")).title == "The sender's"

    @given(content=st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "replace")))
    def test_any_bytes_are_read_or_refused(self, loader: Loader, content: bytes) -> None:
        try:
            document = loader.load(source_of(content))
        except LoadFailed as error:
            assert "the file.ext" in str(error)  # noqa: PT017 - either outcome is right
        else:
            _check(document)

    @pytest.mark.parametrize("cut", [1, 7, 20])
    def test_a_sample_that_breaks_off_is_read_or_refused(self, module: ModuleType, loader: Loader, cut: int) -> None:
        try:
            _check(loader.load(source_of(module.EXAMPLE[:-cut])))
        except LoadFailed as error:
            assert "the file.ext" in str(error)  # noqa: PT017 - either outcome is right


def _check(document: LoadedDocument) -> None:
    """Blocks that have a place come in order and do not overlap; everything can be kept as UTF-8."""
    placed = [block for block in document.blocks if block.start is not None]
    for one, following in pairwise(placed):
        assert (one.page or 0) <= (following.page or 0)
        assert one.page != following.page or (one.start or 0) + len(one.text) <= (following.start or 0)
    for block in placed if document.pages else ():
        page = document.pages[(block.page or 1) - 1]
        assert page[block.start : (block.start or 0) + len(block.text)] == block.text
    assert document.malformed >= 0
    json.dumps(dict(document.metadata), ensure_ascii=False, allow_nan=False).encode()
    for text in (document.title, *(block.text for block in document.blocks)):
        text.encode()
