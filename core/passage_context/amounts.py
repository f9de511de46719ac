"""Numbers that name no part of a document: "EUR 500", "aged 16"; and bounds: "grade 7 and higher".

A number that is an amount names nothing. A bound names a part, but what is within the bound is of no other part: grade
9 is "grade 7 and higher". Open it for a word that was taken for the name of a part, or a further way to write a bound.
"""

import re


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_AMOUNTS = _words("""
    eur usd gbp chf jpy cad aud nzd sek nok dkk pln czk huf inr cny brl euro euros dollar dollars franken pfund pound
    pounds franc francs cent cents yen rupees
    amount amounts value sum total price cost costs age weight betrag wert summe preis kosten alter gewicht montant
    somme prix valeur âge poids
    above below over under exceed exceeds exceeding about around nearly almost least most until till before after
    between within only aged costing weighing earning totalling totaling numbering reaching paying lasting measuring
    averaging including during using having being
    übersteigt beträgt betragen kostet wiegt erreicht mindestens höchstens etwa rund circa knapp unter über zwischen
    binnen dépasse dépassant coûte pèse atteint environ entre moins plus jusque
""")
"""Words before an amount: currencies, what is measured, and words that go before any number."""
_PARTICIPLE = re.compile(r"[^\W\d_]{2,20}[^\W\d_e]ed")
_UNIT_BEHIND = re.compile(
    r"[ \xa0]?(?:[%‰€$£¥°]|(?:eur|usd|gbp|chf|euros?|dollars?|franken|pfund|pounds?|francs?|cents?|percent|prozent"
    r"|tsd|mio|mrd|thousand|millions?|billions?|tausend|millionen|milliarden"
    r"|seconds?|minutes?|hours?|days?|weeks?|months?|years?|sekunden?|minuten?|stunden?|tage?n?|wochen?|monate?n?|jahre?n?"
    r"|secondes?|heures?|jours?|semaines?|mois|ans?|années?"
    r"|[kcm]?m|[km]?g|km/h|[mc]?l|[kmg]?w|[kmgt]?wh|[kmgt]b|[kmg]?hz|litres?|liters?|met(?:re|er)s?|kilos?|tonn?e?s?)(?!\w))",
    re.IGNORECASE,
)
_BOUND_BEFORE = re.compile(
    r"(?<!\w)(?:above|below|beyond|exceed(?:s|ing)?|up to|at (?:least|most)|(?:more|less|fewer|higher|lower|older"
    r"|younger|greater|later|earlier) than|bis|ab|mindestens|höchstens|oberhalb|unterhalb"
    r"|(?:mehr|weniger|höher|älter|jünger) als|au (?:moins|plus|delà)|(?:plus|moins) d[eu]|à partir d[eu]"
    r"|jusqu['’](?:à|au)|(?:supérieur|inférieur)e?s? (?:à|au))"
    r"(?:\s[^\W\d_]{1,20}){0,4}\s\Z",
    re.IGNORECASE,
)
_BOUND_BEHIND = re.compile(
    r"(?:\s[^\W\d_]{1,20})?(?:\s?\+|\s(?:(?:and|or|und|oder|et|ou)\s(?:more|less|fewer|higher|lower|above|below|over|under"
    r"|up|upwards?|down|beyond|older|younger|later|earlier|greater|longer|mehr|weniger|höher|niedriger|älter|jünger|später"
    r"|früher|länger|darüber|darunter|plus|moins|au-delà|supérieure?s?|inférieure?s?|suivante?s?)|onwards?|upwards?"
    r"|aufwärts|au-delà)(?!\w))",
    re.IGNORECASE,
)
_WINDOW = 120
"""Characters before a part in which a bound is looked for."""


def is_before_amount(word: str) -> bool:
    """Returns whether a word, in small letters, goes before numbers that are no signs."""
    return word in _AMOUNTS or _PARTICIPLE.fullmatch(word) is not None


def has_unit_behind(text: str, end: int) -> bool:
    """Returns whether a unit of measure or a currency stands behind the number that ends at `end`."""
    return _UNIT_BEHIND.match(text, end) is not None


def is_bound(text: str, start: int, end: int) -> bool:
    """Returns whether the words around a part, which is text[start:end], make its sign the end of a range."""
    return _BOUND_BEHIND.match(text, end) is not None or (
        _BOUND_BEFORE.search(text[max(start - _WINDOW, 0) : start]) is not None
    )
