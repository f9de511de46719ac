"""Questions without the name of the column that tells their answer: "Who reports to Bo?" asks for the rows with Bo in
the column of managers, "To whom does Ada report?" for the manager in the row of Ada, and "How heavy is P-3?" for the
weight in the row of P-3.
"""

import re

_LONGEST = 400
"""Characters of a question; a longer question tells a story."""
_PEOPLE = r"(?:people|persons?|employees?|staff(?: members)?|workers?|colleagues?|team members|subordinates)"
_WHOM = r"(?P<whom>[^?]{2,80}?)"
_END = r"\s?\??\s?\Z"
_DIRECTLY = r"(?:directly |currently |still ){0,2}"
_MANAGED = (
    re.compile(
        rf"\A(?P<head>how many) (?:(?:direct |line )reports|subordinates) (?:does|do|did) {_WHOM}"
        rf"(?: currently)? have{_END}",
        re.IGNORECASE,
    ),
    re.compile(
        rf"\A(?P<head>how many) (?:of the |of our )?{_PEOPLE} (?:does|do|did) {_WHOM} (?:manage|supervise|lead){_END}",
        re.IGNORECASE,
    ),
    re.compile(
        rf"\A(?P<head>how many|which|what) (?:of the |of our )?{_PEOPLE} {_DIRECTLY}"
        rf"(?:reports?|reported|reporting) {_DIRECTLY}to {_WHOM}{_END}",
        re.IGNORECASE,
    ),
    re.compile(
        rf"\A(?P<head>how many|which|what) (?:of the |of our )?{_PEOPLE} (?:are|is|were) {_DIRECTLY}"
        rf"(?:managed|supervised|led) by {_WHOM}{_END}",
        re.IGNORECASE,
    ),
    re.compile(
        rf"\A(?P<head>who)(?: all)? {_DIRECTLY}(?:reports?|reported) {_DIRECTLY}to {_WHOM}{_END}", re.IGNORECASE
    ),
    re.compile(
        rf"\A(?P<head>who) (?:is|are) (?:{_DIRECTLY})?(?:managed|supervised|led) by {_WHOM}{_END}", re.IGNORECASE
    ),
    re.compile(
        rf"\A(?P<head>who) (?:is|are) (?:the )?(?:direct |line )(?:reports?|subordinates?) of {_WHOM}{_END}",
        re.IGNORECASE,
    ),
)
"""Questions for the rows of which somebody is the manager."""
_VERWALTET = (
    re.compile(
        rf"\A(?P<head>wie ?viele) (?:Mitarbeiter(?:innen|innen und Mitarbeiter)?|Mitarbeitende|Personen|Leute"
        rf"|Beschäftigte|Angestellte) berichten (?:direkt )?an {_WHOM}{_END}",
        re.IGNORECASE,
    ),
    re.compile(rf"\A(?P<head>wer) berichtet (?:direkt )?an {_WHOM}{_END}", re.IGNORECASE),
)
_MANAGERS = (
    re.compile(rf"\A(?:to )?whom? (?:does|do|did) {_WHOM} {_DIRECTLY}report{_END}", re.IGNORECASE),
    re.compile(rf"\A(?:to )?whom? (?:does|do|did) {_WHOM} {_DIRECTLY}report {_DIRECTLY}to{_END}", re.IGNORECASE),
    re.compile(rf"\Awho (?:manages|supervises) {_WHOM}{_END}", re.IGNORECASE),
    re.compile(rf"\Awho (?:is|was) {_WHOM}['’]s? (?:line |direct )?(?:manager|boss|supervisor){_END}", re.IGNORECASE),
)
"""Questions for the manager of one row."""
_AN_WEN = re.compile(rf"\Aan wen berichtet {_WHOM}(?: direkt)?{_END}", re.IGNORECASE)
_AS = re.compile(
    r"\b(?:as|als|comme)\s(?:(?:a|an|the|their|his|her|its|direct|der|die|den|ihren?|seinen?|le|la|leur|son|sa)\s){0,2}\Z"
)


