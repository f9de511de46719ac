"""Whether a cited sentence says the opposite of an answer: "yes" over "is not permitted". No model is asked.

Texts are taken apart into clauses, and the negations of a clause are counted: two of them affirm ("nothing prevents").
It reads English, German and French. Where it is not sure, it finds no contradiction: an answer is lowered only over a
clause that has nearly all words of the question, and more of them than any clause that agrees with the answer.
"""

import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from functools import cached_property

from core.passage_context import split_units
from core.passage_context.windows import stems_of
from core.text.lead_in import split_lead_in

_LONGEST = 20_000
"""Characters of an answer or passage that are read."""
_MOST_WORDS = 60
"""Words of an answer whose sentences are compared. Longer answers quote and abridge too freely for it."""
_COVERED, _FULLY = 0.75, 0.9
"""The part of the words of a question, or of a sentence of an answer, that a clause which contradicts it must have."""
_BEFORE = 0.7
"""What a word counts that stands in an earlier clause of the sentence, or in the title: its clause may omit it."""
_FEWEST = 3
"""Words of a clause of an answer that is compared: shorter clauses have too little to be told by."""
_ROOT, _ALIKE = 5, 0.75
"""Letters, and the part of the longer word, that two forms of a word share: Untervermietung and untervermieten."""

_SAID = re.compile(
    r"\W{0,5}(?:(yes|ja|oui|sí|true|wahr|vrai)|(no|nein|non|false|falsch|faux))\b(?:\s{0,3}(?:$|[:,.;])|\s{1,3}[–—-]\s)\s{0,5}",
    re.IGNORECASE,
)
_NEUTRAL = re.compile(
    r"\b(?:no|not|nicht|pas) (?:later|earlier|sooner|less|more|fewer|longer|greater|higher|lower|only|merely|just"
    r"|solely|limited to|unreasonably|nur|bloß|lediglich|später|früher|weniger|mehr als|unbillig|grundlos|seulement)\b"
    r"|\bnot (?:to )?be unreasonably\b|\bwithout (?:limit(?:ation|ing)|restriction|prejudice|undue|unreasonable)\b"
    r"|, (?:and )?(?:not|nicht|non) (?:the|an?|by|to|for|der|die|das|den|vom|le|la|les) [^,;]{1,40},"
    r"|\b(?:no|not|nicht|pas) (?:unter|über|below|above|under|over)\b(?= ?[\d€$£])"
    r"|\b(?:if|or) not\b|\bno doubt\b|\bno\. ?\d|\boder nicht\b|\bohne Einschränkung\b|\bsans (?:préjudice|limit)"
    r"|\bou non\b",
    re.IGNORECASE,
)
"""Words with a negation that denies nothing."""
_NEGATION = re.compile(
    r"\b(?:not|cannot|never|no|none|nobody|nothing|neither"
    r"|nicht|kein(?:e[nmrs]?|erlei)?|nie|niemals|niemand(?:em|en)?|nichts|weder"
    r"|prohibit\w{0,4}|prohibition|forbid\w{0,4}|forbidden|disallow\w{0,2}|banned|barred|preclude\w?|prevent\w{0,3}"
    r"|refrain\w{0,3}|unlawful|inadmissible"
    r"|untersagt|verboten|verbietet|unzulässig|unstatthaft|ausgeschlossen|hindert|gehindert|interdit\w{0,2}|prohibé\w{0,2}"
    r"|défendue?s?)\b|n['’]t\b",
    re.IGNORECASE,
)
_NOR = re.compile(r"\b(?:nor|noch)\b", re.IGNORECASE)
_LIMITING = re.compile(r"\b(?:limit|restrict|affect|impair|beschränkt|einschränkt|berührt)\w{0,3}\b", re.IGNORECASE)
_NOTHING = re.compile(r"\b(?:nothing|no provision|nichts|keine Bestimmung|rien|aucune disposition)\b", re.IGNORECASE)
"""With it, what limits is denied: `nothing in this clause limits …`."""
_NE = re.compile(r"\b(?:ne |n['’])(?!t\b)", re.IGNORECASE)
_NE_QUE = re.compile(
    r"\b(?:ne |n['’])(?:(?!pas\b|jamais\b|aucune?\b)[\w'’-]{1,30} ){1,6}?(?:que |qu['’])", re.IGNORECASE
)
_NE_ALONE = re.compile(r"\b(?:jamais|aucune?s?|pas|nul(?:le)?)\b", re.IGNORECASE)
_PREFIXES = ("non", "un", "in", "im", "ir", "il")
_NON = re.compile(r"\b(?:non|nicht)-(?=\w)", re.IGNORECASE)

