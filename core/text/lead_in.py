"""The lead-in of a question: the words before it that say which document or thing it is about.

`Consider the lease of Halden; may the tenant sublet?` asks whether the tenant may sublet.
"""

import re

__all__ = ["split_lead_in"]

_LONGEST = 1000
"""Characters of a question in which a lead-in is looked for: a longer one tells a story."""
_ASKING = (
    r"(?:is|are|was|were|do|does|did|has|have|had|can|could|may|must|will|would|should|shall|who|whom|whose|what|when"
    r"|where|why|how|ist|sind|war|waren|hat|haben|hatte|hatten|kann|können|wird|werden|darf|dürfen|muss|müssen|gibt|wer"
    r"|wem|wen|wessen|was|wann|wo|woher|wohin|warum|wie|welche[nmrs]?|est-ce|est-elle|est-il|a-t-il|a-t-elle|qui|quand"
    r"|où|quel(?:le)?s?|combien|pourquoi|comment|es|son|está|hay|quién(?:es)?|qué|cuándo|dónde|cuánt[oa]s?|cómo)\b"
)
_BEGINS = re.compile(rf"¿?{_ASKING}", re.IGNORECASE)
_AFTER_SIGN = re.compile(rf"[;:.]\s+(?=¿?(?:which|{_ASKING}))", re.IGNORECASE)
_AFTER_COMMA = re.compile(rf",\s+(?=¿?{_ASKING})", re.IGNORECASE)
_LEADS = re.compile(
    r"(?:consider(?:ing)?|regarding|concerning|according to|with (?:regard|respect) to|as (?:for|to|per)|about|in|under"
    r"|for|given|per|from|see|laut|gemäß|nach|im|in der|zu|zum|zur|betreffend|bezüglich"
    r"|selon|d['’]après|concernant|dans|pour|según|respecto (?:a|de)|en|para)\s",
    re.IGNORECASE,
)
"""How a lead-in begins that only a comma parts from the question, and what is none of its names."""


def split_lead_in(question: str) -> tuple[str, str]:
    """Returns the lead-in, without the word that introduces it, and the question after it; ('', question) if it has no
    lead-in.
    """
    text = question.strip()
    if len(text) > _LONGEST or _BEGINS.match(text):
        return "", question
    leads = _LEADS.match(text)
    parted = _AFTER_SIGN.search(text) or (_AFTER_COMMA.search(text) if leads else None)
    if parted is None:
        return "", question
    return text[leads.end() if leads else 0 : parted.start()], text[parted.end() :]
