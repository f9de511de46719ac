"""The text to embed for a chunk: title, heading and text on lines of their own, cut to what the model reads.

The end says which embeddings of a document its corpus uses: only embeddings by the model of the corpus.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from core.corpora import Corpus
from core.errors import LoadFailed
from core.ports.embedding import TokenCounter
from core.ports.indexing import Block, DraftChunk, LoadedDocument

_MAX_CHARACTERS_PER_TOKEN = 64  # of the budget: the tokens of a longer head are not all counted


def embedded_text(title: str, heading: str, text: str) -> str:
    """Joins the three parts by line ends. Empty parts are left out."""
    return "\n".join(part for part in (title, heading, text) if part)


def embedded_texts(title: str, chunks: Sequence[DraftChunk], tokens: TokenCounter) -> list[str]:
    """Returns the text to embed for each chunk of a document, never more than the model reads.

    That holds for chunks that were cut for the same `tokens` and `title`: the chunkers reserve exactly these heads.
    """
    heads = fitted_heads(title, {chunk.heading for chunk in chunks}, tokens)
    return [embedded_text(heads[chunk.heading], "", chunk.text) for chunk in chunks]


def fitted_heads(title: str, headings: Collection[str], tokens: TokenCounter) -> dict[str, str]:
    """Returns the head by heading: title and heading, in at most half of the tokens that the model reads.

    A title that is too long loses its end. A heading path loses its beginning, since its last part is the nearest.
    """
    budget = max(1, tokens.max_tokens // 2)
    ordered = sorted(headings)
    heads = {heading: embedded_text(title, heading, "") for heading in ordered}
    longest = _MAX_CHARACTERS_PER_TOKEN * budget
    counts = tokens.count([head[: longest + 1] + "\n" for head in heads.values()])
    for heading, count in zip(ordered, counts, strict=True):
        if count > budget or len(heads[heading]) > longest:
            heads[heading] = _cut(title, heading, budget, tokens)
    return heads


def _cut(title: str, heading: str, budget: int, tokens: TokenCounter) -> str:
    for_title = budget - budget // 2 if heading else budget
    short = _find_longest(for_title, len(title), tokens, lambda n: title[:n].rstrip())
    return _find_longest(
        budget, len(heading), tokens, lambda n: embedded_text(short, heading[len(heading) - n :].lstrip(), "")
    )


def _find_longest(budget: int, length: int, tokens: TokenCounter, take: Callable[[int], str]) -> str:
    """Returns the longest `take(n)`, with n up to `length`, that has at most `budget` tokens. Uses bisection."""
    low, high = 0, min(length, _MAX_CHARACTERS_PER_TOKEN * budget)
    while low < high:
        middle = (low + high + 1) // 2
        if tokens.count([take(middle) + "\n"])[0] <= budget:
            low = middle
        else:
            high = middle - 1
    return take(low)


def fit_embeddings(document: LoadedDocument, corpus: Corpus) -> tuple[Block, ...]:
    """Returns the blocks, without the embeddings if they are of another model than the model of the corpus.

    A submission with such embeddings is refused, so the corpus has been reindexed since; its model then embeds the
    text. Raises `LoadFailed` for an embedding of the right model with the wrong dimension.
    """
    settings = corpus.settings
    if document.embedding_model != settings.embedding_model or not settings.has_vectors:
        return tuple(replace(block, embedding=b"") if block.embedding else block for block in document.blocks)
    for block in document.blocks:
        dimension = len(block.embedding) // 4
        if dimension not in {0, settings.dimension}:
            raise LoadFailed(
                f"{document.key!r} has an embedding of {dimension} dimensions, and {settings.embedding_model!r} of "
                f"corpus {corpus.name!r} has {settings.dimension}; embed it with that model, or leave `embedding` out"
            )
    return document.blocks
