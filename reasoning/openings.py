"""Which names the opening of an agreement defines, and as what: `Daniel Okonjo (the “Employee”)`.

Open it to teach forms of openings: what follows "between", tables and lists of parties, letters with "you".
"""

import re
from collections.abc import Iterator

Definitions = frozenset[tuple[frozenset[str], str]]
"""The words of each name, and the term for it with its article."""
YOU, WE = "you", "we"
"""What an agreement in the form of a letter calls its parties."""

_READ = 4000
"""Characters of a passage in which definitions are looked for."""
_FEWEST_DEFINITIONS = 2
"""Definitions of a passage that make it the opening of an agreement: a report may define `the “Company”`, too."""
_LONGEST_NAME = 300
"""Characters before a definition in which the name stands, with its address."""

_DEFINITION = re.compile(
    r"(?:[(\[]|\b(?:hereinafter|hereafter|referred to as|called|known as|designated as|nachfolgend|folgenden"
    r"|ci-après)\b)"
    r"[^()\[\]\"“”„«»‘\n]{0,40}?(?:\b(?P<before>the|der|die|das|le|la)\s)?"
    r"[\"“„«‘]\s?[*_]{0,3}(?:(?P<article>the|der|die|das|le|la) |l['’])?"
    r"(?P<term>[A-ZÀ-ÖØ-Þ][\w-]{1,30}(?: [A-ZÀ-ÖØ-Þ][\w-]{1,30}){0,2})[*_]{0,3}\s?[\"“”»’]",
    re.IGNORECASE,
)
_LETTER = re.compile(r"\([\"“](?:you|we)[\"”]", re.IGNORECASE)
_LAST_NAME = re.compile(r"(?<!\S)(?:[A-ZÀ-ÖØ-Þ][\w.&'’-]{0,30}+(?:,?\s|\Z)){1,9}\Z")
"""The name at the end of a sentence of a letter: "We are pleased to confirm the terms on which Marn LLC"."""
_SALUTATION = re.compile(r"^Dear (?P<name>[^\n:,]{2,60})[:,]?$", re.MULTILINE)
_TITLES = frozenset({"Mr", "Mrs", "Ms", "Mx", "Dr", "Prof", "Sir", "Madam"})
_PAIRS = (
    (frozenset({"landlord", "lessor"}), frozenset({"tenant", "lessee"})),
    (frozenset({"employer"}), frozenset({"employee", "executive"})),
    (
        frozenset({"supplier", "vendor", "seller", "licensor", "licenser", "provider", "service provider"}),
        frozenset({"customer", "client", "buyer", "purchaser", "licensee"}),
    ),
    (frozenset({"client", "customer"}), frozenset({"consultant", "contractor", "agent", "adviser"})),
    (frozenset({"lender"}), frozenset({"borrower"})),
    (frozenset({"vermieter", "vermieterin", "verpächter"}), frozenset({"mieter", "mieterin", "pächter"})),
    (frozenset({"arbeitgeber", "arbeitgeberin"}), frozenset({"arbeitnehmer", "arbeitnehmerin"})),
    (
        frozenset({"auftragnehmer", "auftragnehmerin", "verkäufer", "verkäuferin"}),
        frozenset({"auftraggeber", "auftraggeberin", "käufer", "käuferin"}),
    ),
    (frozenset({"bailleur", "bailleresse"}), frozenset({"locataire", "preneur", "preneuse"})),
    (frozenset({"employeur"}), frozenset({"salarié", "salariée"})),
    (frozenset({"vendeur", "prestataire"}), frozenset({"acheteur", "acquéreur", "client"})),
)
"""Roles, and the roles of the other party, whom a letter addresses as "you"."""
_MOST_NAMES = 2
"""Names that one role of an agreement has."""
_ENGLISH_ROLE = re.compile(
    r"landlord|lessor|tenant|lessee|employer|employee|executive|supplier|vendor|seller|licen[cs][eo]r"
    r"|(?:service )?provider"
    r"|customer|client|buyer|purchaser|licensee|consultant|contractor|agent|adviser|lender|borrower"
)
_FRENCH_ROLE = re.compile(
    r"bailleur|bailleresse|locataire|preneu(?:r|se)|employeur|salariée?|vendeur|prestataire|acheteur|acquéreur"
)
_ROLES = (
    rf"(?:{_ENGLISH_ROLE.pattern}|(?:vermieter|mieter|arbeitgeber|arbeitnehmer|auftraggeber|auftragnehmer|käufer"
    rf"|verkäufer)(?:in)?|verpächter|pächter|{_FRENCH_ROLE.pattern})"
)
_ROLE_ALONE = re.compile(_ROLES, re.IGNORECASE)
_ROLE_ROW = re.compile(
    rf"^(?:[#*|]{{1,4}} ?)?(?:(?:the|der|die|das|le|la) |l['’])?(?P<role>{_ROLES})[*_]{{0,2}} ?[:|][*_]{{0,2}}"
    r"[ \t]{1,4}(?P<name>\w[^|\n]{1,300}?)(?: ?\|)?$"
    rf"|^(?:\| )?(?:[^|\n]{{1,12}} \| )?(?P<holder>\w[^|:\n]{{1,120}}) \| (?:the )?(?P<last>{_ROLES})(?: \|)?$",
    re.IGNORECASE | re.MULTILINE,
)
"""A line `THE TENANT: MARN PLC (company number 9)`, or a row `Tenant | Marn plc` or `2 | Marn plc | Tenant`."""
_FOREIGN = re.compile(r"nachfolgend|folgenden|ci-après", re.IGNORECASE)
_BETWEEN = re.compile(
    r"(?:\b(?:between|among|parties|zwischen|entre)\b|^by\b"
    r"|\b(?:made|entered|given|granted|agreed|undertaking|agreement|deed|contract|lease)\b"
    r"(?:(?!between|represented|acting)[^.\n]){0,60}?\bby\b)[\s:*_]{1,6}",
    re.IGNORECASE | re.MULTILINE,
)
_NUMBER = re.compile(r"\((?:\d{1,2}|[a-z])\)")
_LONGEST_PARTY = 9
"""Words of the name of a party, with "and" and its form of address. More are several names."""
_NAME_ENDS = re.compile(
    r"[,(]|\b(?:represented by|acting (?:by|through)|vertreten durch|représentée? par|born|geboren|née?|whose|having"
    r"|with|residing|located|registered|wohnhaft|mit Sitz|demeurant|dont)\b|\bof (?=\d)"
    r"|\ba (?:company|corporation|partnership)\b",
    re.IGNORECASE,
)
"""What follows the name of a party: its address, its form, and who acts for it."""
_BREAK = re.compile(r"\n\s?\n|(?<!\d)(?<!\b[A-ZÀ-ÖØ-Þ])[.;] (?=[A-ZÀ-ÖØ-Þ])")
"""What parts a name from what is before it. An initial, as in "L. Robert Johnson", does not."""
_OF_PARTY_BEFORE = re.compile(r"(?!(?:and|und|et)\s)[a-zß-ÿ]\w*\s")
_NEXT_PARTY = (
    re.compile(r"[,;]\s+(?:and|und|et)\s+(?=[A-ZÀ-ÖØ-Þ])"),
    re.compile(r"\s(?:and|und|et)\s+(?=[A-ZÀ-ÖØ-Þ])"),
)
"""What a party stands behind, if its part of the sentence begins with what is told of the party before it: "(“Marn”), a
company of 5 Elm Hill, and Tor Vik". A comma before it is surer: an address may have "Main and Elm".
"""
WORD = re.compile(r"[\w&-]+")


