"""How sentences and questions are worded: a sentence that refers to another place, and reasons, asked for or given.

Open it to teach `extractive` such words of English, German or French.
"""

import re
from dataclasses import dataclass

_FEWEST_WORDS = 3
_READ = 600
"""Characters of a sentence or question in which these words are looked for."""


def _any_of(phrases: str) -> str:
    """Returns the pattern of any of the phrases, which are separated by lines and semicolons."""
    found = (phrase.strip() for line in phrases.splitlines() for phrase in line.split(";"))
    return "(?:" + "|".join(phrase for phrase in found if phrase) + ")"


_PLACE = _any_of(r"""
    parts?;items?;notes?;sections?;articles?;clauses?;chapters?;paragraphs?;pages?;exhibits?;annex(?:es)?;appendi(?:x|ces)
    schedules?;tables?;footnotes?;forms?;reports?;headings?;captions?
    abschnitte?n?;ziffern?;kapiteln?;seiten?;artikeln?;anhang;anlagen?;anmerkungen?;absatz;nummer;§{1,2}
    pages?;chapitres?;alinéas?;annexes?;rubriques?;points?
""")
"""What a part of a text, or another text, is called."""
_INFORMATION = _any_of("""
    information;discussions?;descriptions?;details?;disclosures?;explanations?;summary;list
    informationen;angaben;einzelheiten;erläuterungen;beschreibung;informations;détails;précisions
""")
_REFERS = _any_of("""
    see;see also;refer to;also refer to;please see;please refer to;reference is made to;read
    siehe;siehe auch;vgl\\.;vergleiche;näheres (?:siehe|steht|finden);voir;voir aussi;se reporter à;se référer à
    reportez-vous à
""")
_TOLD = _any_of("""
    described;discussed;disclosed;set forth;set out;included;contained;presented;provided;summarized;incorporated
    listed;explained;referenced
""")
_SMALL = r"(?:\W{1,3}\w{1,15}){0,5}?\W{1,3}"
"""A few words: "in more detail in our", "of the"."""
_REFERENCE = re.compile(
    rf"\W{{0,4}}(?:(?:and|also|for example|und|et)\W{{1,3}})?{_REFERS}\b{_SMALL}(?-i:[A-ZÀ-Ý\d“\"„«§`\[])"
    rf"|\W{{0,4}}(?:for|additional|further|more|weitere|für|pour)\b(?:\W{{1,3}}\w{{1,15}}){{0,3}}?\W{{1,3}}{_INFORMATION}\b"
    rf".{{0,240}}?\b(?:{_REFERS}|(?:is|are|can be|may be) (?:{_TOLD}|found|available))\b"
    rf"|\W{{0,4}}{_INFORMATION}\b.{{0,200}}?\b(?:is|are|can be|may be) (?:{_TOLD}|found|available)\b",
    re.IGNORECASE | re.DOTALL,
)
"""How a sentence begins that refers: "See Note 4", "For a discussion of …, refer to", "Information on … is in"."""
_SUBJECT = _any_of("risks?;factors?;matters?;polic(?:y|ies);proceedings?;developments?;those")
_REFERRED = re.compile(
    rf"\b(?:is|are|was|were|been|{_SUBJECT}) (?:\w{{1,15}} )?{_TOLD}\s(?:\w{{1,15}}\s){{0,4}}?(?:in|under|at|within)\b"
    rf"{_SMALL}{_PLACE}\b\.?\s{{1,3}}(?:\d|[ivxlc]{{1,5}}\b|of\b)"
    rf"|\A\W{{0,4}}(?:the |this |our )?(?:following |accompanying )?{_PLACE}\b"
    r".{0,300}?\b(?:shows?|presents?|summarizes?|sets forth|provides?|lists?|details?|reconciles?|describes?)\b"
    r"|\A\W{0,4}(?:the |this )?following discussion\b|\A\W{0,4}we (?:discuss|describe)\b"
    r"|\A\W{0,4}(?:die |la |le )?(?:folgende\w{0,2} |nachstehende\w{0,2} )?(?:tabelle|übersicht|abbildung|tableau)"
    r".{0,40}?\b(?:zeigt|enthält|présente|montre|indique)\b"
    r"|\b(?:should|must|are to|is to) be (?:read|considered) (?:in conjunction|together)\b"
    r"|\b(?:sind|ist) (?:\w{1,20} ){0,4}?(?:zusammen|in verbindung) mit\b"
    r"|\bdoi(?:t|vent) être lue?s? (?:conjointement|avec)\b",
    re.IGNORECASE | re.DOTALL,
)
"""What refers in the middle: "… is described in Part II, Item 7A", "… should be read in conjunction with …"."""
_ASKS_FOR_PLACE = re.compile(rf"\b(?:where|wo|où)\b|\b(?:which|what|welche[mnrs]?|quelle?s?) {_PLACE}\b", re.IGNORECASE)