_MODAL = (
    r"(?:shall|may|must|can|cannot|will|is|are|was|were|does|do|has|have|should|would|could|darf|dürfen|kann|können|muss"
    r"|müssen|ist|sind|wird|werden|hat|haben|peut|peuvent|doit|doivent|est|sont)"
)
_EXCEPTION = (
    r"unless|except(?:ing)?|other than|save (?:for|that|as|where|with|in)|only (?:if|with|where|when|after)|außer"
    r"|ausser|es sei denn|nur (?:mit|wenn)|sauf|à moins|excepté"
)
_BREAKS = re.compile(
    rf"(?P<exception>\b(?:{_EXCEPTION})\b)"
    r"|(?P<without>\b(?:without|ohne|sans)\b)"
    r"|(?P<condition>\b(?:if|when|whenever|in case|provided that|as long as|whether(?: or not)?|regardless"
    r"|even (?:if|though)|falls|(?:auch |selbst )?wenn|ob|même si|sofern|soweit|solange|lorsque"
    r"|pourvu que)\b|(?:^|(?<=, ))(?:si|s['’]il)\b)"
    r"|(?P<clause>[;:]|\b(?:but|however|yet|whereas|while|although|because|so that|aber|jedoch|sondern|weil|mais"
    r"|alors que|parce que)\b"
    rf"|,? (?:and|or|nor|und|oder|et|ou) (?=(?:[\w'’-]{{1,30}} ){{0,4}}{_MODAL}\b)"
    r"|, (?=(?:not|nicht|et non|mais pas|which|who|whose|whom|der|die|das|den|dem|deren|dessen|dont|qui)\b))",
    re.IGNORECASE,
)
"""Where a sentence is taken apart."""
_LAST_VERB = re.compile(r"(?<= )[a-zäöüß]{2,30}[.!?]?$")
"""The verb that ends a German sentence, after a phrase such as `ohne Zustimmung`, belongs to the sentence."""
_LIMITED = re.compile(
    r"\b(?:only|solely|exclusively|nur|lediglich|ausschließlich|seulement|uniquement|que)\b", re.IGNORECASE
)
_DEGREE = re.compile(
    r"\d|\b(?:\w{2,12}er than|more|less|fewer|exceed|longer|earlier|later|before|after|only|all|any|every|each|always"
    r"|without|fully|mehr|länger|früher|später|nur|alle\w?|jede\w?|immer|ohne|vor|nach|plus|moins|avant|après|tous"
    r"|toutes?|sans|seul)\b",
    re.IGNORECASE,
)
"""Words of a question that a sentence may affirm in part: `no` is right of 9 months where 6 are permitted."""
_DENIED_DUTY = re.compile(
    r"\b(?:need not|needn['’]t|not (?:be )?(?:required|obliged|obligated|bound)|no obligation|muss nicht|müssen nicht"
    r"|nicht verpflichtet|pas (?:tenue?s?|obligée?s?))\b",
    re.IGNORECASE,
)
_DUTY = re.compile(
    r"\b(?:must|need|required?|requires?|obliged|obligated|obligation|have to|has to|muss|müssen|verpflichtet|doit"
    r"|doivent|tenue?s?|obligée?s?)\b",
    re.IGNORECASE,
)
_UNJUDGED = re.compile(r"\b(?:not|nicht|pas)\b|n['’]t\b|\bone\W{0,3}$", re.IGNORECASE)
"""A question that is negated, or that names what it asks of by a pronoun."""
OF_PERMISSION = stems_of(
    """
    permitted permit allowed allow authorised authorized entitled right able possible lawful admissible required obliged
    need needs needed shall gestattet erlaubt zulässig berechtigt möglich verpflichtet autorisé autorisés autorisée
    permis permise tenu possible prohibited prohibit forbidden forbid prevented prevent precluded barred banned refrain
    untersagt verboten ausgeschlossen interdit interdite interdits cannot never none either neither
    """
)
"""Words that say that something is permitted or not. Other words say what."""


