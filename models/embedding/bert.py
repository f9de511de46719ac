"""BERT sentence models in OpenVINO.

Gives the same vectors as `SentenceTransformer.encode`, which takes six seconds and 250 MB to import, and twice the time
for each text.
"""

import hashlib
import json
import threading
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from core.errors import InvalidSettings
from core.ports.embedding import Vectors
from models.embedding.bert_graph import GRAPH_VERSION, build_graph, read_weights
from models.embedding.bert_layout import BertLayout
from models.embedding.graph_cache import import_openvino, open_graph
from models.embedding.normalize import normalize
from models.embedding.tokens import open_tokenizer
from models.embedding.weights import Weights

if TYPE_CHECKING:
    from openvino import Model
    from tokenizers import Tokenizer

__all__ = ["BertEncoder"]


class BertEncoder:
    """Encodes texts of similar length together. Thread-safe: each calling thread has a request of its own.

    Passages and questions are compiled separately, when the first of them is encoded. OpenVINO runs each on threads of
    its own, which have the priority of the thread that compiled, so that questions never wait for a batch of passages.
    """

    def __init__(self, layout: BertLayout, weights: Weights, *, bfloat16: bool, threads: int) -> None:
        self._layout = layout
        self._tokenizer, _ = self.tokenizer()
        self._tokenizer.enable_truncation(layout.reads)
        self._tokenizer.no_padding()
        graph = open_graph(_key(layout, weights, bfloat16), lambda: _build(layout, weights), half=bfloat16)
        self._passages = _Compiled(graph, threads, bfloat16=bfloat16)
        self._questions = _Compiled(graph, min(threads, _MOST_FOR_QUESTIONS), bfloat16=bfloat16)

    @property
    def dimension(self) -> int:
        return self._layout.dimension

    def tokenizer(self) -> "tuple[Tokenizer, int]":
        tokenizer = open_tokenizer(self._layout.folder)
        if tokenizer is None:
            raise InvalidSettings(f"embedding.model: {self._layout.folder} has lost its tokenizer.json: restore it")
        return tokenizer, self._layout.reads

    def encode(self, texts: Sequence[str], *, queries: bool, prefix: str = "") -> Vectors:
        """Encodes queries like passages, only on other threads and behind another prefix."""
        compiled = self._questions if queries else self._passages
        ids = [encoding.ids for encoding in self._tokenizer.encode_batch_fast([prefix + text for text in texts])]
        vectors = np.empty((len(ids), self.dimension), dtype=np.float32)
        for rows in _groups([len(text) for text in ids]):
            vectors[rows] = compiled.run([ids[row] for row in rows])
        return normalize(vectors)


_MOST_FOR_QUESTIONS = 4
"""Threads for questions: a compilation for each takes time at the start, and each encodes hundreds in a second."""


class _Compiled:
    """The graph, compiled when it is first run."""

    def __init__(self, graph: "Model", threads: int, *, bfloat16: bool) -> None:
        self._graph = graph
        self._options = {
            "INFERENCE_PRECISION_HINT": "bf16" if bfloat16 else "f32",
            "INFERENCE_NUM_THREADS": threads,
            "NUM_STREAMS": threads,  # one thread for each batch: they do not wait for each other after each matrix
            "ENABLE_CPU_PINNING": False,  # other processes use the same cores
        }
        self._compiling = threading.Lock()
        self._compiled: Any = None
        self._local = threading.local()

    def run(self, ids: Sequence[Sequence[int]]) -> Vectors:
        """Returns a vector for each text, from its token ids."""
        padded: NDArray[np.int32] = np.zeros((len(ids), _padded(max(map(len, ids)))), np.int32)
        for row, text in enumerate(ids):
            padded[row, : len(text)] = text
        lengths = np.array([[len(text)] for text in ids], np.int32)
        vectors: Vectors = self._request().infer([padded, lengths])[0]
        return vectors

    def _request(self) -> Any:
        if not hasattr(self._local, "request"):
            with self._compiling:
                if self._compiled is None:
                    self._compiled = import_openvino().Core().compile_model(self._graph, "CPU", self._options)
            self._local.request = self._compiled.create_infer_request()
        return self._local.request


_TOKENS_AT_ONCE = 1024
"""Tokens of one run, padding included: as many as stay in a core's cache. More are slower and take more memory."""


def _groups(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Yields the rows to run together, longest first: at least one, and at most `_TOKENS_AT_ONCE` tokens."""
    group: list[int] = []
    for row in sorted(range(len(lengths)), key=lambda row: -lengths[row]):
        if group and (len(group) + 1) * _padded(lengths[group[0]]) > _TOKENS_AT_ONCE:
            yield group
            group = []
        group.append(row)
    if group:
        yield group


def _padded(tokens: int) -> int:
    """Rounds up the length of a text. Kernels are compiled and kept per length, so few lengths save memory."""
    step = 8 if tokens <= 64 else 16
    return -(-tokens // step) * step


def _build(layout: BertLayout, weights: Weights) -> "Model":
    weights.verify()
    try:
        return build_graph(layout, read_weights(layout))
    except (KeyError, RuntimeError) as error:  # a matrix is missing; OpenVINO says that sizes do not fit
        file = layout.folder / "model.safetensors"
        raise InvalidSettings(f"embedding.model: {file} does not fit its config.json: {error}") from error


def _key(layout: BertLayout, weights: Weights, bfloat16: bool) -> str:
    """Names the graph by all that it is made from."""
    version = import_openvino().__version__
    sizes = {name: value for name, value in asdict(layout).items() if name != "folder"}
    parts = [GRAPH_VERSION, version, weights.digest, "16" if bfloat16 else "32", sizes]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]