_EACH_OF = r"(?:each|every|each of (?:the|these|those)|jede[mnrs]?|chaque)"
_VERSION = (
    r"(?:\w{1,15}\s){0,2}?(?:reports?|filings?|versions?|editions?|releases?|10-[KQ]s?|Quartalsberichte?s?|Berichte?s?"
    r"|Version|Fassung|Ausgabe|rapport|édition)"
)
_PERIOD = r"(?:period|quarter|year|month|Quartal|Jahr|Zeitraum|trimestre|période|année|exercice)s?"
_EACH = re.compile(
    r"[,.;]?\s?(?:\b(?:please\s)?(?:list|show|tell|give|provide|break|split)\b[^.?!]{0,50}?\s)?"
    r"\b(?:(?:separately|individually|(?:a )?breakdown|broken down|down|aufgeschlüsselt|getrennt|séparément)\s"
    rf"(?:for|by|per|in|nach|für|je|pro|par|pour)\s(?:{_EACH_OF}\s)?(?:\w{{1,15}}\s){{0,2}}?(?:{_PERIOD}|{_VERSION})"
    rf"|(?:(?:in|for|of|by|from|across|für|aus|dans|pour)\s)?{_EACH_OF}\s"
    rf"(?:(?:reported|reporting|fiscal|berichtete[mnrs]?)\s{_PERIOD}|{_VERSION})"
    r"|(?:per|pro|je)\s(?:version|report|filing|edition|Bericht|Fassung|Ausgabe))\b",
    re.IGNORECASE,
)
"""What asks for an answer of each version: "in each report", "List this separately for each period". What
is due "each year" is due under one contract.
"""

