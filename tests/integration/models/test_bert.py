"""The encoder without padding, against sentence-transformers with the same weights."""

import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.errors import InvalidSettings
from core.ports.embedding import Vectors
from models.embedding.bert import BertEncoder
from models.embedding.bert_layout import BertLayout, read_layout
from models.embedding.weights import BUILT_IN, resolve

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


@pytest.fixture(scope="module")
def layout() -> BertLayout:
    folder = resolve(BUILT_IN).folder
    assert folder is not None
    layout = read_layout(folder)
    assert layout is not None
    return layout


@pytest.fixture(scope="module")
def expected(layout: BertLayout) -> Vectors:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what the libraries say of one another at import is not ours to judge
        from sentence_transformers import SentenceTransformer

        model: Any = SentenceTransformer(str(layout.folder), device="cpu")
        vectors: Vectors = model.encode(TEXTS, show_progress_bar=False)
    return vectors


@pytest.mark.parametrize(("bfloat16", "least"), [(False, 0.999999), (True, 0.9995)])
def test_it_equals_sentence_transformers(layout: BertLayout, expected: Vectors, bfloat16: bool, least: float):
    encoder = BertEncoder(layout, bfloat16=bfloat16)
    together = encoder.encode(TEXTS, queries=False)
    alone = np.concatenate([encoder.encode([text], queries=True) for text in TEXTS])
    assert (together * expected).sum(axis=1).min() > least
    assert (alone * expected).sum(axis=1).min() > least


def test_threads_do_not_mix_their_batches(layout: BertLayout):
    encoder = BertEncoder(layout, bfloat16=False)
    batches = [TEXTS[start : start + 3] for start in range(8)]
    alone = [encoder.encode(batch, queries=False) for batch in batches]
    with ThreadPoolExecutor(4) as threads:
        together = list(threads.map(lambda batch: encoder.encode(batch, queries=False), batches * 3))
    for one, other in zip(alone * 3, together, strict=True):
        assert (one * other).sum(axis=1).min() > 0.999999


def test_weights_that_are_none_are_an_error_that_names_the_file(layout: BertLayout, tmp_path: Path):
    for name in ("tokenizer.json", "config.json"):
        (tmp_path / name).write_bytes((layout.folder / name).read_bytes())
    (tmp_path / "model.safetensors").write_bytes(b"no weights")
    broken = BertLayout(**{**vars(layout), "folder": tmp_path})
    with pytest.raises(InvalidSettings, match=r"model\.safetensors"):
        BertEncoder(broken, bfloat16=False)
