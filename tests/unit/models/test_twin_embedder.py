import pytest

from core.ports.embedding import Embedder
from testing.contracts.embedder import EmbedderContract
from tests.twins.embedder import TwinEmbedder


class TestTwinEmbedder(EmbedderContract):
    @pytest.fixture
    def embedder(self) -> Embedder:
        return TwinEmbedder()
