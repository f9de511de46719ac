"""The embedding models of a process: the configured model, and the models that corpora name (`KIND:MODEL`).

`KIND:MODEL` may be followed by a form (`core.ports.embedding`). A corpus keeps the form that it was built with:
it is a part of the name of its model. Vectors of two forms are never mixed.

While a corpus is reindexed to another model, the old model embeds its questions and the new model the passages.
"""

import threading
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from core.corpora import NO_EMBEDDING, Corpus, CorpusSettings
from core.errors import EmbeddingMismatch, InvalidInput, InvalidSettings
from core.ports.embedding import Embedder, TokenCounter, Vectors
from core.ports.embedding_form import EmbeddingForm, split_form
from core.settings import EmbeddingSettings
from models import BUILT_IN, NoEmbedder

_KINDS = ("sentence-transformers", "openai")
_LOCAL = _KINDS[0]
_NONE = NoEmbedder()
_SHOWN = 200
"""Characters of a name that a file gave."""

Make = Callable[[EmbeddingSettings], Embedder]


class Embedders:
    """Makes models when they are first used. `settings.others` models stay in memory beside the configured model.

    The least recently used model is closed first, unless it is embedding. A closed model is made again when it is next
    used.
    """

    def __init__(self, settings: EmbeddingSettings, configured: Callable[[], Embedder], make: Make) -> None:
        self._settings = settings
        self._configured = configured
        self._pool = _Pool(settings, make)

    @property
    def configured_name(self) -> str:
        """The configured model as `KIND:MODEL`."""
        return f"{self._settings.kind}:{self._settings.model}"

    def of(self, corpus: Corpus) -> Embedder:
        """Returns the model that the corpus was built with.

        Raises `EmbeddingMismatch` if the model is not available here: the corpus does not name it, other weights have
        its name now, or it cannot be loaded.
        """
        found = self.find(corpus.settings)
        if found is None:
            raise EmbeddingMismatch(
                f"corpus {corpus.name!r} was built with the embedding model {corpus.settings.embedding_model!r}, and "
                f"{self._configured().model!r} is configured: set HOPWEAVE_EMBEDDING__MODEL and its prefixes back, "
                f"or build it anew with `hopweave corpora reindex {corpus.name}`"
            )
        return found

    def find(self, settings: CorpusSettings) -> Embedder | None:
        """Returns the model of a corpus with these settings; None if it is not available here."""
        if not settings.has_vectors:
            return _NONE
        there, configured = settings.embedding_model, self._configured()
        if there == configured.model:
            return configured
        weights, form = split_form(there)
        name = settings.embedding or (f"{_LOCAL}:{BUILT_IN}" if weights == BUILT_IN else "")
        if not name:
            return None
        try:
            kind, model, _ = self._split(name)
            # A name without a form stands for vectors without prefixes, whatever is usual for the model now.
            whole = replace(form, query=form.query or "", passage=form.passage or "")
            found: Embedder = _HeldEmbedder(self._pool, _Key(kind, model, whole))
            is_same = found.model == there
        except InvalidSettings:  # such as a folder of weights that is gone
            return None
        return found if is_same else None

    def named(self, text: str) -> Embedder:
        """Returns a model by `KIND:MODEL`, or by the name of the configured or the built-in model. `none` is a model
        that embeds nothing.

        Raises `EmbeddingMismatch` for another name without a kind, and `InvalidInput` for another kind.
        """
        if text == NO_EMBEDDING:
            return _NONE
        kind, model, form = self._split(text)
        if f"{kind}:{model}" == self.configured_name and form == EmbeddingForm():
            return self._configured()
        return _HeldEmbedder(self._pool, _Key(kind, model, form))

    def complete_name(self, text: str) -> str:
        """Returns the name as `KIND:MODEL`. Raises what `named` raises."""
        if text == NO_EMBEDDING:
            return text
        kind, model, form = self._split(text)
        return f"{kind}:{model}{form.suffix}"

    def is_offered(self, text: str) -> bool:
        """Whether clients may choose this model: the configured model, the built-in model, or a model that settings
        name.

        Raises what `named` raises.
        """
        listed = (f"{name}{form.suffix}" for name, form in map(split_form, self._settings.offered))
        offered = {NO_EMBEDDING, self.configured_name, f"{_LOCAL}:{BUILT_IN}", *listed}
        return self.complete_name(text) in offered

    def without_foreign(self, settings: CorpusSettings) -> CorpusSettings:
        """Returns the settings of a file without a model that is not offered here."""
        try:
            known = not settings.embedding or self.is_offered(settings.embedding)
        except (EmbeddingMismatch, InvalidInput):
            known = False
        return settings if known else replace(settings, embedding="")

    def check_form(self, settings: CorpusSettings, source: str) -> None:
        """Raises `EmbeddingMismatch` if a file (`source`) names an offered model in a form that is not offered: its
        prefixes would be sent with each text.

        A form is offered if its model is configured or listed with it. A name without a form comes from an older
        release.
        """
        there = settings.embedding_model
        _, form = split_form(there)
        if form == EmbeddingForm() or there == self._configured().model or self.find(settings) is None:
            return
        kind, model, _ = self._split(settings.embedding or BUILT_IN)
        if any(self._is_model(listed, kind, model, there) for listed in (f"{kind}:{model}", *self._settings.offered)):
            return
        name = f"{kind}:{model}{form.suffix}"
        raise EmbeddingMismatch(
            f"{source} was embedded by {there[:_SHOWN]!r}, and this form of the model (its prefixes, the length of its "
            "vectors, or their comparison) is not offered here: set HOPWEAVE_EMBEDDING__QUERY_PREFIX, "
            f"__PASSAGE_PREFIX, __DIMENSION and __DOT so, or add {name[:_SHOWN]!r} to "
            "HOPWEAVE_EMBEDDING__OFFERED; nothing was written"
        )

    def _is_model(self, listed: str, kind: str, model: str, name: str) -> bool:
        """Returns whether an offered model is this model, and has this name with its form."""
        try:
            return self._split(listed)[:2] == (kind, model) and self.named(listed).model == name
        except (EmbeddingMismatch, InvalidInput):  # the listed name is no model, or not available
            return False

    def _split(self, text: str) -> tuple[str, str, EmbeddingForm]:
        if text in (self._settings.model, self._configured().model):
            return self._settings.kind, self._settings.model, EmbeddingForm()
        name, form = split_form(text)
        if name == self._settings.model:
            return self._settings.kind, name, form
        if name == BUILT_IN:
            return _LOCAL, BUILT_IN, form
        kind, colon, model = name.partition(":")
        if not colon:
            raise EmbeddingMismatch(
                f"the configured embedding model is {self._configured().model!r}, not {text!r}: leave `embedding` out, "
                f"or name another one with its kind, such as {_LOCAL}:{text}"
            )
        if kind not in _KINDS or not model:
            raise InvalidInput(
                f"embedding {text!r} is not KIND:MODEL with a kind of {' or '.join(_KINDS)}, such as "
                f"{_LOCAL}:{BUILT_IN}"
            )
        return kind, model, form

    async def close(self) -> None:
        await self._pool.close()


