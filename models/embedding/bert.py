"""BERT sentence models in OpenVINO.

First comes the graph of a model: texts padded to one length in, unit vectors out. Graphs are kept on disk: reading one
takes half of the time and of the memory of building it from weights. `import_openvino` imports OpenVINO without its
converter of other formats.
"""

import hashlib
import json
import logging
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from core.errors import InvalidSettings
from core.ports.embedding import Vectors
from models.embedding.bert_layout import BertLayout
from models.embedding.normalize import normalize
from models.embedding.tokens import open_tokenizer
from models.embedding.weights import Weights

if TYPE_CHECKING:
    from openvino import Model
    from tokenizers import Tokenizer


def read_weights(layout: BertLayout) -> dict[str, Vectors]:
    """Returns the matrices by name, without the prefix that some files have. Raises `InvalidSettings`."""
    from safetensors import SafetensorError, deserialize

    file = layout.folder / "model.safetensors"
    try:
        tensors: list[tuple[str, dict[str, Any]]] = deserialize(file.read_bytes())  # type: ignore[no-untyped-call]
        return {name.removeprefix("bert."): _read(tensor) for name, tensor in tensors}
    except (SafetensorError, OSError, KeyError) as error:
        raise InvalidSettings(f"embedding.model: {file} cannot be read as a BERT's weights: {error}") from error


_TYPES = {"F64": np.float64, "F32": np.float32, "F16": np.float16, "I64": np.int64}  # int64 are position ids, unused


def _read(tensor: dict[str, Any]) -> Vectors:
    if tensor["dtype"] == "BF16":  # numpy has no such type: it is the upper half of a float32
        numbers = (np.frombuffer(tensor["data"], np.uint16).astype(np.uint32) << 16).view(np.float32)
    else:
        numbers = np.frombuffer(tensor["data"], _TYPES[tensor["dtype"]]).astype(np.float32, copy=False)
    matrix: Vectors = numbers.reshape(tensor["shape"])
    return matrix


_GRAPH_VERSION = 1
"""Raised when `_build_graph` changes, so that graphs that were kept by an earlier release are not used."""

_HIDDEN = -1e4
"""What is added to the attention scores of padding: after softmax, nothing is left of them in any precision."""


def _build_graph(layout: BertLayout, weights: Mapping[str, Vectors]) -> "Model":
    """Inputs: token ids (texts, tokens), and the number of tokens of each text (texts, 1), both int32."""
    openvino = import_openvino()
    op = openvino.opset13
    ids = op.parameter([-1, -1], np.int32, name="ids")
    lengths = op.parameter([-1, 1], np.int32, name="lengths")
    net = _Net(op=op, layout=layout, weights=weights)
    width = op.gather(op.shape_of(ids, "i32"), net.number(1), net.number(0))
    places = op.range(net.number(0), width, net.number(1), "i32")
    real = op.less(op.unsqueeze(places, net.number(0)), lengths)
    bias = op.unsqueeze(op.select(real, net.scalar(0), net.scalar(_HIDDEN)), net.numbers(1, 2))
    hidden = net.embed(ids, places)
    for number in range(layout.layers):
        hidden = net.layer(hidden, bias, f"encoder.layer.{number}")
    return openvino.Model([op.result(net.pool(hidden, real, lengths))], [ids, lengths], "bert")


