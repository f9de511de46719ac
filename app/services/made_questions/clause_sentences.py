"""The sentences of contracts and policies, and what a party must or may do by them.

`read_clause` reads "Upon termination, the Tenant shall return the keys" as its opening, party, modal verb and the rest.
Open this to change which sentences are clauses.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from core.text.sentences import split_sentences
from core.text.word_lists import words_of

_NUMBER = r"(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty|thirty|sixty|ninety|\d{1,3})"
AMOUNT = (
    rf"{_NUMBER}(?:-[a-z]{{3,5}})?(?: \((?:\d{{1,3}}|[a-z-]{{3,12}})\))? (?:business |calendar |working )?"
    r"(?:days?|weeks?|months?|years?|hours?)\b"
)
"""A length of time: "30 days", "thirty (30) business days"."""
_SHORTEST, _LONGEST = 40, 700
"""Characters of a sentence."""
_ITEM = re.compile(r"(?:\(?[0-9ivxIVX]{1,4}[.)]|\(?[A-Za-z][.)]|\d{1,2}(?:\.\d{1,2}){1,3}\.?|[•●*-])\s{1,8}")
_HEADING = re.compile(r"(?:[A-Z][A-Za-z’'/&-]{1,20} ){0,5}[A-Z][A-Za-z’'/&-]{1,20}[.:] (?=[A-Z])")
_BARE_HEADING = re.compile(
    r"(?:[A-Z][a-z]{1,20} (?:(?:of|and|to|the|for|by|on) )?){1,6}(?=(?:The|Each|Upon|If|In|This|Both|Either|All) )"
)
"""A heading without a mark at its end: "Return of Information Upon request, the Recipient shall"."""
_DEFINED = re.compile(r" \((?:[a-z]{2,12},? ){0,4}[“\"][^()“”\"]{1,60}[”\"]\)")
"""A term that a sentence defines by the way: "a corporation (the “Company”)"."""
_SPACES = re.compile(r"\s+")

_NAME = r"[A-Z][A-Za-z&’'-]{1,24}(?: [A-Z][A-Za-z&’'-]{1,24}){0,3}"
_NOUN = r"(?:[a-z]{3,15} ){0,2}[a-z]{4,14}"
_SUBJECT = rf"(?:(?:[Tt]he|[Ee]ach|[Ee]ither|[Aa]ny|[Bb]oth|[Aa]ll|[Tt]his) (?:{_NAME}|{_NOUN})|{_NAME}|[Yy]ou|[Ww]e)"
_CLAUSE = re.compile(
    rf"(?P<party>{_SUBJECT}) (?P<modal>shall|must|may|will|can|agrees? that (?:it|they) (?:shall|will)"
    r"|agrees? (?:not )?to)(?:, [^,]{3,40},)? (?P<not>not )?(?P<does>[a-z]{2,20} .{12,})"
)
_HABIT = re.compile(
    r"(?P<party>[Ww]e|[Yy]ou) (?P<does>(?:collect|use|share|disclose|keep|store|retain|process|receive|ask|require|send"
    r"|transfer|delete|remove|record|provide|work|take|need|agree|consent|notify|inform)\b .{12,})"
)
"""What the author or the reader of a policy does, without a modal verb."""
_OPENING = re.compile(
    r"(?P<opening>(?:Upon|On|In the event|If|Before|Prior to|After|Following|During|Where|When|Unless|Without"
    r"|At|In case)\b[^,;:]{8,140}), "
)
_REMARK = re.compile(
    r"(?:(?:Subject to|Notwithstanding|Except as|For the avoidance of doubt|Accordingly|In addition|Further(?:more)?"
    r"|However|Therefore|Nonetheless|Without limiting)\b[^,;:]{0,140}, ){1,3}"
)
"""Words before a clause that a question leaves out."""


_PARTY_NOUNS = words_of("""
    party parties counterparty firm recipient recipients discloser disclosers company customer customers supplier
    suppliers licensee licensor mentor mentors contractor provider user users client employee employer vendor buyer
    seller lessor lessee tenant landlord borrower lender bank processor controller owner agent member members
    participant participants consultant purchaser subscriber insurer insured trustee guarantor debtor creditor
    franchisee franchisor manager partner partners shareholder shareholders director directors officer applicant
    student university department agency city state institution investigator sponsor operator organiser organizer
    publisher author visitor guest