@dataclass(frozen=True)
class _Key:
    """What a model of the pool is made from."""

    kind: str
    model: str
    form: EmbeddingForm


class _Pool:
    """The models in memory beside the configured model, the last used last, with the number of their uses."""

    def __init__(self, settings: EmbeddingSettings, make: Make) -> None:
        self._settings = settings
        self._make = make
        self._lock = threading.Lock()
        self._models: OrderedDict[_Key, Embedder] = OrderedDict()
        self._uses: dict[_Key, int] = {}

    def get(self, key: _Key) -> Embedder:
        with self._lock:
            if key not in self._models:
                form = {"query_prefix": key.form.query, "passage_prefix": key.form.passage, "dot": key.form.dot}
                chosen = {"kind": key.kind, "model": key.model, "dimension": key.form.dimension, **form}
                settings = self._settings.model_copy(update=chosen)
                self._models[key] = self._make(settings)
            self._models.move_to_end(key)
            return self._models[key]

    @asynccontextmanager
    async def use(self, key: _Key) -> AsyncIterator[Embedder]:
        """Yields the model, which is not closed while the block runs."""
        self._uses[key] = self._uses.get(key, 0) + 1
        try:
            yield self.get(key)
        finally:
            self._uses[key] -= 1
            await self._close_surplus()

    async def _close_surplus(self) -> None:
        surplus: list[Embedder] = []
        with self._lock:
            idle = [key for key in self._models if not self._uses.get(key)]
            for key in idle[: max(0, len(self._models) - self._settings.others)]:
                surplus.append(self._models.pop(key))
                self._uses.pop(key, None)
        for embedder in surplus:
            await embedder.close()

    async def close(self) -> None:
        with self._lock:
            models = list(self._models.values())
            self._models.clear()
        for embedder in models:
            await embedder.close()


class _HeldEmbedder:
    """Implements `Embedder` over a model of the pool, which may be closed and made again between two calls."""

    def __init__(self, pool: _Pool, key: _Key) -> None:
        self._pool = pool
        self._key = key

    @property
    def model(self) -> str:
        return self._pool.get(self._key).model

    @property
    def dimension(self) -> int:
        return self._pool.get(self._key).dimension

    @property
    def tokens(self) -> TokenCounter:
        return self._pool.get(self._key).tokens

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        async with self._pool.use(self._key) as embedder:
            return await embedder.embed_passages(texts)

    async def embed_query(self, text: str) -> Vectors:
        async with self._pool.use(self._key) as embedder:
            return await embedder.embed_query(text)

    async def close(self) -> None:
        """Does nothing: the pool closes the model."""
