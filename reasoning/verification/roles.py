"""The role of a document, decided from the answer and the one that is given without the document."""

from collections.abc import Collection, Sequence

from core.ports.reasoning import Support
from core.text.shortening import shorten
from core.verification import AnswerWithout, DocumentRole, Located
from reasoning.shared.question_words import find_missing_words
from reasoning.verification.given import CitedDocument, GivenAnswer
from reasoning.verification.sameness import compare_answers

__all__ = ["compare_quotes", "decide_role", "describe_redundant", "is_lost"]

_SHOWN = 200
_WEAKER = {Support.QUOTED: "only quoted", Support.INFERRED: "only inferred", Support.MEMORY: "only the model's memory"}


def is_lost(given: GivenAnswer, without: AnswerWithout) -> bool:
    """Whether there is no answer any more, or none that passages state as they did before."""
    return without.abstained or without.support.rank < given.support.rank


def decide_role(
    given: GivenAnswer, without: AnswerWithout, same: bool | None, replaced_by: Sequence[Located]
) -> tuple[DocumentRole, str]:
    """Returns the role, and why in a sentence. `same` tells whether both answers say the same; None: not known.

    An answer that is not stated, and another one, is `needed`: only what passages state contradicts the answer.
    """
    said = f"“{shorten(without.answer, _SHOWN)}”"
    if without.abstained:
        return DocumentRole.NEEDED, "Without it, no answer is given."
    if is_lost(given, without):
        return DocumentRole.NEEDED, f"Without it, the answer is {_WEAKER[without.support]}: {said}."
    if same:
        return DocumentRole.REDUNDANT, describe_redundant(replaced_by)
    if same is None:
        return DocumentRole.UNCLEAR, f"Without it, the answer is {said}; whether that is the same was not found out."
    if without.support is Support.STATED:
        return DocumentRole.CONTRADICTS, f"Without it, passages state another answer: {said}."
    return DocumentRole.NEEDED, f"Without it, another answer is given, which no passage states: {said}."


def describe_redundant(replaced_by: Sequence[Located]) -> str:
    """Returns why a document is redundant: what the answer stands on without it."""
    titles = ", ".join(f"“{one.document.title or one.document.key}”" for one in replaced_by)
    return f"The same answer stands without it{f', on {titles}' if titles else ''}."


def compare_quotes(question: str, given: GivenAnswer, document: CitedDocument, quotes: Collection[str]) -> bool | None:
    """Whether an answer that only quotes says the same without a document; None: nobody read it, so it is not known.

    The answer stands on the quotes with most words of the question. `quotes` are those of the answer without the
    document: it is the same if all that the answer stands on are among them.
    """
    lacking = {
        quote: len(find_missing_words(question, quote, cited.located.document.title))
        for cited in given.documents
        for quote in cited.quotes
    }
    least = min(lacking.values())
    own = [quote for quote in document.quotes if lacking[quote] == least]
    needed = own or [quote for quote, count in lacking.items() if count == least]
    return True if all(any(compare_answers(one, other) for other in quotes) for one in needed) else None