_ASKS_FOR_REASON = re.compile(
    r"\b"
    + _any_of(r"""
    why\b;how come\b;reasons?\b;causes?\b;caused\b;factors?\b;drivers?\b;drove\b;contribut(?:ed|es?|ing|ors?)\b
    explains?\b;explained\b;led to\b;leads? to\b;due to what\b;accounts? for\b;driv(?:es|ing)\b
    how (?:do|does|did|has|have|is|are|was|were|will|would|might|could|can|may)\b.{0,160}?\b(?:affect|impact|influence)
    how .{0,160}?\b(?:affect|impact|influence)s?\b;what (?:role|part) (?:do|does|did|has|have)\b
    warum\b;weshalb\b;wieso\b;weswegen\b;wodurch\b;gr[üu]nde?n?\b;ursachen?\b;faktoren\b;auswirkung;woran liegt\b
    woran lag\b;wie (?:wirkt|wirken|wirkte|beeinfluss);führt(?:e|en)? zu\b
    pourquoi\b;raisons?\b;facteurs?\b;à quoi est dû;comment .{0,160}?\b(?:affect|influ|impact)
    qu['’]est-ce qui (?:a|explique)\b;quelles? (?:sont les )?(?:conséquence|cause)
    """),
    re.IGNORECASE,
)
_ASKS_FOR_CHANGE = re.compile(
    r"\b(?:what|which|any|how|summari[sz]e|describe|discuss)\b.{0,120}?"
    r"\b(?:changes\b|changed\b|(?:is|are|was|were) (?:different|new)\b|differs?\b|evolve|transformed\b)"
    r"|\b(?:was|welche[rs]?|wie|ob|gibt es)\b.{0,120}?\b(?:änderungen\b|(?:ver|ge)?ändert\b|(?:ist|sind) neu\b)"
    r"|\b(?:quel(?:le)?s?|qu['’]est-ce|comment|y a-t-il)\b.{0,120}?\b(?:changements\b|changé|modifi|évolué)",
    re.IGNORECASE | re.DOTALL,
)
_TELLS_CHANGE = re.compile(
    r"\b(?:no|not) (?:\w{1,14} ){0,2}chang(?:es?|ed)\b|\bchang(?:es|ed) (?:\w{1,14} ){0,3}(?:from|since|to)\b"
    r"|\b(?:adopted|revised|replaced|introduced|unchanged|increased|decreased|extended|reduced|amended|announced)\b"
    r"|\b(?:keine|wesentliche) (?:\w{1,20} ){0,2}änderung|\bgeändert\b|\bunverändert\b|\beingeführt\b|\bersetzt\b"
    r"|\baucun changement|\b(?:inchangé|modifié|remplacé|adopté|introduit)e?s?\b",
    re.IGNORECASE,
)
_POINTS_BACK = re.compile(
    r"(?:this|these|(?:the|such) (?:\w{1,12} )?(?:increase|decrease|decline|growth|change|difference|reduction|rise)s?"
    r"|dies(?:e[rs]?)?|(?:der|die) (?:anstieg|rückgang|erhöhung|verringerung|zunahme|abnahme|änderung|veränderung)"
    r"|cel(?:a|le)|ces?|cette|(?:la|le|l['’]) ?(?:hausse|baisse|augmentation|diminution|recul|variation))\s",
    re.IGNORECASE,
)
_LONGEST_HEADING = 120
_ENDS = (".", "!", "?", ";", ":", "…", ",", "。", ".)", "”", '"')
_GIVES_REASON = re.compile(
    r"\b"
    + _any_of(r"""
    , so (?:we|i|they|he|she|it|you|that we)\b
    because\b;due (?:\w{1,12} ){0,2}to\b;driven (?:\w{1,12} ){0,2}by\b;as a (?:\w{1,12} )?result of\b
    result(?:ed|ing|s)? (?:\w{1,12} ){0,2}(?:from|in)\b;attribut(?:able|ed) (?:\w{1,12} ){0,2}to\b;caused by\b
    reflect(?:s|ed|ing) (?:\w{1,12} ){0,2}(?:higher|lower|increas|decreas|strong|a|an|the)\b;owing to\b;offset by\b
    led to\b;leads to\b;contributed to\b;in response to\b;the reason\b;therefore\b;so that\b;in order to\b
    (?:adversely|negatively|positively|favorably|unfavorably|materially) (?:affect|impact)
    (?:un)?favou?rabl[ey] .{0,40}?\b(?:impact|effect)
    weil\b;aufgrund\b;auf grund\b;wegen\b;infolge\b;dadurch\b;deshalb\b;daher\b;denn\b;da\b;bedingt durch\b
    zurückzuführen\b;verursacht\b;damit\b
    parce qu;car\b;en raison d;du fait d;à cause d;grâce à;suite à;puisqu;afin d
    dues? à\b;dû à\b;dus à\b;c['’]est pourquoi\b
    """),
    re.IGNORECASE,
)
_LABELLED = re.compile(r"(?:[-*+•–·]\s)?[^\W\d_][^:\n]{0,60}:\s[^\n]{0,40}?\d")
_ASKS_FOR_CONSEQUENCE = re.compile(
    r"\bwhat (?:happens|will happen|would happen|if|does .{0,80}?\bif|must .{0,80}?\bif)\b|\bconsequences?\b"
    r"|\bwas (?:passiert|geschieht|gilt)\b|\bfolgen?\b.{0,40}?\b(?:hat|haben)\b"
    r"|\b(?:que|qu['’]est-ce qui) se passe\b|\bque se passe-t-il\b|\bconséquences?\b",
    re.IGNORECASE,
)
_CONDITION = _any_of(r"""
    if;unless;where;in case;in the event;provided that;wenn;falls;sofern;soweit;si;s['’]il;en cas;lorsqu
""")
_HAS_CONDITION = re.compile(rf"\b{_CONDITION}\b", re.IGNORECASE)
_STATES_CONDITION = re.compile(
    rf"\W{{0,4}}(?:{_CONDITION}\b|otherwise\b|failing (?:this|that|which)\b|in (?:that|this|such) (?:case|event)\b"
    r"|andernfalls\b|sonst\b|in diesem fall\b|sinon\b|à défaut\b|dans ce cas\b)",
    re.IGNORECASE,
)
_WHEN = re.compile(r"\W{0,4}when\b", re.IGNORECASE)
_EXCEPT = re.compile(r"\W{0,4}(?:unless|sofern nicht|soweit nicht)\b", re.IGNORECASE)
_CLAUSE = re.compile(r"[^,;:]{1,200}")
_CHOOSES_NOTHING = re.compile(
    r"\b(?:omitted|left out|left (?:empty|blank)|missing|absent|lacking|empty"
    r"|un(?:set|specified|defined)|null|nothing|no (?:value|argument|option|parameter|setting|number|such)"
    r"|not (?:been )?(?:set|given|specified|present|defined|provided|configured|supplied|used)"
    r"|(?:isn|aren|wasn)['’]t|nicht|fehlt|leer|keine?|omise?|absente?|n['’]est pas|non \w{1,20}|à défaut)\b",
    re.IGNORECASE,
)
"""A condition that nothing was chosen, which is what a default is for: "If omitted, the default is 5."."""
_SECOND_QUESTION = re.compile(
    r"\b(?:and|und|et)\s(?:(?:with|by|for|to|at|in|from|until|mit|für|bis|von|zu|avec|pour|à|de)\s)?"
    r"(?:what|which|when|how|who|whom|where|why|was|welche\w{0,2}|wann|wie|wer|wem|wo|warum"
    r"|qu(?:oi|and|i|els?|elles?)|comment|combien|où|pourquoi)\b",
    re.IGNORECASE,
)
_BACK = re.compile(
    r"\W{0,4}(?:it|they|this|these|those|she|he|such|the same|both|er|sie|es|dies(?:e[rs]?)?|beide"
    r"|ils?|elles?|cel(?:a|ui-ci)|ceux-ci|celles?-ci)\s",
    re.IGNORECASE,
)
_INSTEAD = re.compile(r"\b(?:instead|stattdessen|à la place)\b(?! (?:of|de|du)\b)", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True, slots=True)
class Wanted:
    """What a question asks for that is known by the wording of sentences: a `reason` or an effect, a `change`."""

    reason: bool = False
    change: bool = False


