"""Every loader, chunker and extractor that is there keeps its contract."""

import importlib
from collections.abc import Sequence
from types import ModuleType

import pytest

from core import strategies
from core.ports.embedding import TokenCounter
from core.ports.indexing import Chunker, DraftChunk, Extractor, Loader
from core.strategies import StrategySpec
from indexer import embedded_texts
from indexer.selection.extractors import make_extractor
from testing.contracts.chunker import ChunkerContract
from testing.contracts.extractor import ExtractorContract
from testing.contracts.loader import LoaderContract


@pytest.fixture(scope="module", autouse=True)
def _spacy() -> None:
    """Imports spaCy before a test does: it imports torch, if that is installed, which asks a process for libraries."""
    importlib.import_module("spacy")


_EXTRACTORS = strategies.describe("indexer.extractors", "extractor")
_WITHOUT_MODEL = [one["name"] for one in _EXTRACTORS if not one["needs_model"]]


class TestLoaders(LoaderContract):
    @pytest.fixture(scope="class", params=strategies.list_names("indexer.loaders"))
    @classmethod
    def module(cls, request: pytest.FixtureRequest) -> ModuleType:
        return strategies.load_module("indexer.loaders", request.param, "loader")

    @pytest.fixture(scope="class")
    @classmethod
    def loader(cls, module: ModuleType) -> Loader:
        loader: Loader = module.build(module.Config(), None)
        return loader

    def test_binary_formats_are_isolated(self, module: ModuleType) -> None:
        try:
            module.EXAMPLE.decode()
        except UnicodeDecodeError:
            assert module.ISOLATED


class TestChunkers(ChunkerContract):
    def embedded_texts(self, title: str, chunks: Sequence[DraftChunk], tokens: TokenCounter) -> list[str]:
        return embedded_texts(title, chunks, tokens)

    @pytest.fixture(scope="class", params=strategies.list_names("indexer.chunkers"))
    @classmethod
    def chunker(cls, request: pytest.FixtureRequest) -> Chunker:
        chunker: Chunker = strategies.build("indexer.chunkers", StrategySpec(name=request.param), "chunker", None)
        return chunker


class TestExtractors(ExtractorContract):
    @pytest.fixture(params=[*_WITHOUT_MODEL, "pattern+given"])
    def extractor(self, request: pytest.FixtureRequest) -> Extractor:
        return make_extractor(request.param)


def test_the_extractors_without_a_model_are_all_there() -> None:
    assert {"given", "pattern"} <= set(_WITHOUT_MODEL)


@pytest.mark.parametrize("kind", ["loader", "chunker", "extractor"])
def test_each_describes_itself_in_a_line(kind: str) -> None:
    described = strategies.describe(f"indexer.{kind}s", kind)
    assert described
    assert all(one["description"] for one in described)


def test_no_media_type_or_suffix_has_two_loaders() -> None:
    modules = [strategies.load_module("indexer.loaders", n, "loader") for n in strategies.list_names("indexer.loaders")]
    claimed = [name for module in modules for name in (*module.MEDIA_TYPES, *module.SUFFIXES)]
    assert len(claimed) == len(set(claimed))
