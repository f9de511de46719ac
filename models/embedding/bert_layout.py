"""Recognizes folders that hold the common kind of sentence model: a BERT whose vectors have unit length.

A text's vector is the mean of its tokens' (MiniLM, e5), or its first token's (bge). The tokenizer is BERT's, or
XLM-RoBERTa's, as multilingual-e5 has it.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from models.embedding.tokens import read_max_tokens
from models.embedding.weights import read_json

_MODULES = (["Transformer", "Pooling"], ["Transformer", "Pooling", "Normalize"])


@dataclass(frozen=True, kw_only=True)
class BertLayout:
    """The sizes of a BERT; `reads` is the maximum number of tokens, special tokens included.

    `pooling` is what a text's vector is made of: the mean of its tokens, or its first token.
    """

    folder: Path
    dimension: int
    heads: int
    layers: int
    epsilon: float
    reads: int
    pooling: Literal["mean", "first"]


def read_layout(folder: Path) -> BertLayout | None:
    """Returns the layout, or None if the folder is not exactly of this kind; sentence-transformers loads it then."""
    config = _object(folder / "config.json")
    reads = read_max_tokens(folder)
    pooling = _read_pooling(folder)
    if not (
        (folder / "model.safetensors").is_file()
        and _is_plain_bert(config)
        and pooling is not None
        and _is_known_tokenizer(folder)
        and reads is not None
        and reads <= config["max_position_embeddings"]
    ):
        return None
    return BertLayout(
        folder=folder,
        dimension=config["hidden_size"],
        heads=config["num_attention_heads"],
        layers=config["num_hidden_layers"],
        epsilon=config["layer_norm_eps"],
        reads=reads,
        pooling=pooling,
    )


def _is_plain_bert(config: dict[str, Any]) -> bool:
    return (
        config.get("model_type") == "bert"
        and config.get("hidden_act") == "gelu"
        and config.get("position_embedding_type", "absolute") == "absolute"
        and not config.get("is_decoder")
        and all(key in config for key in ("max_position_embeddings", "layer_norm_eps"))
    )


def _read_pooling(folder: Path) -> Literal["mean", "first"] | None:
    modules = read_json(folder / "modules.json") or []
    if [module["type"].rsplit(".", 1)[-1] for module in modules] not in _MODULES or modules[0]["path"]:
        return None
    pooling = _object(folder / modules[1]["path"] / "config.json")
    own = _object(folder / "config_sentence_transformers.json")
    counts_prompts = pooling.get("include_prompt", True)  # else a prompt is read, and left out of the mean
    if counts_prompts is not True or own.get("truncate_dim") is not None:
        return None
    named = pooling.get("pooling_mode")
    modes = set([named] if isinstance(named, str) else named or ()) | {
        key.removeprefix("pooling_mode_").removesuffix("_tokens").removesuffix("_token")
        for key, on in pooling.items()
        if key.startswith("pooling_mode_") and on
    }
    return "mean" if modes == {"mean"} else "first" if modes == {"cls"} else None


def _is_known_tokenizer(folder: Path) -> bool:
    """Returns whether `tokenizer.json` is of a known class, and agrees with the settings beside it."""
    tokenizer, settings = _object(folder / "tokenizer.json"), _object(folder / "tokenizer_config.json")
    if _object(folder / "sentence_bert_config.json").get("do_lower_case"):
        return False
    kind, named = (tokenizer.get("model") or {}).get("type"), settings.get("tokenizer_class")
    if kind == "Unigram":
        return named in {"XLMRobertaTokenizer", "XLMRobertaTokenizerFast"}
    normalizer = tokenizer.get("normalizer") or {}
    return (
        kind == "WordPiece"
        and named in {"BertTokenizer", "BertTokenizerFast"}
        and normalizer.get("lowercase") == settings.get("do_lower_case", True)
    )


def _object(file: Path) -> dict[str, Any]:
    content = read_json(file)
    return content if isinstance(content, dict) else {}
