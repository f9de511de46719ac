"""Options that several commands share."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from core.errors import InvalidFilter
from core.ports.retrieval import MAX_K

__all__ = [
    "CHUNKER_HELP",
    "EXTRACTOR_HELP",
    "FINE_HELP",
    "AsJson",
    "CorpusName",
    "FilterText",
    "Prompts",
    "Searcher",
    "TopK",
    "Web",
    "parse_filter_text",
]

CHUNKER_HELP = "Such as sentences, passage."
EXTRACTOR_HELP = "Such as pattern, given, llm, pattern+llm."
FINE_HELP = "Whether entities and facts get vectors and synonyms."
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout and nothing else.")]
CorpusName = Annotated[str, typer.Option("--corpus", "-c", help="The corpus' name.")]
Searcher = Annotated[str | None, typer.Option(help="NAME[:key=value,…]. Default: the settings'.", show_default=False)]
TopK = Annotated[int, typer.Option("-k", min=1, max=MAX_K, help="The number of passages.")]
FilterText = Annotated[
    str | None,
    typer.Option("--filter", help='Metadata filter as JSON, such as \'{"year": {"$gte": 1990}}\'.', show_default=False),
]
Prompts = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR", help="A folder of prompts that replace ours. Default: the settings'.", show_default=False
    ),
]
Web = Annotated[bool, typer.Option("--web", help="Permit queries to the web search of the settings.")]


def parse_filter_text(text: str | None) -> dict[str, Any] | None:
    """Returns the value of `--filter`; None if it is not given. Raises `InvalidFilter` if it is no JSON object."""
    if text is None:
        return None
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise InvalidFilter(f"--filter is not valid JSON: {error.msg} at character {error.pos}") from error
    if not isinstance(value, dict):
        raise InvalidFilter('--filter is a JSON object of fields and conditions, such as {"year": 1990}')
    return value