@dataclass(frozen=True)
class _Clause:
    """A clause; `before` are stems of the title and of earlier clauses, and `excepted` stems of its exceptions."""

    text: str
    before: frozenset[str]
    excepted: frozenset[str]

    @cached_property
    def stems(self) -> frozenset[str]:
        return stems_of(self.text)

    @cached_property
    def negations(self) -> int:
        text = self.text
        count = sum(1 for _ in _NEGATION.finditer(text))
        only = sum(1 for _ in _NE_QUE.finditer(text))
        denied = sum(1 for _ in _NE.finditer(text)) - only
        count += max(0, denied) or (0 if only else bool(_NE_ALONE.search(text)))
        if _NOTHING.search(text):
            count += bool(_LIMITING.search(text))
        return count or bool(_NOR.match(text))

    def has_negative(self, stems: Set[str]) -> bool:
        """Whether a word of these stands with a prefix that negates it, and that they lack: `non-refundable`."""
        if not stems & {"non", "nicht"}:
            after = (self.text[found.end() :].split(maxsplit=1) for found in _NON.finditer(self.text))
            if any(stem in stems for words in after if words for stem in stems_of(words[0])):
                return True
        others = self.stems - stems
        return any(stem.startswith(prefix) and stem[len(prefix) :] in stems for stem in others for prefix in _PREFIXES)


@dataclass(frozen=True)
class _Claim:
    """What an answer says: that what has these words is so, or, if it `denies`, is not so. `given` are all words of
    question and answer, `needs` the part of the words that a clause must have to contradict it.
    """

    stems: frozenset[str]
    denies: bool
    given: frozenset[str]
    needs: float
    asks_of_degree: bool = False
    asks_of_duty: bool = False
    without: bool = False

    def cover(self, clause: _Clause) -> float:
        """Returns the part of the words that a clause has."""
        found = [
            1.0 if _has(clause.stems, stem) else _BEFORE if _has(clause.before | clause.excepted, stem) else 0.0
            for stem in self.stems
        ]
        return sum(found) / len(found) if 1.0 in found else 0.0

    def is_denied_by(self, clause: _Clause) -> bool | None:
        """Returns whether a clause says the opposite; None if that is not sure."""
        negated = (clause.negations + clause.has_negative(self.stems)) % 2 == 1
        if negated == self.denies:
            return False
        if (clause.excepted - clause.stems) & self.given and not self.without:
            return None
        if negated and not self.asks_of_duty and _DENIED_DUTY.search(clause.text):
            return None
        if self.denies and (self.asks_of_degree or clause.excepted or _LIMITED.search(clause.text)):
            return None
        return True


def find_contradiction(answer: str, question: str, evidence: Sequence[str]) -> str:
    """Returns the clause of the evidence that says the opposite of an answer (without markers); '' if none does.

    - Yes and no are compared with the clause that has most words of the question, and with their own reason.
    - Sentences of an answer of at most 60 words are compared with the clause that has nearly all of their words.
    - What an exception names may be so ("not without consent"): an answer with the words of the exception is right.
    - `evidence` are passages that begin with their title.
    """
    answer, evidence = answer[:_LONGEST], [text[:_LONGEST] for text in evidence]
    given = stems_of(answer) | stems_of(question)
    said = _SAID.match(answer)
    reason = answer[said.end() :] if said else answer
    cited = [clause for text in evidence for clause in _read_passage(text)]
    is_short = len(reason.split()) <= _MOST_WORDS
    if said and (claim := _claim_of(question, bool(said[2]), given)):
        own = list(_read(reason, frozenset())) if is_short else []
        if found := _find_denial(claim, own) or _find_denial(claim, cited):
            return found
    for claim in _claims_in(reason, given) if is_short else ():
        if found := _find_denial(claim, cited):
            return found
    return ""


