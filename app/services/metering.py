"""The tokens of language models that a key uses."""

from collections.abc import Iterator
from contextlib import contextmanager

from app.container import Container
from core.trace import Trace

__all__ = ["count_tokens"]


@contextmanager
def count_tokens(container: Container, trace: Trace) -> Iterator[None]:
    """Counts the tokens of the models that the block calls, also if it fails."""
    before = trace.usage.tokens
    try:
        yield
    finally:
        container.add_tokens(trace.usage.tokens - before)
