"""The words of a question that say which document or thing it is about: its lead-in, or a document named within it.

`Consider the lease of Halden; may the tenant sublet?` asks whether the tenant may sublet, and `What does the lease of
Halden say about pets?` asks for pets. `Are fees refundable under the Halden lease?` names the lease at its end.
"""

import re
from dataclasses import dataclass

_LONGEST = 1000
"""Lead-ins are looked for in questions of at most this many characters: a longer question tells a story."""
_ASKING = (
    r"(?:is|are|was|were|do|does|did|has|have|had|can|could|may|must|will|would|should|shall|who|whom|whose|what|when"
    r"|where|why|how|ist|sind|war|waren|hat|haben|hatte|hatten|kann|können|wird|werden|darf|dürfen|muss|müssen|gibt|wer"
    r"|wem|wen|wessen|was|wann|wo|woher|wohin|warum|wie|welche[nmrs]?|est-ce|est-elle|est-il|a-t-il|a-t-elle|qui|quand"
    r"|où|quel(?:le)?s?|combien|pourquoi|comment|es|son|está|hay|quién(?:es)?|qué|cuándo|dónde|cuánt[oa]s?|cómo)\b"
)
_BEGINS = re.compile(rf"¿?{_ASKING}", re.IGNORECASE)
_ASKS = re.compile(rf"¿?(?:which|{_ASKING})", re.IGNORECASE)
_AFTER_SIGN = re.compile(rf"[;:.]\s+(?=¿?(?:which|{_ASKING}))", re.IGNORECASE)
_SHORTENED = frozenset(
    ["mr", "mrs", "ms", "mx", "dr", "prof", "st", "hr", "fr", "nr", "vs", "al", "inc", "ltd", "corp", "co", "sr", "sra"]
)
"""Words that end with a dot within a sentence, as single letters do."""
_FEWEST_WORDS = 3
"""The fewest words of a sentence before the question. Fewer words are a name, or part of a name."""
_RELATIVE = re.compile(r"(?:who|whom|whose|which|when|where|wo|wer|qui|où|quién(?:es)?)\b", re.IGNORECASE)
"""How a clause about the thing before it may begin, like a question."""
_SEMICOLON = re.compile(r";\s+(?=\S)")
_AFTER_COMMA = re.compile(rf",\s+(?=¿?{_ASKING})", re.IGNORECASE)
_LEADS = re.compile(
    r"(?:consider(?:ing)?|regarding|concerning|according to|with (?:regard|respect) to|as (?:for|to|per)|about|in|under"
    r"|for|given|per|from|see|laut|gemäß|nach|im|in der|zu|zum|zur|betreffend|bezüglich"
    r"|selon|d['’]après|concernant|dans|pour|según|respecto (?:a|de)|en|para)\s",
    re.IGNORECASE,
)
"""Words that begin a lead-in before a comma. They are no part of its names."""
_WHAT_SAYS = re.compile(
    r"(?:what do(?:es)?|was (?:sagt|sagen|steht(?= i[nm]\b))|que (?:dit|disent)|qué dicen?)\s+", re.IGNORECASE
)
_ABOUT = re.compile(
    r"\s(?:(?:say|state|provide|tell us)\s+(?:about|on|regarding|concerning)|zur|zum|zu|über|sur|à propos de|sobre)\s+",
    re.IGNORECASE,
)
"""What stands before and after the lead-in of `What does the lease of Halden say about pets?`."""
_KIND = (
    r"(?:(?:agreement|contract|licen[cs]e|policy|charter|constitution|handbook|manual|lease|guidelines|bylaws|by-laws"
    r"|EULA|NDA|governance|code of conduct|terms (?:of|and) \w{1,12})\b)"
)
_SMALL = (
    r"(?:a|an|and|are|as|at|by|can|do|does|for|from|i|if|in|is|it|may|must|of|on|or|that|the|to|under|what|which|who"
    r"|will|with|you)\b"
)
_BEFORE = r"(?:,?\s(?:according to|as per|as stated in|per|under|in|of|by|from|laut|gemäß|nach|selon|d['’]après|dans))?"
_WITHIN = re.compile(
    rf"{_BEFORE}\s(?P<en>(?:the\s(?=[A-Z0-9])|(?:(?:Mr|Mrs|Ms|Mx|Dr)\.?\s)?(?=[A-Z][\w&-]{{1,30}}['’]s?\s))"
    rf"(?:(?!{_SMALL})[\w.&'’-]{{1,30}}\s){{1,6}}?(?i:{_KIND}(?:\s(?:agreement|document))?))"
    rf"|{_BEFORE}\s(?P<de>(?:d(?:er|ie|as|en|em|es)|dieser)\s(?:[A-ZÄÖÜ][\w-]{{1,30}}\s){{1,5}}"
    r"(?:Lizenz|Vertrags?|Vereinbarung|Satzung|Richtlinie|Handbuchs?)\b)"
    rf"|{_BEFORE}\s(?P<fr>(?:la|le|l['’])\s?(?:licence|contrat|convention|politique|accord|charte|règlement)"
    r"(?:\s(?:de|du|des|la))?(?:\s[A-Z0-9][\w.-]{0,30}){1,4})"
)
"""A document that a question names by a name and its kind, `the Halden lease`, and the preposition before it."""
_PARTY = r"[A-ZÀ-ÖØ-Þ0-9][\w.&'’-]{0,30}(?:\s[A-ZÀ-ÖØ-Þ0-9][\w.&'’-]{0,30}){0,4}"
_OF_PARTIES = re.compile(
    rf"{_BEFORE}\s(?P<of>(?:the|our|their|his|her)\s(?:(?!{_SMALL})[\w-]{{1,30}}\s){{0,4}}?(?i:{_KIND})"
    rf"(?:\sof\s\d{{1,2}}\s[A-Z][a-z]{{2,8}}\s\d{{4}})?"
    rf"\s(?:between\s{_PARTY}\sand\s{_PARTY}|with\s{_PARTY}))"
)
"""A document that a question names by its kind and its parties, `the NDA between Halden and Storvik`."""
_AT_END = re.compile(
    r",?\s(?:according to|as per|laut|gemäß|selon|d['’]après)\s(?P<named>[^,;:?]{3,80})(?=[\s?.]*\Z)", re.IGNORECASE
)
_JOINED_TO = re.compile(
    r"(?:\b(?:between|zwischen|entre)|[A-ZÄÖÜ0-9][\w.&'’-]{0,30}(?:,?\s(?:and|or|und|oder|et|ou)|\svs\.?))\Z"
)
_JOINED_WITH = re.compile(
    r",?\s(?:and|or|und|oder|et|ou|vs\.?)\s(?:(?:the|d(?:er|ie|as|en|em|es)|la|le)\s|l['’])?"
    rf"(?:[A-ZÄÖÜ0-9]|(?i:{_KIND}))"
)
"""What stands before and behind a document that is named together with another one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Naming:
    """What a question is about (`named`), what it asks about that (`rest`), and where in the question the words begin
    that are no part of the rest (`left_out`).
    """

    named: str
    rest: str
    left_out: range


def find_naming(question: str) -> Naming | None:
    """Returns what the lead-in of a question names; without a lead-in, the document that the question names within or
    at its end by its kind and a name or its parties. None if it names none, or several: each of them may answer.
    """
    lead_in, rest = split_lead_in(question)
    if lead_in:
        return Naming(named=lead_in, rest=rest, left_out=range(find_rest(question)))
    if len(question) > _LONGEST:
        return None
    of_parties = list(_OF_PARTIES.finditer(question))
    within = [
        match
        for match in _WITHIN.finditer(question)
        if all(match.end() <= other.start() or match.start() >= other.end() for other in of_parties)
    ]
    if of_parties:
        start, end = of_parties[0].span()
        is_joined = _JOINED_TO.search(question, 0, start) or _JOINED_WITH.match(question, end)
        return None if within or is_joined or len(of_parties) > 1 else _leave_out(question, of_parties[0])
    found = _AT_END.search(question) or next(iter(within), None)
    if found is None or len({match[match.lastgroup or 0].casefold() for match in within}) > 1:
        return None
    if any(_JOINED_TO.search(question, 0, name.start()) or _JOINED_WITH.match(question, name.end()) for name in within):
        return None
    return _leave_out(question, found)


def _leave_out(question: str, found: re.Match[str]) -> Naming:
    start, end = found.span()
    return Naming(named=found[found.lastgroup or 0], rest=question[:start] + question[end:], left_out=range(start, end))


def split_lead_in(question: str) -> tuple[str, str]:
    """Returns the lead-in, without the word that introduces it, and the question after it; ('', question) if it has no
    lead-in.
    """
    text = question.strip()
    if len(text) <= _LONGEST and (says := _WHAT_SAYS.match(text)) and (about := _ABOUT.search(text, says.end())):
        return text[says.end() : about.start()], text[about.end() :]
    if len(text) > _LONGEST or _BEGINS.match(text):
        return "", question
    leads = _find_lead(text)
    parted = _find_sign(text) or ((_SEMICOLON.search(text) or _find_comma(text)) if leads else None)
    if parted is None:
        return "", question
    return text[leads.end() if leads else 0 : parted.start()], text[parted.end() :]


def find_rest(question: str) -> int:
    """Returns where the question after the lead-in begins, 0 without a lead-in."""
    lead_in, rest = split_lead_in(question)
    return len(question.rstrip()) - len(rest) if lead_in else 0


def _find_lead(text: str) -> re.Match[str] | None:
    """Returns the words that begin a lead-in. Before a word that asks, they are a part of a name or of the question:
    `For Whom the Bell Tolls`, `In which year`.
    """
    leads = _LEADS.match(text)
    return None if leads is None or _ASKS.match(text, leads.end()) else leads


def _find_sign(text: str) -> re.Match[str] | None:
    """Returns the first sign before a question. A dot may also belong to a short form of a word (`Mr. Will Smith`)."""
    return next((sign for sign in _AFTER_SIGN.finditer(text) if sign[0][0] != "." or _ends_sentence(text, sign)), None)


def _ends_sentence(text: str, dot: re.Match[str]) -> bool:
    words = text[: dot.start()].split()
    last = words[-1].rpartition(".")[2].lower() if words else ""
    return len(words) >= _FEWEST_WORDS and len(last) > 1 and last not in _SHORTENED


def _find_comma(text: str) -> re.Match[str] | None:
    """Returns the first comma before a question. A comma before `who` is skipped if there is a later comma, as it
    begins a clause about what the lead-in names: `According to Alice, who was born in Paris, is Bob dead?`.
    """
    commas = list(_AFTER_COMMA.finditer(text))
    return next((comma for comma in commas if not _RELATIVE.match(text, comma.end())), commas[-1] if commas else None)
