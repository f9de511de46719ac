"""Words of a question that say of whom or of what it is asked, and how, and nothing of the answer.

`What was revenue, as stated in its latest 10-Q?` asks for revenue, and `Does the agreement mention that fees may rise?`
asks whether fees may rise. All passages of the report or the agreement fit the other words. English, German, French.
"""

import re

_READ = 600
"""Characters of a question in which these words are looked for."""
_FEWEST_WORDS = 2
"""Words that a question keeps at least."""

_TOLD = (
    r"(?:described|discussed|disclosed|set forth|set out|included|contained|presented|provided|summarized|incorporated"
    r"|listed|explained|referenced|reported|stated|revealed|mentioned|detailed|shown|given|outlined|highlighted)"
)
_REPORT = (
    r"(?:(?:annual|quarterly|interim|half-yearly?|financial)\s)?"
    r"(?:(?:10-?[KQ]s?|20-F|8-K)(?:\s(?:reports?|filings?))?|reports?|filings?)"
    r"|(?:Quartals|Jahres|Halbjahres|Geschäfts)berichte?n?s?|rapports?(?:\s(?:annuel|trimestriel|semestriel)s?)?"
)
_WHICH = (
    r"(?:(?:the|its|their|this|these|those|our|most recent|latest|newest|last|recent|[^\W\d_][\w.&-]{0,30}['’]s?|of"
    r"|(?:Q[1-4]|(?:first|second|third|fourth)[ -]quarter)|(?:fiscal\s)?(?:19|20)\d\d"
    r"|der|die|dem|des|den|diese[mnrs]?|letzten|jüngsten|neuesten|le|la|les|ce|ces|dernier|son)\s){1,5}"
)
"""Words before a report that say which report is meant."""
_OF_REPORT = (
    re.compile(
        rf"\A(?:in|from|for|within|based on|im|in der|aus|dans|selon)\s{_WHICH}(?:{_REPORT})\s?,\s", re.IGNORECASE
    ),
    re.compile(
        rf",?\s(?:(?:as\s)?{_TOLD}\s)?(?:in|by|from|within|im|in|aus|dans)\s{_WHICH}(?:{_REPORT})\b", re.IGNORECASE
    ),
)
"""What names the report that a question is asked of: "In its Q1 2023 10-Q, …", "… as stated in the latest report"."""

_DOCUMENT = (
    r"(?:(?:the|this|that|their|its|your|our|das|der|die|dieses?r?|le|la|l['’]|ce|cet|cette)\s?"
    r"(?:document|agreement|contract|policy|report|filing|10-?[KQ]|text|clause|lease|licen[cs]e|manual|handbook|guide|NDA"
    r"|Dokument|Vereinbarung|Vertrag|Richtlinie|Bericht|Handbuch|Lizenz|accord|contrat|rapport|politique|manuel))"
)
_TELL = (
    r"(?:state|mention|indicate|specify|say|note|disclose|report|describe|discuss|address|identify|outline|stipulate"
    r"|tell(?: us)?)\b(?!\s(?:to|on time)\b)"
)
_TELLS_OF = r"(?:\s(?:that|whether|if|anything about|something about|about)\b)?"
_CLAUSE_IN = (
    r"(?:(?:include|contain|have|provide(?: for)?)\s(?:a|an|any)\s(?:clauses?|provisions?|statements?)"
    r"\s(?:that|which|about|on|under which)\b)"
)
_NO_NAME = r"(?!\s(?:of|with|between|for|by|von|mit|zwischen|de[rs]?|entre)\b)"
"""Behind a document: no name of it follows, as in `the lease of Halden`."""
_TELLS = re.compile(
    rf"\b(?P<before>(?:does|do|did)\s){_DOCUMENT}{_NO_NAME}\s"
    rf"(?:(?:also|explicitly|expressly)\s)?(?:{_TELL}{_TELLS_OF}|{_CLAUSE_IN})"
    rf"|\b(?P<has>(?:has|have)\s){_DOCUMENT}{_NO_NAME}\s(?:reported|disclosed|mentioned|stated|described)\b"
    rf"|(?<!was\s)\b(?:nennt|erwähnt|sagt|besagt|regelt|enthält)\s{_DOCUMENT}{_NO_NAME}"
    r"(?:\s(?:etwas (?:zu|über)|eine (?:Klausel|Regelung)))?(?:,?\s(?:dass|ob)\b)?"
    rf"|\best-ce que\s{_DOCUMENT}{_NO_NAME}\s(?:mentionne|précise|indique|prévoit|dit)\b(?:\s(?:que|si)\b)?",
    re.IGNORECASE,
)
"""Asks what a document tells: `Does the agreement state that …`."""
_ASKS_DOCUMENT = re.compile(rf"(?<!what\s)\b(?P<before>(?:does|do|did)\s){_DOCUMENT}{_NO_NAME}\s", re.IGNORECASE)
"""Asks something else of a document, `Does the policy allow …`: the verb stays."""
_NAME = r"(?-i:[A-ZÀ-Ý][\w&.-]{0,30})(?:\s(?-i:[A-ZÀ-Ý][\w&.-]{0,30})){0,3}"
_ASKS_NAMED = re.compile(
    rf"\b(?P<before>(?:does|do|did)\s{_NAME}\s)(?:report|disclose|mention)(?=\sany\b)"
    rf"|\b(?P<has>(?:has|have)\s{_NAME}\s)(?:reported|disclosed|mentioned)(?=\sany\b)",
    re.IGNORECASE,
)
"""Asks a company of what it reports: `Did Norwick disclose any …`."""
_IS_TOLD = re.compile(
    r"(?P<before>\b(?:is|are|was|were)\sthere\s[^?;]{1,120}?)\s(?:as\s)?(?:reported|disclosed|mentioned|described)"
    r"(?=\s(?:by|in|for)\b|\s?\?)",
    re.IGNORECASE,
)
"""Asks what is told: `Were there any acquisitions reported by Norwick?`."""
_ANY = re.compile(r"\bany\b", re.IGNORECASE)
_PATTERNS = (_TELLS, _ASKS_DOCUMENT, _ASKS_NAMED, _IS_TOLD)


def find_report_words(question: str) -> re.Match[str] | None:
    """Returns the words of a question that only name the report that it is asked of: all of its passages fit them."""
    return next((found for pattern in _OF_REPORT if (found := pattern.search(question[:_READ]))), None)


def asks_what_is_told(question: str) -> bool:
    """Returns whether a question asks what a document tells, or a company in a report that it names. If the passages do
    not speak of that, the answer is no.
    """
    start = question[:_READ]
    if _TELLS.search(start) is not None:
        return True
    asks_company = _ASKS_NAMED.search(start) is not None or _IS_TOLD.search(start) is not None
    return asks_company or (find_report_words(start) is not None and _ANY.search(start) is not None)


def leave_out_asking(question: str) -> str:
    """Returns a question without the words that say that a document says something. The words of names stay."""
    start, behind = question[:_READ], question[_READ:]
    for pattern in _PATTERNS:
        start = pattern.sub(_keep_before, start, count=1)
    if f"{start}{behind}" == question:
        return question
    rest = " ".join(f"{start}{behind}".split())
    return rest if len(rest.split()) >= _FEWEST_WORDS else question


def _keep_before(found: re.Match[str]) -> str:
    parts = found.groupdict()
    return parts.get("before") or parts.get("has") or ""
