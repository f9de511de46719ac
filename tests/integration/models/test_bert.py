"""The encoder in OpenVINO, against torch and sentence-transformers with the same weights."""

import json
import shutil
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.errors import InvalidSettings
from core.ports.embedding import Vectors
from models.embedding.bert import BertEncoder
from models.embedding.bert_layout import BertLayout, read_layout
from models.embedding.weights import BUILT_IN, Weights, resolve
from tests.benchmarks.torch_bert import TorchBertEncoder

TEXTS = [
    "a",
    "",
    "Who founded the company that built the bridge of Kyiv?",
    "Journal of Mathematical Physics\nIt became a monthly publication in 1963 (impact factor: 1.355).",
    "北京是中华人民共和国的首都。",
    "القاهرة عاصمة مصر",
    "Кто написал «Войну и мир»?",
    "👩‍👩‍👧 e\u0301 [MASK] [SEP] naïve",
    "a passage of a length at which nothing is cut yet, about rivers and towns " * 7,
    "one that is cut " * 200,
]
NEAR = 0.01
"""The most by which any number of a vector, or the vector's cosine, may differ from the torch path's."""


@pytest.fixture(scope="module")
def weights() -> Weights:
    return resolve(BUILT_IN)


@pytest.fixture(scope="module")
def layout(weights: Weights) -> BertLayout:
    return _layout(weights)


@pytest.fixture(scope="module")
def expected(layout: BertLayout) -> Vectors:
    return _embed_elsewhere(layout.folder)


def _embed_elsewhere(folder: Path) -> Vectors:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what the libraries say of one another at import is not ours to judge
        from sentence_transformers import SentenceTransformer

        model: Any = SentenceTransformer(str(folder), device="cpu")
        vectors: Vectors = model.encode(TEXTS, show_progress_bar=False)
    return vectors


def _layout(weights: Weights) -> BertLayout:
    assert weights.folder is not None
    layout = read_layout(weights.folder)
    assert layout is not None
    return layout


def _encoder(weights: Weights, *, bfloat16: bool = False) -> BertEncoder:
    return BertEncoder(_layout(weights), weights, bfloat16=bfloat16, threads=2)


@pytest.mark.parametrize(("bfloat16", "least"), [(False, 0.999999), (True, 0.9995)])
def test_it_equals_sentence_transformers(weights: Weights, expected: Vectors, bfloat16: bool, least: float):
    encoder = _encoder(weights, bfloat16=bfloat16)
    together = encoder.encode(TEXTS, queries=False)
    alone = np.concatenate([encoder.encode([text], queries=True) for text in TEXTS])
    assert (together * expected).sum(axis=1).min() > least
    assert (alone * expected).sum(axis=1).min() > least


def test_it_equals_sentence_transformers_where_a_text_is_its_first_token(weights: Weights, tmp_path: Path):
    assert weights.folder is not None
    folder = Path(shutil.copytree(weights.folder, tmp_path / "first"))
    pooling = folder / "1_Pooling" / "config.json"
    modes = {"pooling_mode_mean_tokens": False, "pooling_mode_cls_token": True}
    pooling.write_text(json.dumps(json.loads(pooling.read_text()) | modes))
    vectors = _encoder(resolve(str(folder))).encode(TEXTS, queries=False)
    assert (vectors * _embed_elsewhere(folder)).sum(axis=1).min() > 0.999999
    assert (vectors * _encoder(weights).encode(TEXTS, queries=False)).sum(axis=1).max() < 0.99  # not the mean


@pytest.mark.parametrize("bfloat16", [False, True])
def test_corpora_of_the_torch_path_can_be_searched(weights: Weights, layout: BertLayout, bfloat16: bool):
    before = TorchBertEncoder(layout, bfloat16=bfloat16).encode(TEXTS, queries=False)
    now = _encoder(weights, bfloat16=bfloat16).encode(TEXTS, queries=False)
    assert np.abs(before - now).max() < NEAR
    assert (before * now).sum(axis=1).min() > 1 - NEAR


def test_threads_do_not_mix_their_batches(weights: Weights):
    encoder = _encoder(weights)
    batches = [TEXTS[start : start + 3] for start in range(8)]
    alone = [encoder.encode(batch, queries=False) for batch in batches]
    with ThreadPoolExecutor(4) as threads:
        together = list(threads.map(lambda batch: encoder.encode(batch, queries=False), batches * 3))
    for one, other in zip(alone * 3, together, strict=True):
        assert (one * other).sum(axis=1).min() > 0.999999


@pytest.mark.parametrize("type", ["bfloat16", "float16"])
def test_another_folder_of_the_same_layout_goes_the_same_way(weights: Weights, tmp_path: Path, type: str):
    """Of half the size, and with the prefix that some tools write."""
    import torch
    from safetensors.torch import load_file, save_file

    assert weights.folder is not None
    shutil.copytree(weights.folder, tmp_path / "mine")
    file = tmp_path / "mine" / "model.safetensors"
    save_file({f"bert.{name}": matrix.to(getattr(torch, type)) for name, matrix in load_file(file).items()}, file)
    mine = resolve(str(tmp_path / "mine"))
    vectors = _encoder(mine).encode(TEXTS, queries=False)
    assert (vectors * _encoder(weights).encode(TEXTS, queries=False)).sum(axis=1).min() > 0.9995


def test_no_telemetry_is_loaded(weights: Weights):
    _encoder(weights).encode(TEXTS[:1], queries=True)
    assert "openvino" in sys.modules
    assert [name for name in sys.modules if name.startswith(("openvino_telemetry", "openvino.tools.ovc"))] == []


def test_weights_that_are_none_are_an_error_that_names_the_file(layout: BertLayout, tmp_path: Path):
    for name in ("tokenizer.json", "config.json"):
        (tmp_path / name).write_bytes((layout.folder / name).read_bytes())
    (tmp_path / "model.safetensors").write_bytes(b"no weights")
    with pytest.raises(InvalidSettings, match=r"model\.safetensors cannot be read as a BERT's weights"):
        BertEncoder(replace(layout, folder=tmp_path), resolve(str(tmp_path)), bfloat16=False, threads=1)


@pytest.mark.parametrize("wrong", [{"layers": 7}, {"dimension": 300}])
def test_weights_of_other_sizes_than_the_configuration_are_named(
    layout: BertLayout, weights: Weights, wrong: dict[str, int]
):
    with pytest.raises(InvalidSettings, match=r"model\.safetensors does not fit its config\.json"):
        BertEncoder(replace(layout, **wrong), weights, bfloat16=False, threads=1).encode(["a text"], queries=True)