def read_words(text: str) -> frozenset[str]:
    """Returns the words of a text; `HALDEN` counts as `Halden`."""
    return frozenset(word.capitalize() if word.isupper() else word for word in WORD.findall(text))


def read_definitions(passage: str) -> Definitions:
    """Returns the names that a passage defines as the opening of an agreement; none if it is no opening."""
    text = passage[:_READ]
    listed = _list_roles(text)
    defined = frozenset(_list_definitions(text))
    named = frozenset(definition for definition in defined if definition[1])
    return listed | named if listed or len(defined) >= _FEWEST_DEFINITIONS else frozenset()


def opens(sentence: str, definitions: Definitions) -> bool:
    """Returns whether a sentence of a passage with these definitions tells between whom an agreement is made."""
    if not definitions or not _BETWEEN.search(sentence[:_READ]):
        return False
    words = read_words(sentence[:_READ])
    return any(name <= words for name, _ in definitions)


def _list_definitions(text: str) -> Iterator[tuple[frozenset[str], str]]:
    """Yields the words of the name before each definition of the opening of an agreement, and the term with its
    article; "" for a term that is a part of the name. The address behind a name is no part of it.
    """
    between = _BETWEEN.search(text)
    is_letter = between is None and _LETTER.search(text) is not None
    begin = between.end() if between else 0
    for definition in _DEFINITION.finditer(text, begin) if between or is_letter else ():
        before = text[max(begin, definition.start() - _LONGEST_NAME) : definition.start()]
        parts = [part.lstrip(' ,;)*_\n–-”’"“') for part in _BREAK.split(_NUMBER.sub(" ", before))]
        part = next((part for part in reversed(parts) if WORD.search(part)), "")
        begin = definition.end()
        term = definition["term"].casefold() if definition["term"].casefold() in (YOU, WE) else definition["term"]
        found = _LAST_NAME.search(part) if is_letter else None
        words = read_words(found[0] if found else _cut_name(part))
        if is_letter and term == YOU:
            yield _read_addressee(text), YOU
        if term in (YOU, WE):
            yield words, term
        elif term[0].isupper() and len(words) <= _LONGEST_PARTY:
            article = definition["article"] or definition["before"] or ("" if _FOREIGN.search(definition[0]) else "the")
            yield words, f"{article} {term}".strip() if words.isdisjoint(read_words(term)) else ""


