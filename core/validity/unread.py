"""Whether an amendment may change more than was read: whether each other sentence of it is known to change nothing.

Known are headings, the opening with its parties and days, and that all else remains as it was. Open it to teach such
sentences; whatever is not known here may be a change.
"""

import re
from collections.abc import Iterator, Sequence

from core.validity.changes import ClauseChange, list_sentences
from core.validity.headed import find_name
from core.validity.written_dates import leave_out_dates

_VERB = re.compile(
    r"\b(?:is|are|was|were|has|have|shall|will|must|(?-i:may)|pays?|wird|werden|ist|sind|hat|muss|soll|zahlt|est|sont"
    r"|doit|paie|(?:set|raise|lower|replace|delete|add|extend|waive|reduce|increase|grant|change|end|double)s)\b|[€$£%]",
    re.IGNORECASE,
)
"""What headings have not, and the opening of an amendment once: "is entered into"."""
_TITLE = re.compile(
    r"[#*_ ]{0,6}(?:\w{1,20} )?(?:amendment|addendum|deed of variation|nachtrag|avenant)\b[^.!?;:\n]{0,100}",
    re.IGNORECASE,
)
_OPENING = re.compile(
    r"(?:this|dieser|diese|dieses|le présent|cet) (?:\w{1,20} )?(?:amendment|addendum|nachtrag|\w{0,20}vereinbarung"
    r"|avenant)\b.{1,200}?\b(?:made|entered into|between|zwischen|geschlossen|conclu|entre)\b",
    re.IGNORECASE,
)
_ALL_ELSE = re.compile(
    r"(?:(?:except|save) as|otherwise|all (?:of the )?other|the (?:other|remaining|rest)|im übrigen"
    r"|(?:alle|die) übrigen|(?:toutes )?les autres)\b(?P<between>[^;:\d]{1,200})\b(?:unchanged"
    r"|in (?:full )?force(?: and effect)?|unverändert|unberührt|bestehen|in kraft|inchangée?s|en vigueur)[\s.*_]{0,8}",
    re.IGNORECASE,
)
_REMAINS = re.compile(r"\b(?:remains?|continues?|bleib(?:t|en)|rest(?:e|ent)|demeurent)\b", re.IGNORECASE)
_SHALL = re.compile(r"\bshall (?=remain|continue)", re.IGNORECASE)
_NUMBER = re.compile(r"\b(?:no\.?|nr\.?|n°) ?\d{1,3}\b", re.IGNORECASE)
"""Of an amendment, whose title has no other full stop, and whose opening has other numbers in its dates alone."""
_WORDS_OF_HEADING = 4
_WORDS_BEFORE_SENTENCE = 3


def says_more(text: str, changes: Sequence[ClauseChange]) -> bool:
    """Returns whether a passage of an amendment has a sentence that may change something, beside those of the changes
    that were read in it.
    """
    return any(not _is_formal(text, start, end) for start, end in _leave_out(text, changes))


def _leave_out(text: str, changes: Sequence[ClauseChange]) -> Iterator[tuple[int, int]]:
    """Yields where the sentences, or what is left of them, begin and end that are of no change."""
    spans = sorted((change.start, change.start + len(change.text)) for change in changes)
    for start, end in list_sentences(text):
        at = start
        for begun, ended in spans:
            if begun < end and ended > at:
                yield at, max(at, begun)
                at = ended
        yield at, max(at, end)


def _is_formal(text: str, start: int, end: int) -> bool:
    said = " ".join(text[start:end].split())
    if not any(letter.isalnum() for letter in said) or _is_title(said) or _is_heading(text, start, end):
        return True
    all_else = _ALL_ELSE.fullmatch(said)
    if all_else is not None:
        between = _SHALL.sub("", all_else["between"])
        return _REMAINS.search(between) is not None and _VERB.search(between) is None
    if _OPENING.match(said) is None or len(_VERB.findall(said)) > 1:
        return False
    return not any(letter.isdigit() for letter in leave_out_dates(_NUMBER.sub("", said))[0])


def _is_heading(text: str, start: int, end: int) -> bool:
    """Returns whether a line is the heading of what follows, or is such a heading before a sentence in its line."""
    line, following = text[start:end], text[end:].lstrip().partition("\n")[0].strip()
    is_before_sentence = "\n" not in line and line.endswith(" ")
    name = find_name(line if is_before_sentence else line.strip())
    most = _WORDS_BEFORE_SENTENCE if is_before_sentence else _WORDS_OF_HEADING
    is_short = 0 < len(name.split()) <= most and not any(letter.isdigit() for letter in name)
    return is_short and not _VERB.search(name) and bool(following) and not find_name(following)


def _is_title(line: str) -> bool:
    return _TITLE.fullmatch(_NUMBER.sub("", line)) is not None and _VERB.search(line) is None
