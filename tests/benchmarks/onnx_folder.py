"""Writes a BERT that a Java archive of langchain4j has in ONNX as a folder of sentence-transformers, in float16.

`python -m tests.benchmarks.onnx_folder ARCHIVE FOLDER`. Maven Central has `bge-small-en-v15` and `e5-small-v2` in such
archives: sentence models of twelve layers for English.
"""

import argparse
import json
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tests.benchmarks.e5_folder import write_configs

if TYPE_CHECKING:
    from openvino import Node

__all__ = ["write_folder"]

_FORMS = {
    "bge": ("cls", {"query": "Represent this sentence for searching relevant passages: "}),
    "e5-": ("mean", {"query": "query: ", "document": "passage: "}),
}
"""Pooling and prompts by the first letters of a file's name, as their authors have them."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.onnx_folder")
    parser.add_argument("archive", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument(
        "--reads", type=int, default=512, help="tokens of a text, special ones included; the rest is cut"
    )
    given = parser.parse_args()
    with zipfile.ZipFile(given.archive) as archive:
        (model,) = (name for name in archive.namelist() if name.endswith(".onnx"))
        (tokenizer,) = (name for name in archive.namelist() if name.endswith("-tokenizer.json"))
        pooling, prompts = _FORMS[model[:3]]
        given.folder.mkdir(parents=True, exist_ok=True)
        sizes = write_folder(archive.read(model), given.folder)
        pieces = json.loads(archive.read(tokenizer)) | {"truncation": None, "padding": None}
    (given.folder / "tokenizer.json").write_text(json.dumps(pieces), encoding="utf-8")
    reads = {"tokenizer_class": "BertTokenizer", "do_lower_case": True, "model_max_length": given.reads}
    write_configs(given.folder, config=sizes, tokenizer=reads, pooling=pooling, prompts=prompts)
    return 0


def write_folder(model: bytes, folder: Path) -> dict[str, Any]:
    """Writes the weights, and returns the sizes of the BERT, all of whose variants here have twelve heads."""
    from openvino import Core
    from safetensors.numpy import save_file

    tensors = dict(_read_tensors(Core().read_model(model).get_ordered_ops()))
    save_file({name: matrix.astype(np.float16) for name, matrix in tensors.items()}, str(folder / "model.safetensors"))
    words, width = tensors["embeddings.word_embeddings.weight"].shape
    return {
        "model_type": "bert",
        "architectures": ["BertModel"],
        "hidden_act": "gelu",
        "hidden_size": width,
        "num_hidden_layers": len({name.split(".")[2] for name in tensors if name.startswith("encoder.layer.")}),
        "num_attention_heads": 12,
        "intermediate_size": tensors["encoder.layer.0.intermediate.dense.bias"].size,
        "vocab_size": words,
        "max_position_embeddings": len(tensors["embeddings.position_embeddings.weight"]),
        "type_vocab_size": len(tensors["embeddings.token_type_embeddings.weight"]),
        "layer_norm_eps": 1e-12,
    }


def _read_tensors(operations: "list[Node]") -> Iterator[tuple[str, NDArray[np.float32]]]:
    """Yields matrices by their names in a BERT. The export names the product of a matrix instead of the matrix."""
    for operation in operations:
        name = operation.get_friendly_name()
        if operation.get_type_name() == "Constant" and name.startswith(("embeddings.", "encoder.")):
            yield name, np.squeeze(_read(operation))
        elif operation.get_type_name() == "MatMul":
            factor = operation.input_value(1).get_node()
            if factor.get_type_name() == "Constant":
                matrix = _read(factor)
                turned = operation.get_attributes()["transpose_b"]
                path = name.strip("/").removesuffix("/MatMul").replace("/", ".")
                yield f"{path}.weight", np.ascontiguousarray(matrix if turned else matrix.T)


def _read(constant: Any) -> NDArray[np.float32]:
    return np.array(constant.data)


if __name__ == "__main__":
    sys.exit(main())
