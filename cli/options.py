"""Options that several commands share."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from core.corpora import NO_EMBEDDING, NO_GRAPH
from core.errors import InvalidFilter, InvalidInput
from core.ports.retrieval import MAX_K

CHUNKER_HELP = "Such as sentences, passage."
EXTRACTOR_HELP = "Such as pattern, syntax, syntax+tables, given, llm, pattern+llm."
EMBEDDING_HELP = "KIND:MODEL, with the kind sentence-transformers or openai. Default: the settings'."
FINE_HELP = "Whether entities and facts get vectors and synonyms."
SchemaFile = Annotated[
    Path | None, typer.Option(metavar="FILE", help="The types and relations of its graph, as TOML.", show_default=False)
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout and nothing else.")]
CorpusName = Annotated[str, typer.Option("--corpus", "-c", help="The corpus' name.")]
CorpusNames = Annotated[
    list[str], typer.Option("--corpus", "-c", help="The corpus' name. Given several times, the corpora are one.")
]
NoEmbedding = Annotated[
    bool, typer.Option("--no-embedding", help="Without vectors: no embedding model is used, BM25 and graph only.")
]
NoGraph = Annotated[
    bool, typer.Option("--no-graph", help="Without entities and facts: passages, vectors and text only.")
]
AsOf = Annotated[
    str | None,
    typer.Option(
        "--as-of",
        metavar="DAY",
        help="Use the documents that are in force on this day, such as 2024-05-01; `any`: use all. Default: today.",
        show_default=False,
    ),
]
MinGeneration = Annotated[
    list[str] | None,
    typer.Option(
        metavar="N",
        help="Wait until the corpus is searched in this generation, which a job shows; CORPUS=N for one of several.",
        show_default=False,
    ),
]
Searcher = Annotated[str | None, typer.Option(help="NAME[:key=value,…]. Default: the settings'.", show_default=False)]
TopK = Annotated[int, typer.Option("-k", min=1, max=MAX_K, help="The number of passages.")]
FilterText = Annotated[
    str | None,
    typer.Option("--filter", help='Metadata filter as JSON, such as \'{"year": {"$gte": 1990}}\'.', show_default=False),
]
Where = Annotated[
    str | None,
    typer.Option(
        metavar="FILTER",
        help='Use only questions whose metadata match, as JSON, such as \'{"s_pop": {"$lt": 100}}\'.',
        show_default=False,
    ),
]
FirstQuestions = Annotated[int | None, typer.Option(min=1, help="Use only the first N questions.")]
RandomQuestions = Annotated[int | None, typer.Option(min=1, help="Use only N random questions of each dataset.")]
Seed = Annotated[int, typer.Option(min=0, help="The seed of --sample and --corpus-sample.")]
CorpusSample = Annotated[
    int | None,
    typer.Option(
        min=0,
        metavar="M",
        help="Index only the passages that support the questions, and M others, drawn at random. Default: all.",
        show_default=False,
    ),
]
Models = Annotated[
    list[str] | None,
    typer.Option(metavar="[ROLE=]NAME", help="The language model of a role, or of all roles; repeatable."),
]
Prompts = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="A folder of prompts that replace ours, or the set `published`. Default: the settings'.",
        show_default=False,
    ),
]
Web = Annotated[bool, typer.Option("--web", help="Permit queries to the web search of the settings.")]


def parse_filter_text(text: str | None, option: str = "--filter") -> dict[str, Any] | None:
    """Returns the value of a filter option; None if it is not given. Raises `InvalidFilter` if it is no JSON object."""
    if text is None:
        return None
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise InvalidFilter(f"{option} is not valid JSON: {error.msg} at character {error.pos}") from error
    except (ValueError, RecursionError) as error:
        raise InvalidFilter(f"{option} has a number with thousands of digits, or is nested too deeply") from error
    if not isinstance(value, dict):
        raise InvalidFilter(f'{option} is a JSON object of fields and conditions, such as {{"year": 1990}}')
    return value


def parse_generations(given: list[str] | None) -> int | dict[str, int] | None:
    """Returns the value of `--min-generation`, N or CORPUS=N; None if it is not given. Raises `InvalidInput`."""
    pairs = [one.rpartition("=")[::2] for one in given or ()]
    if any(not number.isdecimal() for _, number in pairs) or (len(pairs) > 1 and not all(name for name, _ in pairs)):
        raise InvalidInput("--min-generation is a number, such as 7; of several corpora, CORPUS=7 for each")
    if not pairs:
        return None
    return int(pairs[0][1]) if not pairs[0][0] else {name: int(number) for name, number in pairs}


def choose_embedding(embedding: str | None, *, no_embedding: bool) -> str | None:
    """Returns the embedding model that the options name. Raises `InvalidInput` if they contradict one another."""
    if no_embedding and embedding not in (None, NO_EMBEDDING):
        raise InvalidInput(f"--no-embedding and --embedding {embedding} contradict one another; give one of them")
    return NO_EMBEDDING if no_embedding else embedding


def choose_extractor(extractor: str | None, *, no_graph: bool) -> str | None:
    """Returns the extractor that the options name. Raises `InvalidInput` if they contradict one another."""
    if no_graph and extractor not in (None, NO_GRAPH):
        raise InvalidInput(f"--no-graph and --extractor {extractor} contradict one another; give one of them")
    return NO_GRAPH if no_graph else extractor


def read_schema_file(path: Path | None) -> str | None:
    """Returns the text of a schema; None without a file. Raises `InvalidInput` for what is not a schema."""
    from core.graph_schema import MAX_BYTES, read_graph_schema

    if path is None:
        return None
    try:
        with path.open("rb") as file:
            text = file.read(MAX_BYTES + 1).decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"the schema {path} cannot be read: {error}") from error
    return read_graph_schema(text).text
