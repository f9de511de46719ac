"""What needs the extra `models` names it where it is missing."""

import json
import sys
from pathlib import Path
from typing import Literal

import pytest

from core.errors import InvalidSettings
from core.settings import EmbeddingSettings, RerankerSettings
from models import make_embedder
from models.embedding.weights import BUILT_IN
from models.rerankers.choice import make_reranker

_REMEDY = r'needs sentence-transformers, .*: pip install "hopweave\[models\]" \(or uv tool install'


@pytest.fixture(autouse=True)
def without(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("torch", "sentence_transformers"):
        monkeypatch.setitem(sys.modules, name, None)  # how Python blocks an import


def test_a_model_of_the_hub_and_a_folder_of_another_layout_need_it_and_the_built_in_model_does_not(
    tmp_path: Path,
) -> None:
    assert make_embedder(EmbeddingSettings()).model == BUILT_IN
    with pytest.raises(InvalidSettings, match="embedding.model 'nobody/has-this-model' " + _REMEDY):
        make_embedder(EmbeddingSettings(model="nobody/has-this-model"))
    (tmp_path / "model.safetensors").write_bytes(b"any")
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "xlm-roberta"}))
    with pytest.raises(InvalidSettings, match=_REMEDY):
        make_embedder(EmbeddingSettings(model=str(tmp_path)))


@pytest.mark.parametrize("kind", ["cross-encoder", "colbert"])
def test_a_reranker_in_this_process_needs_it(kind: Literal["cross-encoder", "colbert"]) -> None:
    with pytest.raises(InvalidSettings, match=f"reranker.kind '{kind}' " + _REMEDY):
        make_reranker(RerankerSettings(kind=kind, model="any/any"))