_KINDS = {
    "price": "expensive teuer cost costs kostet kosten coûte coûtent",
    "weight": "heavy schwer weigh weighs wiegt wiegen pèse pèsent",
    "size": "long lang",
    "width": "wide breit",
    "depth": "deep tief",
    "height": "tall high hoch",
    "thickness": "thick dick",
    "speed": "fast schnell",
    "noise": "loud noisy laut",
}
"""Words that ask for a measure, by the names of columns (`column_words`) that they mean."""
_THING = r"(?:the |our |an? |de[nmr] |die |das |eine?[nmr]? |une? |l[ea] |l['’])?(?P<thing>[^?,;]{2,80}?)"
_MEASURED = (
    re.compile(rf"\Ahow (?P<word>[a-z]{{3,9}}) (?:is|are|was|were) {_THING}{_END}", re.IGNORECASE),
    re.compile(rf"\A(?:how much|what) (?:does|do|did) {_THING} (?P<word>cost|weigh){_END}", re.IGNORECASE),
    re.compile(rf"\Awie (?P<word>[a-zäöü]{{3,7}}) (?:ist|sind|war) {_THING}{_END}", re.IGNORECASE),
    re.compile(rf"\A(?:was|wie ?viel) (?P<word>kostet|kosten|wiegt|wiegen) {_THING}{_END}", re.IGNORECASE),
    re.compile(rf"\Acombien (?P<word>coûte|coûtent|pèse|pèsent) {_THING}{_END}", re.IGNORECASE),
)
_VALUED = re.compile(rf"\Ahow much (?:is|are) {_THING}{_END}", re.IGNORECASE)
_ASKS_FOR_NEW = re.compile(
    r"\A\W{0,3}(?=[^?]{0,160}\b(?:19|20)\d\d\b)"
    r"(?:who|how many|which|what|wer|wie ?viele|welche|qui|combien de|quels?)\b"
    r"[^?]{0,60}?\b(?:joined|hired|started|employed|begann(?:en)?|eingestellt|eingetreten|embauchée?s?|entrée?s?)\b",
    re.IGNORECASE,
)
_OF_LIST = {
    "w": "Mitarbeiter Liste Name Position Eintritt Vorgesetzter",
    "q": "liste du personnel nom poste date d'embauche",
}
_LIST = "staff list employee name position manager start date"


def find_list_query(question: str) -> str:
    """Returns the words by which a list of persons is found that a question about them needs, behind the question:
    "Who joined in 2024?" has no word of a list. '' for any other question.
    """
    if len(question) > _LONGEST:
        return ""
    text = question.strip()
    if (measured := find_measured(text)) and _VALUED.match(text) is None:
        return f"What is the {measured[0]} of {text[slice(*measured[1])]}?"
    if _ASKS_FOR_NEW.match(text) is None and say_as_columns(text) == text:
        return ""
    is_english = text[:3].lower() in {"who", "how", "whi", "wha", "to "}
    return f"{text} {_LIST if is_english else _OF_LIST.get(text[:1].lower(), _LIST)}"


def say_as_columns(question: str) -> str:
    """Returns the question in words that columns have: "Who has Bo as manager?", "Who is the manager of Ada?"."""
    text = question.strip()
    if len(text) > _LONGEST:
        return question
    for pattern in _MANAGED:
        if found := pattern.match(text):
            head = found["head"]
            has = f"{head} has" if head.lower() == "who" else f"{head} rows have"
            return f"{has} {found['whom']} as manager?"
    for pattern in _VERWALTET:
        if found := pattern.match(text):
            has = "Wer hat" if found["head"].lower() == "wer" else "Wie viele Zeilen haben"
            return f"{has} {found['whom']} als Vorgesetzten?"
    if found := _AN_WEN.match(text):
        return f"Wer ist der Vorgesetzte von {found['whom']}?"
    found = next((found for pattern in _MANAGERS if (found := pattern.match(text))), None)
    return f"Who is the manager of {found['whom']}?" if found else question


def find_measured(text: str) -> tuple[str, tuple[int, int]] | None:
    """Returns which measure of one thing a question asks for by an adjective or a verb, and where the thing stands;
    None for any other question.
    """
    if len(text) > _LONGEST:
        return None
    if found := _VALUED.match(text):
        return "price", found.span("thing")
    found = next((found for pattern in _MEASURED if (found := pattern.match(text))), None)
    words = _KINDS.items() if found else ()
    kind = next((kind for kind, said in words if found and found["word"].casefold() in said.split()), "")
    return (kind, found.span("thing")) if found and kind else None


def is_assigned(text: str, start: int) -> bool:
    """Returns whether the word at `start` says what somebody is to the rows: "have Bo as their manager"."""
    return _AS.search(text[:start]) is not None
