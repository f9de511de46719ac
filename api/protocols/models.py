"""Corpora and reasoners as the models of chat clients: their names, and what a name means."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from api.schemas.search import parse_strategy
from app.container import Container
from app.container.container import describe_strategies
from core.corpora import Corpus
from core.errors import NotFound
from core.strategies import StrategySpec, list_names
from reasoning import REASONERS

PLAIN = "plain"
"""The name of the language model without retrieval. A corpus of this name is reached with a reasoner: `plain:auto`."""

_DEFAULT_TAG = ":latest"
EPOCH = datetime.fromtimestamp(0, UTC)
"""When what belongs to no corpus was created."""


@dataclass(frozen=True, kw_only=True)
class ListedModel:
    """An entry in the list of models. `created` is when its corpus was created."""

    id: str
    created: datetime
    description: str


@dataclass(frozen=True, kw_only=True)
class Model:
    """What a name means: a corpus, and the reasoner that answers from it. Without a corpus it is `plain`.

    `reasoner` None is the default reasoner.
    """

    id: str
    corpus: Corpus | None = None
    reasoner: StrategySpec | None = None


async def list_models(container: Container) -> Sequence[ListedModel]:
    """Returns a model for each corpus, one for each pair of corpus and reasoner, and `plain` if there is a language
    model. Reasoners that need a language model are left out without one.
    """
    has_model = container.models is not None
    reasoners = [
        (one["name"], one["description"])
        for one in describe_strategies()
        if one["kind"] == "reasoner" and (has_model or not one["needs_model"])
    ]
    listed = []
    for corpus in await container.record.corpora.list():
        default = ListedModel(
            id=corpus.name,
            created=corpus.created_at,
            description=f"The corpus {corpus.name}, answered by {container.default_reasoner.name}.",
        )
        listed.append(default)
        listed += [
            ListedModel(id=f"{corpus.name}:{name}", created=corpus.created_at, description=description)
            for name, description in reasoners
        ]
    if has_model:
        listed.append(ListedModel(id=PLAIN, created=EPOCH, description="The language model, without retrieval."))
    return listed


async def find_model(container: Container, name: str) -> Model:
    """Returns what `{corpus}`, `{corpus}:{reasoner}` or `plain` means. `:latest`, which Ollama's clients append, counts
    as nothing.

    Raises `NotFound` naming what does not exist, and `InvalidStrategy` for wrong options of a reasoner.
    """
    text = name.removesuffix(_DEFAULT_TAG)
    if text == PLAIN:
        return Model(id=name)
    corpus, _, reasoner = text.partition(":")
    found = await container.record.corpora.get(corpus)
    if reasoner and reasoner.partition(":")[0] not in list_names(REASONERS):
        raise NotFound(
            f"the model {name!r} does not exist: there is no reasoner {reasoner!r}; a model is a corpus, or "
            f"{corpus}:REASONER with one of {', '.join(list_names(REASONERS))}"
        )
    return Model(id=name, corpus=found, reasoner=parse_strategy(reasoner or None, {}, "reasoner"))
