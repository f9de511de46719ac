import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from models.embedding.bert_layout import BertLayout, read_layout
from models.embedding.weights import BUILT_IN, resolve


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The built-in model's folder, with a file in place of its weights: none of them is read for the layout."""
    source = resolve(BUILT_IN).folder
    assert source is not None
    shutil.copytree(source, tmp_path / "m", ignore=shutil.ignore_patterns("*.safetensors", "vocab.txt", "data_config*"))
    (tmp_path / "m" / "model.safetensors").touch()
    return tmp_path / "m"


def change(file: Path, edit: Callable[[Any], Any]) -> None:
    content = json.loads(file.read_text())
    file.write_text(json.dumps(edit(content)))


def test_the_built_in_model_is_of_this_kind(folder: Path):
    assert read_layout(folder) == BertLayout(
        folder=folder, dimension=384, heads=12, layers=6, epsilon=1e-12, reads=256, pooling="mean"
    )


@pytest.mark.parametrize(
    ("file", "edit"),
    [
        ("config.json", lambda c: c | {"model_type": "roberta"}),
        ("config.json", lambda c: c | {"hidden_act": "gelu_new"}),
        ("config.json", lambda c: c | {"position_embedding_type": "relative_key"}),
        ("config.json", lambda c: c | {"is_decoder": True}),
        ("config.json", lambda c: c | {"max_position_embeddings": 128}),
        ("1_Pooling/config.json", lambda c: c | {"pooling_mode_cls_token": True}),
        ("1_Pooling/config.json", lambda c: c | {"pooling_mode_mean_tokens": False, "pooling_mode_max_tokens": True}),
        ("1_Pooling/config.json", lambda c: c | {"pooling_mode": "lasttoken", "pooling_mode_mean_tokens": False}),
        ("modules.json", lambda m: [*m[:2], m[2] | {"type": "sentence_transformers.models.Dense"}]),
        ("modules.json", lambda m: [m[0] | {"path": "0_Transformer"}, *m[1:]]),
        ("1_Pooling/config.json", lambda c: c | {"include_prompt": False}),
        ("config_sentence_transformers.json", lambda c: c | {"truncate_dim": 64}),
        ("tokenizer_config.json", lambda c: c | {"tokenizer_class": "RobertaTokenizer"}),
        ("tokenizer_config.json", lambda c: c | {"tokenizer_class": "XLMRobertaTokenizer"}),
        ("tokenizer.json", lambda c: c | {"model": {"type": "Unigram"}}),
        ("tokenizer_config.json", lambda c: c | {"do_lower_case": False}),
        ("sentence_bert_config.json", lambda c: c | {"do_lower_case": True}),
    ],
)
def test_what_differs_is_left_to_sentence_transformers(folder: Path, file: str, edit: Callable[[Any], Any]):
    change(folder / file, edit)
    assert read_layout(folder) is None


@pytest.mark.parametrize("file", ["model.safetensors", "tokenizer.json", "modules.json", "config.json"])
def test_a_folder_that_lacks_a_file_is_left_to_sentence_transformers(folder: Path, file: str):
    (folder / file).unlink()
    assert read_layout(folder) is None


@pytest.mark.parametrize(("mode", "pooling"), [("mean", "mean"), (["mean"], "mean"), ("cls", "first")])
def test_the_newer_way_to_name_the_pooling_is_known(folder: Path, mode: str | list[str], pooling: str):
    change(folder / "1_Pooling/config.json", lambda _: {"embedding_dimension": 384, "pooling_mode": mode})
    layout = read_layout(folder)
    assert layout is not None
    assert layout.pooling == pooling


def test_a_text_may_be_its_first_token(folder: Path):
    """As in bge and arctic-embed."""
    modes = {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}
    change(folder / "1_Pooling/config.json", lambda c: c | modes)
    layout = read_layout(folder)
    assert layout is not None
    assert layout.pooling == "first"


def test_the_tokenizer_of_xlm_roberta_and_prompts_are_known(folder: Path):
    """multilingual-e5-small is a BERT with it. Prompts are prefixes, and change nothing."""
    change(folder / "config_sentence_transformers.json", lambda c: c | {"prompts": {"query": "query: "}})
    assert read_layout(folder) is not None
    change(folder / "tokenizer.json", lambda c: c | {"model": {"type": "Unigram"}, "normalizer": None})
    change(folder / "tokenizer_config.json", lambda c: c | {"tokenizer_class": "XLMRobertaTokenizer"})
    assert read_layout(folder) is not None