def is_reference(sentence: str) -> bool:
    """Returns whether a sentence only says where something stands: "Refer to Note 13 for legal proceedings."."""
    start = sentence[:_READ]
    return _REFERENCE.match(start) is not None or _REFERRED.search(start) is not None


def is_labelled(text: str) -> bool:
    """Returns whether a text is a number with its label: `Damage: EUR 5`."""
    return _LABELLED.match(text) is not None


def asks_for_place(question: str) -> bool:
    """Returns whether a question asks where something stands, so that a sentence that refers there answers it."""
    return _ASKS_FOR_PLACE.search(question[:_READ]) is not None


def asks_for_each(question: str) -> bool:
    """Returns whether a question wants an answer of each period, report or version: "What does each version say …"."""
    return _EACH.search(question[:_READ]) is not None


_OUTLOOKS = re.compile(
    r"\b(?:outlook|guidance|forecasts?|expectations?|Ausblick|Prognosen?|Erwartung(?:en)?|prévisions?|perspectives)\b",
    re.IGNORECASE,
)
_GOES = re.compile(
    r"\b(?:how|wie|comment)\b[^?.]{0,120}\b(?:changed?|develop(?:ed)?|evolved?|move[d]?|shift(?:ed)?|revised"
    r"|verändert|geändert|entwickelt|entwickelten?|veränderten?|änderten?|évolué|changé)\b",
    re.IGNORECASE,
)


