"""Parts of models' replies, as several actions read them: abstentions, lists of texts, quotes of passages.

The end says how answering actions ask what an answer stands on (`format_support_rule`), and read the reply (`grade`).
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Protocol

from pydantic import BaseModel, Field

from core.ports.reasoning import Quote, Support
from core.ports.retrieval import Hit
from core.text.shortening import shorten
from reasoning.asking_words import asks_what_is_told
from reasoning.citations.held import find_unheld
from reasoning.citations.markers import note_missing, strip_markers
from reasoning.citations.polarity import find_contradiction
from reasoning.citations.quotes import find_quote, passage_text, select_quote
from reasoning.engine.session import Session
from reasoning.reading import are_sentences_asked, find_beside, find_unlinked, is_judgement_asked

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
    missing = dict.fromkeys(citation.passage for citation in citations if not 1 <= citation.passage <= len(shown))
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


_RULE = (
    '- `support`: "stated" if {sources} say it, in whatever words, or it follows from them by comparing, counting or '
    "definition. {inferred} {none}\n"
    "- `unstated`: in a few words and without numbers of passages, what nothing states; empty if all is stated."
)
_LIKELIEST = (
    'Else "inferred": give the likeliest candidate of the kind that is asked for among those that {sources} name, even '
    "if little speaks for it (of yes and no, only what something speaks for); the user is told what is not stated."
)
_ASSUMED = 'Else "inferred" if it takes an assumption, or {sources} make it likely without saying it.'
_NAMES_NONE = (
    '"none", with no answer, only if {sources} say nothing of what the question is about, or name nothing of that '
    "kind. Use no knowledge of your own."
)
_HOLDS_NONE = '"none", with no answer, if {sources} do not answer the question. Use no knowledge of your own.'
_KNOWN_ELSE_NONE = (
    'Else "memory" if you know the answer yourself; it cites nothing, and `unstated` is what {sources} lack. "none", '
    "with no answer, if you do not."
)
_KNOWN = (
    'Else "memory" if you know the answer yourself; it cites nothing, and `unstated` is what {sources} lack. Else '
    '"inferred" with the likeliest candidate of the kind that is asked for that {sources} name. "none", with no '
    "answer, if they name none."
)

_OF_MODELS = tuple(support for support in Support if support is not Support.QUOTED)
"""The supports that a model may give."""

SupportWord = Annotated[str, Field(json_schema_extra={"enum": [str(support) for support in _OF_MODELS]})]
"""The field `support` of a reply. `grade` checks the word: an unknown word is no reason to ask again."""


class Graded(Protocol):
    """A reply that says what its answer stands on. Models write the fields in the order of the subclass."""

    support: str
    unstated: str


_MOST_UNHELD = 5
_LONGEST_UNHELD = 200


@dataclass(frozen=True, kw_only=True)
class Grade:
    """An answer with its checked support. `text` is '' if and only if the support is `none`."""

    text: str
    support: Support
    unstated: str


_JUDGEMENT_FORM = (
    "- But this question asks for yes or no: `answer` is yes, no or partly, a colon, and {reason} in the words of the "
    'passages and the number of its passage: "no: the keys stay with the porter [2]".'
)
_REASON, _REASON_AND_MORE = "one sentence with the reason", "sentences with the reason and what else is asked for, each"
_SILENCE_FORM = (
    " If it asks whether a document says, has or reports something, and passages of that document are given, of which "
    'none speaks of it: "no: its passages do not mention …", which is inferred.'
)


def format_answer_form(question: str, *, is_last: bool = False) -> str:
    """Returns the rule of the field `answer` for a question that asks for yes or no about one thing; else ''.

    The bare word would make its reader look for the reason. In the last call of a question, the silence of a document
    on what it is asked for is an answer, too.
    """
    if not is_judgement_asked(question):
        return ""
    form = _JUDGEMENT_FORM.format(reason=_REASON_AND_MORE if are_sentences_asked(question) else _REASON)
    return form + (_SILENCE_FORM if is_last and asks_what_is_told(question) else "")


def format_support_rule(
    session: Session, sources: str = "the passages", *, memory: bool = True, guesses: bool = True
) -> str:
    """Returns the rules of the fields `support` and `unstated`. They depend on what the request permits.

    Without `memory` nothing may come from the model's memory, whatever the request permits. Without `guesses` an answer
    must at least be likely, as it must for a single passage of many: any passage names some candidate.
    """
    inferred, none = (_LIKELIEST, _NAMES_NONE) if guesses else (_ASSUMED, _HOLDS_NONE)
    if memory and session.permits_memory:  # what the model knows is better than a candidate that little speaks for
        inferred, none = _ASSUMED, _KNOWN if guesses else _KNOWN_ELSE_NONE
    return _RULE.format(sources="{sources}", inferred=inferred, none=none).format(sources=sources)


def grade(
    session: Session, reply: Graded, text: str, evidence: Sequence[str], question: str, *, step: str = ""
) -> Grade:
    """Returns the support of an answer, which the model can only lower. What was changed is noted.

    - `evidence` are the texts that the answer cites: it is `stated` only if they hold all of it (`find_unheld`), else
      `inferred`. A word that is no support counts as `inferred`, too.
    - An answer from memory counts only if the request permits it.
    - An answer that says that the answer is not known counts as `none`.
    """
    where = f"step {step}: " if step else ""
    word, text = reply.support.strip().lower(), text.strip()
    support = Support(word) if word in _OF_MODELS else Support.INFERRED
    if word not in _OF_MODELS:
        session.trace.note(f"{where}the support {reply.support[:40]!r} does not exist; it counts as 'inferred'")
    unstated = reply.unstated.strip()
    said = strip_markers(text)
    if not any(map(str.isalnum, said)) or is_abstention(said):  # markers alone are no answer
        return Grade(text="", support=Support.NONE, unstated=unstated)
    if support is Support.STATED and text:
        unheld = note_unheld(session, text, evidence, question, where)
        if unheld is not None:
            support, unstated = Support.INFERRED, unstated or unheld
    if support is Support.MEMORY and not session.permits_memory:
        session.trace.note(f"{where}an answer from the model's memory was dropped; the request does not permit it")
        support = Support.NONE
    if not text or support is Support.NONE:
        return Grade(text="", support=Support.NONE, unstated=unstated)
    return Grade(text=text, support=support, unstated="" if support is Support.STATED else unstated)


def note_unheld(session: Session, text: str, evidence: Sequence[str], question: str, where: str = "") -> str | None:
    """Returns what the evidence of an answer does not hold, and notes it; None if it holds all, and states the answer.

    Without evidence, returns ''. Not held is also what a clause of the evidence denies (`find_contradiction`), and the
    value of another row, column or time than the question names (`find_beside`). With a small model, one passage must
    say all that the question asks for (`find_unlinked`).
    """
    if not evidence:
        session.trace.note(f"{where}the answer counts as 'inferred': it cites nothing")
        return ""
    answer = strip_markers(text)
    missing = find_unheld(answer, evidence, question)
    if not missing:
        missing = (find_unlinked if session.has_small_model else find_beside)(answer, question, evidence)
    if not missing and (denial := find_contradiction(answer, question, evidence)):
        said = shorten(denial, _LONGEST_UNHELD)
        session.trace.note(f"{where}the answer counts as 'inferred': what it cites says otherwise: {said!r}")
        return f"the opposite of “{said}”"
    unheld = "; ".join(missing[:_MOST_UNHELD])
    if not unheld:
        return None
    session.trace.note(
        f"{where}the answer counts as 'inferred': what it cites does not have {unheld[:_LONGEST_UNHELD]!r}"
    )
    return unheld
