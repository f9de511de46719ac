"""What is embedded of a chunk: its title, heading and text, joined by line ends."""

from collections.abc import Callable, Collection, Sequence

from core.ports.embedding import TokenCounter
from core.ports.indexing import DraftChunk

__all__ = ["embedded_text", "embedded_texts", "fitted_heads"]

_LONGEST_WORTH_COUNTING = 64  # characters per token of the budget: no head that is longer is counted whole


def embedded_text(title: str, heading: str, text: str) -> str:
    """The three parts on lines of their own; empty ones are left out."""
    return "\n".join(part for part in (title, heading, text) if part)


def embedded_texts(title: str, chunks: Sequence[DraftChunk], tokens: TokenCounter) -> list[str]:
    """The text to embed for each chunk of the document `title`; never more than the model reads.

    That holds for chunks that were cut for the same `tokens` and title: the chunkers reserve exactly these heads.
    """
    heads = fitted_heads(title, {chunk.heading for chunk in chunks}, tokens)
    return [embedded_text(heads[chunk.heading], "", chunk.text) for chunk in chunks]


def fitted_heads(title: str, headings: Collection[str], tokens: TokenCounter) -> dict[str, str]:
    """What stands before the text under each heading: title and heading, in at most half of what the model reads.

    A title that is too long loses its end, a heading path its beginning, since its last part is the nearest.
    """
    budget = max(1, tokens.max_tokens // 2)
    ordered = sorted(headings)
    heads = {heading: embedded_text(title, heading, "") for heading in ordered}
    longest = _LONGEST_WORTH_COUNTING * budget
    counts = tokens.count([head[: longest + 1] + "\n" for head in heads.values()])
    for heading, count in zip(ordered, counts, strict=True):
        if count > budget or len(heads[heading]) > longest:
            heads[heading] = _cut(title, heading, budget, tokens)
    return heads


def _cut(title: str, heading: str, budget: int, tokens: TokenCounter) -> str:
    for_title = budget - budget // 2 if heading else budget
    short = _longest(for_title, len(title), tokens, lambda n: title[:n].rstrip())
    return _longest(
        budget, len(heading), tokens, lambda n: embedded_text(short, heading[len(heading) - n :].lstrip(), "")
    )


def _longest(budget: int, length: int, tokens: TokenCounter, take: Callable[[int], str]) -> str:
    """The longest `take(n)`, n up to `length`, that has at most `budget` tokens, found by bisection."""
    low, high = 0, min(length, _LONGEST_WORTH_COUNTING * budget)
    while low < high:
        middle = (low + high + 1) // 2
        if tokens.count([take(middle) + "\n"])[0] <= budget:
            low = middle
        else:
            high = middle - 1
    return take(low)