def asks_for_outlooks(question: str) -> bool:
    """Returns whether a question asks how an outlook changed, which each report tells in a sentence of its own."""
    text = question[:_READ]
    return _OUTLOOKS.search(text) is not None and _GOES.search(text) is not None


_AHEAD = re.compile(
    r"\b(?:outlook|guidance|forecasts?|expect|expected|expects|plan|planned|target|budget|will|ausblick|prognosen?"
    r"|erwartet|erwarten|wird|werden|prévisions?|prévu|attendu)\b",
    re.IGNORECASE,
)


def speaks_of_outlook(text: str) -> bool:
    """Returns whether a question or a sentence is about what lies ahead, which reports before tell."""
    return _AHEAD.search(text) is not None


_GROWTH = re.compile(
    r"\b(?:increas|decreas|chang|declin|drop|r[io]se\b|risen|gr[eo]w|fall|fell\b|gestiegen|gesunken|gewachsen|anstieg"
    r"|rückgang|zunahme|abnahme|veränder|wachs|wuchs|augment|baiss|hausse|évol|croissance)",
    re.IGNORECASE,
)


def speaks_of_growth(text: str) -> bool:
    """Returns whether a question or a sentence is about how much something grew or fell."""
    return _GROWTH.search(text[:_READ]) is not None


_LEFT = re.compile(
    r"\b(?:how (?:much|many)|what)\b[^?]{1,120}\bleft\b(?=\W{0,3}\Z|\s(?:under|on|in|of|from|to|at|for|unused)\b)",
    re.IGNORECASE,
)


def asks_what_is_left(question: str) -> bool:
    """Returns whether a question asks what remains of something, for which texts have other words."""
    return _LEFT.search(question[:_READ]) is not None


_STATES_OUTLOOK = re.compile(
    r"\b(?:expects?|anticipat\w{1,4}|project(?:s|ed)|estimates?|targets?|plans?|erwarte[nt]|rechne[nt]|attend)\b",
    re.IGNORECASE,
)


def names_outlook(question: str) -> bool:
    """Returns whether a question asks for an outlook that was given, and calls it so."""
    return _OUTLOOKS.search(question[:_READ]) is not None


def states_outlook(sentence: str) -> bool:
    """Returns whether a sentence says what is expected, or calls it an outlook."""
    text = sentence[:_READ]
    return _STATES_OUTLOOK.search(text) is not None or _OUTLOOKS.search(text) is not None


def leave_out_each(question: str) -> str:
    """Returns a question without the words that ask for each version, which are no evidence in any of them."""
    found = _EACH.search(question[:_READ])
    if found is None:
        return question
    rest = (
        " ".join(f"{question[: found.start()]} {question[found.end() :]}".split())
        .replace(" ?", "?")
        .replace("? .", "?")
    )
    return rest if len(rest.split()) >= _FEWEST_WORDS else question


def find_wanted(question: str) -> Wanted:
    """Returns what a question asks for: "Why …", "What factors …", "How does … affect …", "What changes …"."""
    asked = question[:_READ]
    return Wanted(reason=_ASKS_FOR_REASON.search(asked) is not None, change=_ASKS_FOR_CHANGE.search(asked) is not None)


def gives(wanted: Wanted, sentence: str) -> bool:
    """Returns whether a sentence gives a reason ("due primarily to", "weil") or tells of a change, as it is wanted."""
    start = sentence[:_READ]
    return (wanted.reason and _GIVES_REASON.search(start) is not None) or (
        wanted.change and _TELLS_CHANGE.search(start) is not None
    )