def _claim_of(question: str, denies: bool, given: frozenset[str]) -> _Claim | None:
    """Returns what yes or no says; None if the question is negated itself, or has no words to be told by."""
    _, asked = split_lead_in(question)
    if _UNJUDGED.search(asked):
        return None
    clauses = list(_read(asked, frozenset()))
    stems = frozenset[str]().union(*(clause.stems for clause in clauses)) - OF_PERMISSION
    if not stems:
        return None
    negated = sum(clause.negations for clause in clauses) % 2 == 1
    return _Claim(
        stems=stems,
        denies=denies != negated,
        given=given,
        needs=_FULLY if denies else _COVERED,
        asks_of_degree=bool(_DEGREE.search(asked)),
        asks_of_duty=bool(_DUTY.search(asked)),
        without=bool(re.search(r"\b(?:without|ohne|sans)\b", asked, re.IGNORECASE)),
    )


def _claims_in(text: str, given: frozenset[str]) -> Iterator[_Claim]:
    for start, end in split_units(text):
        for clause in _read(text[start:end], frozenset()):
            stems = clause.stems - OF_PERMISSION
            if len(stems) >= _FEWEST and not clause.excepted:
                yield _Claim(stems=stems, denies=clause.negations % 2 == 1, given=given, needs=_FULLY)


def _find_denial(claim: _Claim, clauses: Sequence[_Clause]) -> str:
    """Returns the clause that denies a claim, if none that might affirm it has as many of its words."""
    denied, affirmed, text = 0.0, 0.0, ""
    for clause in clauses:
        covered = claim.cover(clause)
        if covered < claim.needs:
            continue
        if claim.is_denied_by(clause):
            if covered > denied:
                denied, text = covered, clause.text
        else:
            affirmed = max(affirmed, covered)
    return text.strip() if denied > affirmed else ""


def _read_passage(text: str) -> Iterator[_Clause]:
    title, _, body = text.partition("\n")
    yield from _read(body or title, stems_of(title) if body else frozenset())


def _read(text: str, title: frozenset[str]) -> Iterator[_Clause]:
    """Yields the clauses of each sentence that say something; what they say on a condition is left out."""
    for start, end in split_units(text):
        sentence = " ".join(_NEUTRAL.sub(" ", text[start:end]).split())
        clauses, excepted = _take_apart(sentence)
        before = title
        for clause in clauses:
            if clause.strip(" .,;:?!"):
                yield _Clause(clause, before, excepted)
                before |= stems_of(clause)


def _take_apart(sentence: str) -> tuple[list[str], frozenset[str]]:
    """Returns the clauses of a sentence without conditions and exceptions, and the stems of its exceptions."""
    clauses, excepted, at = [""], frozenset[str](), 0
    while found := _BREAKS.search(sentence, at):
        clauses[-1] += sentence[at : found.start()]
        if found.lastgroup == "clause":
            clauses.append("")
            at = found.end()
            continue
        begins = not sentence[: found.start()].strip() or sentence[: found.start()].endswith(", ")
        ends = ",;" if begins or found.lastgroup == "without" else ";"
        stop = _find_end(sentence, found.end(), ends)
        if found[0].casefold() == "ohne" and (verb := _LAST_VERB.search(sentence, found.end(), stop)):
            stop = verb.start()
        if found.lastgroup != "condition":
            excepted |= stems_of(sentence[found.end() : stop])
        if sentence[: found.start()].strip() and found.lastgroup == "exception":
            stop = _find_end(sentence, stop, ";")
            excepted |= stems_of(sentence[found.end() : stop])
        at = stop
    clauses[-1] += sentence[at:]
    return clauses, excepted


def _find_end(sentence: str, start: int, ends: str) -> int:
    return next((place for place in range(start, len(sentence)) if sentence[place] in ends), len(sentence))


def _has(stems: Set[str], wanted: str) -> bool:
    """Whether one of the stems is the wanted stem, or another form of the word."""
    return wanted in stems or (len(wanted) >= _ROOT and any(_are_forms(stem, wanted) for stem in stems))


def _are_forms(first: str, second: str) -> bool:
    if first[:_ROOT] != second[:_ROOT]:
        return False
    shared = next(
        (at for at, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), min(len(first), len(second))
    )
    return shared >= _ALIKE * max(len(first), len(second))
