"""Parts of models' replies, as several actions read them: abstentions, lists of texts, quotes of passages."""

import re
from collections.abc import Iterable, Sequence

from pydantic import BaseModel

from core.ports.reasoning import Quote
from core.ports.retrieval import Hit
from reasoning.citations.markers import note_missing
from reasoning.citations.quotes import find_quote, passage_text, select_quote
from reasoning.engine.session import Session

__all__ = ["CitedQuote", "check_quotes", "format_limit", "is_abstention", "take_distinct"]


_SOURCE = "(?:passages?|contexts?|texts?|documents?|sources?|quotes?|article)"
_GIVEN = (
    "(?:stated|specified|mentioned|given|provided|available|known|found|listed|disclosed|clear|answered|determined)"
)
_DO_NOT = "(?:do|does|did)(?: not|n['’]?t)"
_SAY = "(?:say|state|mention|provide|contain|specify|answer|give|include|indicate|tell|list)"
_BEGINNINGS = (
    "i (?:do not|don['’]?t) know",
    "i(?: am|['’]?m) not sure(?=$| (?:about|how|if|what|when|where|whether|which|who|why)(?!\\w))",
    "i (?:have no|(?:do not|don['’]?t) have(?: any| enough)?) (?:information|knowledge|idea)",
    "i (?:cannot|can['’]?t|am unable to|am not able to) (?:answer|determine|find|say)",
    "(?:the answer is )?(?:unknown|unbekannt|inconnue?|desconocid[oa])(?=$| (?:from|in|based|to)(?!\\w))",
    "n ?/ ?a",
    f"not (?:explicitly |directly )?{_GIVEN}",
    rf"(?:it|this|that|the [\w ]{{1,60}}?) (?:is|was|are|were) not (?:explicitly |directly )?{_GIVEN}",
    rf"(?:(?:it|this|that|the [\w ]{{1,60}}?) )?cannot be {_GIVEN}",
    f"(?:the )?(?:provided |given )?{_SOURCE} (?:provided |given )?{_DO_NOT} (?:explicitly |directly )?{_SAY}",
    "(?:there is )?(?:no|insufficient|not enough) (?:such )?(?:information|mention|answer)",
    "ich wei(?:ß|ss) (?:es |das )?(?:leider )?nicht",
    "(?:das|es) wei(?:ß|ss) ich (?:leider )?nicht",
    "nicht (?:angegeben|bekannt|genannt|erwähnt|bestimmbar)",
    "keine (?:angaben?|informationen?)",
    "je ne sais pas",
    "non (?:précisé|mentionné|indiqué|spécifié)e?",
    "aucune information",
    "no (?:lo )?sé",
    "no se (?:sabe|menciona|indica|especifica)",
)
_SPACED = "|".join(_BEGINNINGS).replace(" ", r"\s+").replace(r"\s+?", r"\s*")
_ABSTENTION = re.compile(rf"(?:{_SPACED})(?!\w)", re.IGNORECASE)
_AND_YET = re.compile(r"\b(?:but|however|although|yet|aber|jedoch|mais|cependant|pero|sin embargo)\b|;", re.IGNORECASE)
_APOLOGY = re.compile(
    r"(?:(?:i am|i['’]?m) )?sorry\b[,.:;]? (?:but )?|leider |(?:je suis )?désolée?[,.:;]? (?:mais )?"
    r"|lo siento[,.:;]? (?:pero )?",
    re.IGNORECASE,
)
"""An apology before an abstention. A "but" in it does not begin an answer."""
_MOST_WORDS = 40
"""A longer text says more than an abstention."""


def is_abstention(answer: str) -> bool:
    """Returns whether an answer (without markers) says only that the answer is not known or not given."""
    text = answer.strip().strip("\"'“”().*")
    text = text[apology.end() :] if (apology := _APOLOGY.match(text)) else text
    return bool(_ABSTENTION.match(text)) and len(text.split()) <= _MOST_WORDS and not _AND_YET.search(text)


def format_limit(limit: int | None) -> str:
    """Returns what a prompt says after "at most" where it asks for one text a fact; None is no limit."""
    return "one for each fact" if limit is None else str(limit)


def take_distinct(session: Session, texts: Iterable[str], limit: int | None, name: str) -> tuple[str, ...]:
    """Returns the first `limit` texts (None: all) that are neither empty nor a repetition in other case or spacing.

    If there are more, a note says so; `name` is what it calls them.
    """
    distinct: dict[str, str] = {}
    for text in filter(None, map(str.strip, texts)):
        distinct.setdefault(" ".join(text.casefold().split()), text)
    kept = tuple(distinct.values())
    if limit is not None and len(kept) > limit:
        session.trace.note(f"the model wrote {len(kept)} {name}; the first {limit} were used")
    return kept[:limit]


class CitedQuote(BaseModel):
    passage: int
    quote: str = ""


def check_quotes(
    session: Session, citations: Sequence[CitedQuote], shown: Sequence[Hit], answer: str, question: str, step: str
) -> tuple[tuple[Quote, ...], tuple[str, ...]]:
    """Returns the quotes as their passages have them, each once, and the texts of the passages that are evidence.

    A citation of a passage that was not shown is dropped. A quote that is not in its passage is replaced by the
    passage's best sentence, and makes the passage no evidence. Both are noted.
    """
    quotes: dict[tuple[str, int], Quote] = {}
    evidence: dict[str, str] = {}
    missing = dict.fromkeys(one.passage for one in citations if not 1 <= one.passage <= len(shown))
    note_missing(session.trace, list(missing), f" of step {step}")
    for citation in citations:
        if citation.passage in missing:
            continue
        hit = shown[citation.passage - 1]
        quote = find_quote(hit, citation.quote)
        if quote is None:
            # A quote that is in the passage and still not found is only too short to be one.
            is_real = citation.quote.strip().casefold() in passage_text(hit).casefold()
            if not is_real:
                session.trace.note(
                    f"a quote of step {step} is not in the passage that it names; its best sentence was taken"
                )
            quote = select_quote(hit, answer, question)
        else:
            is_real = True
        if is_real:
            evidence[hit.chunk.id] = passage_text(hit)
        quotes.setdefault((hit.chunk.id, quote.span.start), quote)
    return tuple(quotes.values()), tuple(evidence.values())
