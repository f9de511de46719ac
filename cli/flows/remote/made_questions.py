"""Makes questions of a corpus of a server, and measures its searchers, through the Python API."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, cast

import hopweave
from cli.flows.reading import Server
from cli.flows.remote.ingest import translate_errors


def make_remote(
    server: Server, corpus: str, count: int, seed: int, kinds: Sequence[hopweave.MadeKind]
) -> dict[str, Any]:
    """Raises errors of `core.errors`."""
    with translate_errors(), hopweave.connect(server.url, api_key=server.api_key) as client:
        made = client.make_questions(corpus, count=count, seed=seed, kinds=kinds)
        return cast("dict[str, Any]", _to_lists(asdict(made)))


def measure_remote(
    server: Server, corpus: str, questions: Sequence[Mapping[str, Any]], searchers: Sequence[str]
) -> dict[str, Any]:
    """Raises errors of `core.errors`."""
    with translate_errors(), hopweave.connect(server.url, api_key=server.api_key) as client:
        return cast("dict[str, Any]", _to_lists(asdict(client.measure_searchers(corpus, questions, searchers))))


def _to_lists(value: Any) -> Any:
    """Returns the value as JSON has it, with lists for tuples."""
    if isinstance(value, dict):
        return {name: _to_lists(item) for name, item in value.items()}
    return [_to_lists(item) for item in value] if isinstance(value, tuple) else value