def explains_last(sentence: str) -> bool:
    """Returns whether a sentence gives the reason of what the sentence before it says: "The decrease was due to …"."""
    return _POINTS_BACK.match(sentence) is not None and gives(Wanted(reason=True), sentence)


_FOLLOWS = re.compile(
    r"(?:so|therefore|thus|hence|accordingly|consequently|for this reason|that is why|as a result|deshalb|daher|darum"
    r"|somit|also|folglich|aus diesem grund|donc|c['’]est pourquoi|par conséquent)\b(?! (?:far|long|much|many)\b)",
    re.IGNORECASE,
)


def follows_from(sentence: str) -> bool:
    """Returns whether a sentence begins as what follows from the sentence before it: "So …", "Deshalb …"."""
    return _FOLLOWS.match(sentence) is not None


_OWNED = re.compile(
    r"\b(?:what|which|was|welche[rs]?|quelle?|wie)\s(?:is|are|was|were|ist|sind|war|lautet|lauten|est|sont)"
    r"\s(?:the |der |die |das |le |la )?(?P<head>[^\s,?]{2,30}(?:\s[^\s,?]{2,30}){0,3}?)"
    r"\s(?:of|des|der|von|vom|du|de la|de)\s(?:the |a |an |our |dem |der |einer |eines )?"
    r"(?P<owner>(?!(?:by|in|for|from|that|which|on|at|with|and)\s)[^\s,?]{2,30}"
    r"(?:\s(?!(?:by|in|for|from|that|which|on|at|with|and)\b|\w{3,30}ed\b)[^\s,?]{2,30}){0,2})",
    re.IGNORECASE,
)


def split_owned(question: str) -> tuple[str, str]:
    """Returns what a question asks for and of what, as in "What is the serial number of the torque wrench calibrated by
    Metravo?": `serial number`, `torque wrench`; twice "" if it does not ask so.
    """
    found = _OWNED.search(question[:_READ])
    return (found["head"], found["owner"]) if found else ("", "")


def asks_for_consequence(question: str) -> bool:
    """Returns whether a question asks what follows from something: "What happens if …"."""
    return _ASKS_FOR_CONSEQUENCE.search(question[:_READ]) is not None


def has_condition(sentence: str) -> bool:
    """Returns whether a sentence says on which condition something holds."""
    return _HAS_CONDITION.search(sentence[:_READ]) is not None


def states_condition(sentence: str) -> bool:
    """Returns whether a sentence begins with a condition: "If …", "Otherwise …"."""
    return _STATES_CONDITION.match(sentence) is not None


def find_condition(sentence: str) -> str:
    """Returns the condition that a sentence begins with, without what follows: "If it is 0", "When it is 0"; "" if
    there is none, or if it is an exception: "Unless …".
    """
    begins = states_condition(sentence) or _WHEN.match(sentence) is not None
    found = _CLAUSE.match(sentence) if begins and not _EXCEPT.match(sentence) else None
    return found[0] if found else ""


def chooses_nothing(condition: str) -> bool:
    """Returns whether a condition is that nothing was chosen: "If omitted"."""
    return _CHOOSES_NOTHING.search(condition) is not None


def find_second_question(question: str) -> str:
    """Returns the second of two questions: "with what notice?" of "Can it be ended, and with what notice?"; "" if there
    is one question.
    """
    found = _SECOND_QUESTION.search(question[:_READ])
    return question[found.start() : _READ] if found else ""


def points_back(sentence: str) -> bool:
    """Returns whether a sentence begins with what the sentence before it names: "It …"."""
    return _BACK.match(sentence) is not None


def sets_instead(sentence: str) -> bool:
    """Returns whether a sentence tells what takes the place of what the sentence before it ends: "… instead"."""
    return _INSTEAD.search(sentence[:_READ]) is not None


def is_sentence(text: str) -> bool:
    """Returns whether a text is no heading: it is long, an item of a list, or ends as a sentence does."""
    return len(text) > _LONGEST_HEADING or text.endswith(_ENDS) or not text[0].isalnum()
