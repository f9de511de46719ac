"""Answers that say that there is none, in whatever words. English, German, French and Spanish."""

import re

__all__ = ["is_abstention"]

_SOURCE = "(?:passages?|contexts?|texts?|documents?|sources?|quotes?|article)"
_GIVEN = (
    "(?:stated|specified|mentioned|given|provided|available|known|found|listed|disclosed|clear|answered|determined)"
)
_DO_NOT = "(?:do|does|did)(?: not|n['’]?t)"
_SAY = "(?:say|state|mention|provide|contain|specify|answer|give|include|indicate|tell|list)"
_BEGINNINGS = (
    "i (?:do not|don['’]?t) know",
    "i(?: am|['’]?m) not sure(?=$| (?:about|how|if|what|when|where|whether|which|who|why)(?!\\w))",
    "i (?:have no|(?:do not|don['’]?t) have(?: any| enough)?) (?:information|knowledge|idea)",
    "i (?:cannot|can['’]?t|am unable to|am not able to) (?:answer|determine|find|say)",
    "(?:the answer is )?(?:unknown|unbekannt|inconnue?|desconocid[oa])(?=$| (?:from|in|based|to)(?!\\w))",
    "n ?/ ?a",
    f"not (?:explicitly |directly )?{_GIVEN}",
    rf"(?:it|this|that|the [\w ]{{1,60}}?) (?:is|was|are|were) not (?:explicitly |directly )?{_GIVEN}",
    rf"(?:(?:it|this|that|the [\w ]{{1,60}}?) )?cannot be {_GIVEN}",
    f"(?:the )?(?:provided |given )?{_SOURCE} (?:provided |given )?{_DO_NOT} (?:explicitly |directly )?{_SAY}",
    "(?:there is )?(?:no|insufficient|not enough) (?:such )?(?:information|mention|answer)",
    "ich wei(?:ß|ss) (?:es |das )?(?:leider )?nicht",
    "(?:das|es) wei(?:ß|ss) ich (?:leider )?nicht",
    "nicht (?:angegeben|bekannt|genannt|erwähnt|bestimmbar)",
    "keine (?:angaben?|informationen?)",
    "je ne sais pas",
    "non (?:précisé|mentionné|indiqué|spécifié)e?",
    "aucune information",
    "no (?:lo )?sé",
    "no se (?:sabe|menciona|indica|especifica)",
)
_SPACED = "|".join(_BEGINNINGS).replace(" ", r"\s+").replace(r"\s+?", r"\s*")
_ABSTENTION = re.compile(rf"(?:{_SPACED})(?!\w)", re.IGNORECASE)
_AND_YET = re.compile(r"\b(?:but|however|although|yet|aber|jedoch|mais|cependant|pero|sin embargo)\b|;", re.IGNORECASE)
_APOLOGY = re.compile(
    r"(?:(?:i am|i['’]?m) )?sorry\b[,.:;]? (?:but )?|leider |(?:je suis )?désolée?[,.:;]? (?:mais )?"
    r"|lo siento[,.:;]? (?:pero )?",
    re.IGNORECASE,
)
"""What may stand before; its "but" is none of what follows."""
_MOST_WORDS = 40
"""A longer text says more than that."""


def is_abstention(answer: str) -> bool:
    """Returns whether an answer (without markers) says only that the answer is not known or not given."""
    text = answer.strip().strip("\"'“”().*")
    text = text[apology.end() :] if (apology := _APOLOGY.match(text)) else text
    return bool(_ABSTENTION.match(text)) and len(text.split()) <= _MOST_WORDS and not _AND_YET.search(text)