""")
"""Who acts in contracts and rules. A subject in capitals, such as a short name, acts, too."""
_MODALS = {"will": "will", "may": "may", "can": "can", "do": "do"}
"""How modal verbs are asked for; all others say that something must be done."""
_UNCLEAR = re.compile(
    r"\b(?:such|said|foregoing|following|above|below|aforesaid|hereof|thereof|herein|hereto|hereunder|thereto|therein"
    r"|it|they|them|these|those|same|he|she|him|her|otherwise|thereby|there|then|so|th(?:is|at) (?![A-Z])(?:information"
    r"|data|clause|section|paragraph|case|purpose|means|way|policy|period|request|date|obligation|information))\b"
)
"""Words that refer to another sentence."""
_UNFINISHED = words_of("""
    a an the of to in for by with and or at on from as that which who if any all its their his our your not be is are
    under into upon between including than without such no other only also both either whether but nor provided
    except unless pursuant because where when
""")
"""Words with which no whole phrase ends."""
_CUTS = (
    ". ",
    "; ",
    ": ",
    " (",
    ", provided",
    ", except",
    " except",
    ", including",
    " unless ",
    ", unless",
    ", which",
    ", but ",
    ", for example",
    " for example",
    ", for instance",
    " for instance",
)
_ENDS = " ,.;:-–"


@dataclass(frozen=True, kw_only=True, slots=True)
class ClauseSentence:
    """A sentence of a passage, `text[start:end]` there; `text` is without its number and heading, in one line."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Clause:
    """What somebody does, or what is done: `opening` is the condition or time before it, in small letters, or ''.

    `subject` has its article in small letters. `modal` is the verb by which it is asked for, `negation` "not" or ''.
    """

    opening: str
    subject: str
    modal: str
    negation: str
    does: str

    @property
    def is_acting(self) -> bool:
        """Whether the subject is a party, so that "what must it do?" can be asked."""
        return _is_party(self.subject) and not self.does.startswith(("be ", "need ", "have "))

    @property
    def is_named(self) -> bool:
        """Whether the subject answers "who": "we", "you" and "each party" do not say."""
        words = self.subject.casefold().split()
        return words[-1] not in ("we", "you") and words[0] not in ("each", "either", "any", "both", "all", "this")


def find_sentences(text: str) -> Iterator[ClauseSentence]:
    """Yields the sentences of a passage that are neither headings nor very long."""
    for start, end in split_sentences(text):
        said = _DEFINED.sub("", _SPACES.sub(" ", text[start:end]).strip())
        for pattern in (_ITEM, _HEADING, _BARE_HEADING, _ITEM):
            if begun := pattern.match(said):
                said = said[begun.end() :]
        if _SHORTEST <= len(said) <= _LONGEST and "__" not in said and "|" not in said:
            yield ClauseSentence(start=start, end=end, text=said)


def read_clause(sentence: str) -> Clause | None:
    """Returns what a sentence says that somebody or something must, may or will do; None if it is no clause."""
    remark = _REMARK.match(sentence)
    begin = remark.end() if remark else 0
    opening = _OPENING.match(sentence, begin)
    at = opening.end() if opening else begin
    found = _CLAUSE.match(sentence, at) or _HABIT.match(sentence, at)
    if found is None or not is_clear(found["party"].removeprefix("This ").removeprefix("this ")):
        return None
    does, modal = found["does"].rstrip(_ENDS), found.groupdict().get("modal", "do")
    if does.startswith(("and ", "or ", "to ", "at ", "not ", "be entitled ", "be deemed ")):
        return None
    subject, said = found["party"], opening["opening"] if opening else ""
    if subject.split()[0] in _SMALL:
        subject = subject[0].lower() + subject[1:]
    is_not = " not " in modal or bool(found.groupdict().get("not"))
    return Clause(
        opening=said[:1].lower() + said[1:],
        subject=subject,
        modal=_MODALS.get(modal, "must"),
        negation="not" if is_not else "",
        does=does,
    )


_SMALL = frozenset({"The", "Each", "Either", "Any", "Both", "All", "This", "You", "We"})


def _is_party(name: str) -> bool:
    last = name.rsplit(maxsplit=1)[-1]
    if last.casefold() in ("you", "we"):
        return True
    return last.casefold() in _PARTY_NOUNS or (last.isupper() and len(last) > 2)


def is_clear(phrase: str) -> bool:
    """Whether a phrase is understood alone: no word in it refers to another sentence."""
    return _UNCLEAR.search(phrase) is None


def shorten_phrase(phrase: str, most: int) -> str:
    """Returns a phrase up to its first full stop, bracket or restriction; '' if what is left is too long or no whole
    phrase.
    """
    ends = [at for cut in _CUTS if (at := phrase.find(cut, 12)) > 0]
    short = phrase[: min(ends, default=len(phrase))].rstrip(_ENDS)
    if len(short) > most:
        at = short.rfind(", ", 0, most)
        short = short[:at] if at > most // 3 else ""
    words = short.split()
    return short if words and words[-1].casefold() not in _UNFINISHED else ""
