"""Other words for questions of the templates: "Who wrote X?" becomes "Who is the author of X?".

The templates use the verb of the passage, which a search by words finds at once. `REWORDINGS` is a table of whole
questions, kept by hand, since each entry must be good English for any name. Open this to add an entry.
"""

import re
from dataclasses import replace

from app.services.made_questions.questions import MadeQuestion

__all__ = ["REWORDINGS", "reword"]

REWORDINGS = tuple(
    (re.compile(pattern), words)
    for pattern, words in (
        (r"Who directed (.+)\?", r"Who is the director of \1?"),
        (r"(?:Who|Who or what) wrote (.+)\?", r"Who is the author of \1?"),
        (r"(?:Who|Who or what) produced (.+)\?", r"Who was the producer of \1?"),
        (r"(?:Who|Who or what) composed (.+)\?", r"Who is the composer of \1?"),
        (r"(?:Who|Who or what) designed (.+)\?", r"Whose design is \1?"),
        (r"(?:Who|Who or what) (?:founded|established|formed) (.+)\?", r"Who or what set up \1?"),
        (r"(?:Who|Who or what) created (.+)\?", r"Whose idea was \1?"),
        (r"(?:Who|Who or what) (?:released|published) (.+)\?", r"Who or what brought out \1?"),
        (r"Which (organization|company|label) (?:released|published) (.+)\?", r"Which \1 brought out \2?"),
        (r"Which (\w+) was (?:directed) by (.+)\?", r"Of which \1 is \2 the director?"),
        (r"Which (\w+) was (?:written) by (.+)\?", r"Of which \1 is \2 the author?"),
        (r"Which (\w+) was (?:produced) by (.+)\?", r"Of which \1 was \2 the producer?"),
        (r"Which (\w+) was (?:founded|established) by (.+)\?", r"Which \1 did \2 set up?"),
        (r"Which (\w+) starred (.+)\?", r"In which \1 does \2 act?"),
        (r"When was (.+) born\?", r"What is the date of birth of \1?"),
        (r"Where was (.+) born\?", r"What is the birthplace of \1?"),
        (r"When did (.+) die\?", r"What is the date of death of \1?"),
        (r"Where did (.+) die\?", r"What is the place of death of \1?"),
        (r"Where is (.+) located\?", r"Where can \1 be found?"),
        (r"Where was (.+) located\?", r"Where could \1 be found?"),
        (r"When was (.+) (?:founded|established|formed|created)\?", r"When did \1 come into being?"),
        (r"When was (.+) (?:released|published)\?", r"When did \1 come out?"),
        (r"When was (.+) (?:built|erected)\?", r"When was \1 put up?"),
        (r"Whom did (.+) marry\?", r"Who is the spouse of \1?"),
        (r"Who was born earlier, (.+)\?", r"Who is older, \1?"),
        (r"Who died earlier, (.+)\?", r"Whose life ended first, \1?"),
        (r"(Which \w+|What) was (?:released|published) earlier, (.+)\?", r"\1 came out first, \2?"),
        (r"(Which \w+|What) was (?:founded|established|formed|created) earlier, (.+)\?", r"\1 is older, \2?"),
    )
)
"""Whole questions of the templates, and their other words."""


def reword(question: MadeQuestion) -> MadeQuestion:
    """Returns the question in other words; unchanged if the table has none."""
    for pattern, words in REWORDINGS:
        if said := pattern.fullmatch(question.text):
            return replace(question, text=said.expand(words))
    return question
