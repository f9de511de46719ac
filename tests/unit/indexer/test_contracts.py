"""Every loader, chunker and extractor that is there keeps its contract."""

from types import ModuleType

import pytest

from core import strategies
from core.ports.indexing import Chunker, Extractor, Loader
from core.strategies import StrategySpec
from indexer.extraction import make_extractor
from tests.contracts.chunker import ChunkerContract
from tests.contracts.extractor import ExtractorContract
from tests.contracts.loader import LoaderContract

_WITHOUT_MODEL = ["given", "pattern"]


class TestLoaders(LoaderContract):
    @pytest.fixture(scope="class", params=strategies.list_names("indexer.loaders"))
    @classmethod
    def name(cls, request: pytest.FixtureRequest) -> str:
        name: str = request.param
        return name

    @pytest.fixture(scope="class")
    @classmethod
    def module(cls, name: str) -> ModuleType:
        return strategies.load_module("indexer.loaders", name, "loader")

    @pytest.fixture(scope="class")
    @classmethod
    def loader(cls, module: ModuleType) -> Loader:
        loader: Loader = module.build(module.Config(), None)
        return loader


class TestChunkers(ChunkerContract):
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
    described = strategies.describe("indexer.extractors", "extractor")
    assert {one["name"] for one in described if not one["needs_model"]} == set(_WITHOUT_MODEL)


@pytest.mark.parametrize("kind", ["loader", "chunker", "extractor"])
def test_each_describes_itself_in_a_line(kind: str) -> None:
    described = strategies.describe(f"indexer.{kind}s", kind)
    assert described
    assert all(one["description"] for one in described)


def test_no_media_type_or_suffix_has_two_loaders() -> None:
    modules = [strategies.load_module("indexer.loaders", n, "loader") for n in strategies.list_names("indexer.loaders")]
    claimed = [name for module in modules for name in (*module.MEDIA_TYPES, *module.SUFFIXES)]
    assert len(claimed) == len(set(claimed))