def _cut_name(text: str) -> str:
    """Returns the name of a party without what is told of the party before, and without its own address."""
    if _OF_PARTY_BEFORE.match(text):
        behind = next((found.end() for pattern in _NEXT_PARTY if (found := pattern.search(text))), 0)
        text = text[behind:]
    return _NAME_ENDS.split(text, maxsplit=1)[0]


def _read_addressee(text: str) -> frozenset[str]:
    """Returns the words of the name in the salutation of a letter, with those of the line above that has it."""
    salutation = _SALUTATION.search(text)
    if salutation is None:
        return frozenset()
    name = read_words(salutation["name"]) - _TITLES
    lines = [read_words(line) - _TITLES for line in text[: salutation.start()].splitlines()]
    return next((line for line in lines if name <= line and len(line) <= _LONGEST_PARTY), name)


def _list_roles(text: str) -> Definitions:
    """Returns the names in a list or a table of parties, `THE TENANT: MARN PLC`, `1 | Marn plc | Tenant`, with their
    roles; none if the counterpart of a role is missing, or if a role has many names, as in a table of people.
    """
    found: dict[str, list[str]] = {}
    for row in _ROLE_ROW.finditer(text):
        role, name = (row["role"], row["name"]) if row["role"] else (row["last"], row["holder"])
        if not _ROLE_ALONE.fullmatch(name.strip()):
            found.setdefault(role.casefold(), []).append(name)
    pairs = [(ours, theirs) for ours, theirs in _PAIRS if not found.keys().isdisjoint(ours | theirs)]
    sides = [(found.keys() & ours, found.keys() & theirs) for ours, theirs in pairs]
    if not any(ours and theirs for ours, theirs in sides) or max(map(len, found.values())) > _MOST_NAMES:
        return frozenset()
    return frozenset(
        (read_words(_cut_name(name)), f"{_find_article(role)}{role.title()}")
        for role, names in found.items()
        for name in names
        if not _DEFINITION.search(name)
    )


def _find_article(role: str) -> str:
    if _ENGLISH_ROLE.fullmatch(role):
        return "the "
    if _FRENCH_ROLE.fullmatch(role):
        return "l'" if role[0] in "ae" else "la " if role.endswith(("se", "ée", "sse")) else "le "
    return "die " if role.endswith("in") else "der "


def find_pronoun(term: str) -> str:
    """Returns what a letter calls the party with this role: "you" or "we"; "" for other terms."""
    role = term.removeprefix("the ").casefold()
    return next((YOU if role in theirs else WE for ours, theirs in _PAIRS if role in ours | theirs), "")
