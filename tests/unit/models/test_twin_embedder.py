import pytest

from core.ports.embedding import Embedder
from tests.contracts.embedder import EmbedderContract
from tests.twins.embedder import TwinEmbedder


class TestTwinEmbedder(EmbedderContract):
    @pytest.fixture
    def embedder(self) -> Embedder:
        return TwinEmbedder()