@dataclass(frozen=True, kw_only=True)
class _Net:
    """The parts of the graph. `op` is OpenVINO's module of operations; nodes of the graph have no public type."""

    op: Any
    layout: BertLayout
    weights: Mapping[str, Vectors]

    def embed(self, ids: Any, places: Any) -> Any:
        words = self._constant("embeddings.word_embeddings.weight")
        # Every token has token type 0.
        positions = self.op.constant(
            self.weights["embeddings.position_embeddings.weight"]
            + self.weights["embeddings.token_type_embeddings.weight"][0]
        )
        gathered = (self.op.gather(table, rows, self.number(0)) for table, rows in ((words, ids), (positions, places)))
        return self._normed(self.op.add(*gathered), "embeddings.LayerNorm")

    def layer(self, hidden: Any, bias: Any, name: str) -> Any:
        mixed = self._linear(self._attention(hidden, bias, f"{name}.attention.self"), f"{name}.attention.output.dense")
        hidden = self._normed(self.op.add(mixed, hidden), f"{name}.attention.output.LayerNorm")
        inner = self.op.gelu(self._linear(hidden, f"{name}.intermediate.dense"), "erf")
        outer = self._linear(inner, f"{name}.output.dense")
        return self._normed(self.op.add(outer, hidden), f"{name}.output.LayerNorm")

    def pool(self, hidden: Any, real: Any, lengths: Any) -> Any:
        """Returns the mean over the tokens of each text, or its first token, scaled to length one."""
        if self.layout.pooling == "first":
            first = self.op.gather(hidden, self.number(0), self.number(1))
            return self.op.normalize_l2(first, self.numbers(1), 1e-12, "max")
        kept = self.op.multiply(hidden, self.op.unsqueeze(self.op.convert(real, "f32"), self.number(2)))
        total = self.op.reduce_sum(kept, self.number(1), keep_dims=False)
        mean = self.op.divide(total, self.op.convert(lengths, "f32"))
        return self.op.normalize_l2(mean, self.numbers(1), 1e-12, "max")

    def _attention(self, hidden: Any, bias: Any, name: str) -> Any:
        heads = self.layout.heads
        split = self.numbers(0, 0, heads, self.layout.dimension // heads)  # 0 keeps a dimension
        swap = self.numbers(0, 2, 1, 3)
        query, key, value = (
            self.op.transpose(self.op.reshape(self._linear(hidden, f"{name}.{part}"), split, True), swap)
            for part in ("query", "key", "value")
        )
        mixed = self.op.scaled_dot_product_attention(query, key, value, bias)
        return self.op.reshape(self.op.transpose(mixed, swap), self.numbers(0, 0, self.layout.dimension), True)

    def _linear(self, rows: Any, name: str) -> Any:
        product = self.op.matmul(rows, self._constant(f"{name}.weight"), False, True)
        return self.op.add(product, self._constant(f"{name}.bias"))

    def _normed(self, hidden: Any, name: str) -> Any:
        unit = self.op.mvn(hidden, self.numbers(-1), True, self.layout.epsilon, "inside_sqrt")
        scaled = self.op.multiply(unit, self._constant(f"{name}.weight"))
        return self.op.add(scaled, self._constant(f"{name}.bias"))

    def _constant(self, name: str) -> Any:
        return self.op.constant(self.weights[name])

    def number(self, value: int) -> Any:
        return self.op.constant(np.array(value, np.int32))

    def numbers(self, *values: int) -> Any:
        return self.op.constant(np.array(values, np.int32))

    def scalar(self, value: float) -> Any:
        return self.op.constant(np.array(value, np.float32))


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
        graph = _open_graph(_key(layout, weights, bfloat16), lambda: _build(layout, weights), half=bfloat16)
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
        return _build_graph(layout, read_weights(layout))
    except (KeyError, RuntimeError) as error:  # a matrix is missing; OpenVINO says that sizes do not fit
        file = layout.folder / "model.safetensors"
        raise InvalidSettings(f"embedding.model: {file} does not fit its config.json: {error}") from error


def _key(layout: BertLayout, weights: Weights, bfloat16: bool) -> str:
    """Names the graph by all that it is made from."""
    version = import_openvino().__version__
    sizes = {name: value for name, value in asdict(layout).items() if name != "folder"}
    parts = [_GRAPH_VERSION, version, weights.digest, "16" if bfloat16 else "32", sizes]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


_CONVERTER = "openvino.tools.ovc"


def import_openvino() -> ModuleType:
    """Returns the package. Its converter is not imported: it doubles the time, and loads a module for telemetry.

    OpenVINO goes on without a converter that cannot be imported. Code that needs the converter can import it later.
    """
    blocked = _CONVERTER not in sys.modules
    if blocked:
        sys.modules[_CONVERTER] = None  # type: ignore[assignment]  # how Python refuses the import of a module
    try:
        import openvino
        import openvino.opset13
    finally:
        if blocked:
            del sys.modules[_CONVERTER]
    module: ModuleType = openvino
    return module


_FILES = ("graph.bin", "graph.xml")
_SUMS = "SHA256SUMS"
_ABANDONED_SECONDS = 3600
_log = logging.getLogger("hopweave.models")


def _open_graph(key: str, build: "Callable[[], Model]", *, half: bool) -> "Model":
    """Returns the graph of `key` from the user's cache folder; a missing or damaged graph is built and kept.

    `half` keeps the weights in 16 bits. A graph that cannot be kept is used from memory: a full disk or a read-only
    folder costs time at each start and nothing else.
    """
    openvino = import_openvino()
    try:
        folder = _cache_folder() / key
        if not _is_whole(folder):
            _keep(build(), folder, half=half)
        graph: Model = openvino.Core().read_model(folder / "graph.xml")
    except (
        OSError,
        RuntimeError,
    ) as error:  # RuntimeError is OpenVINO's only error, and the error of a user without a home
        _log.warning("the embedding graph cannot be kept, and is built again at each start: %s", error)
        return build()
    return graph


def _cache_folder() -> Path:
    caches = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(caches).expanduser() / "hopweave" / "embedding"


def _is_whole(folder: Path) -> bool:
    """Whether the files are there and are as they were written."""
    try:
        return (folder / _SUMS).read_text("ascii") == _sums(folder)
    except (FileNotFoundError, UnicodeDecodeError):
        return False


def _sums(folder: Path) -> str:
    """The content of `SHA256SUMS`, in the form of the command sha256sum."""
    lines = []
    for name in _FILES:
        with (folder / name).open("rb") as file:
            lines.append(f"{hashlib.file_digest(file, 'sha256').hexdigest()}  {name}\n")
    return "".join(lines)


def _keep(graph: "Model", folder: Path, *, half: bool) -> None:
    """Writes the graph beside its place and renames it, so that other processes see it whole or not at all."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    _delete_abandoned(folder.parent)
    # Ignoring errors: after the rename there is nothing left to delete.
    with TemporaryDirectory(prefix=f".{folder.name}-", dir=folder.parent, ignore_cleanup_errors=True) as written:
        new = Path(written) / "new"
        new.mkdir()
        import_openvino().save_model(graph, new / "graph.xml", compress_to_fp16=half)
        (new / _SUMS).write_text(_sums(new), "ascii")
        if not _is_whole(folder):  # another process may have been faster
            _replace(folder, new, Path(written) / "old")


def _replace(folder: Path, new: Path, old: Path) -> None:
    if folder.exists():
        folder.rename(old)
    try:
        new.rename(folder)
    except OSError:
        if not _is_whole(folder):  # another process was faster still
            raise


def _delete_abandoned(caches: Path) -> None:
    """Deletes what processes were writing when they were killed."""
    for path in caches.glob(".*"):
        with suppress(FileNotFoundError):  # another process deletes it, too
            if time.time() - path.stat().st_mtime > _ABANDONED_SECONDS:
                shutil.rmtree(path)
