"""Precision and recall of quotes, and of retrieved passages, against the sentences that support a question; pure."""

from core.documents import Span
from core.ports.reasoning import Answer
from evaluation.datasets.dataset import GoldQuestion
from evaluation.datasets.supporting import collapse_hits, match_supports
from evaluation.scores.metrics import precision, recall

__all__ = ["SENTENCE_METRICS", "score_sentences"]

SENTENCE_METRICS = (
    "sentence_precision",
    "sentence_recall",
    "retrieved_sentence_precision",
    "retrieved_sentence_recall",
)


def score_sentences(question: GoldQuestion, answer: Answer) -> dict[str, float]:
    """Returns the share of quotes that overlap a supporting sentence, the share of these that a quote overlaps, and the
    same for the passages that the steps retrieved (Plan*RAG, arXiv 2410.20753, table 4).

    The quotes are those of the answer and of its steps, each once, without those of the web. The passages are all that
    any step retrieved, each once.
    """
    shown = [
        frozenset(sentence for sentence in question.sentences if sentence.overlaps(key, place))
        for key, place in _find_quotes(answer)
    ]
    hits = collapse_hits((hit for step in answer.steps for hit in step.hits), question.sentences)
    retrieved = match_supports(hits, question.sentences)
    return {
        "sentence_precision": precision(shown),
        "sentence_recall": recall(shown, question.sentences, len(shown)),
        "retrieved_sentence_precision": precision(retrieved),
        "retrieved_sentence_recall": recall(retrieved, question.sentences, len(retrieved)),
    }


def _find_quotes(answer: Answer) -> set[tuple[str, Span | None]]:
    """Returns each quote as the key of its document and its place there (None: the place is not known)."""
    hits = [
        *(hit for step in answer.steps for hit in step.hits),
        *(q.hit for step in answer.steps for q in step.quotes),
    ]
    spans = {hit.chunk.id: hit.chunk.span for hit in hits}
    quotes = [
        (one.document.key, one.chunk_id, one.source_span)
        for one in answer.citations
        if one.url is None and not answer.abstained
    ]
    quotes += [
        (one.hit.document.key, one.hit.chunk.id, one.span)
        for step in answer.steps
        for one in step.quotes
        if one.hit.url is None
    ]
    return {(key, _place(spans.get(chunk), span)) for key, chunk, span in quotes}


def _place(chunk: Span | None, quote: Span) -> Span | None:
    return None if chunk is None else Span(start=chunk.start + quote.start, end=chunk.start + quote.end)
