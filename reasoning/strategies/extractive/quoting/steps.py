"""The steps of a procedure: the numbered list that a question asks for with "How do I …", quoted whole.

Open it to change which lists are steps, how they are known to be those of the question, or how many are quoted.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from core.documents import HEADING_SEPARATOR, Span
from core.ports.retrieval import Hit
from core.text.value_kinds import find_stems
from reasoning.strategies.extractive.quoting.asked import Asked
from reasoning.strategies.extractive.quoting.units import READ, Unit

_READ = 600
_ASKS = re.compile(
    r"\bhow (?:do|can|should|must|shall|to)\b|\b(?:steps|procedure|instructions) (?:to|for|of|in)\b"
    r"|\bwh(?:at|ich) steps\b"
    r"|\bwie (?:\w{2,20} (?:ich|man|wir)|(?:wird|werden|ist|sind) .{1,80}\w{3}(?:t|en|n))\b|\b(?:welche )?schritte\b"
    r"|\bcomment (?:puis-je|peut-on|dois-je|doit-on|faire|fait-on|\w{2,20}(?:er|ir|re))\b|\bétapes\b",
    re.IGNORECASE,
)
_STEP = re.compile(r"^[ \t]*\(?(?P<number>\d{1,2})[.)][ \t]+(?=\S)", re.MULTILINE)
_ENDS = re.compile(r"\n[ \t]*\n|\Z")
_NO_STEPS = re.compile(
    r"\b(?:reasons?|causes?|consequences?|benefits?|advantages?|risks?|examples?|types|kinds|definitions?"
    r"|Gründe|Ursachen?|Folgen|Vorteile|Risiken|Beispiele|Arten|raisons?|conséquences?|avantages?|risques?|exemples?)\b",
    re.IGNORECASE,
)
"""What the announcement of a list says that tells no steps."""
_NO_ORDER = re.compile(
    r"(?:an?|the|this|these|it|they|there|der|die|das|eine?|es|sie|le|la|les|une?|ils?|elles?)\s", re.IGNORECASE
)
"""How an item begins that tells nobody to do anything."""
_FEWEST = 2
_LONGEST = 1500
"""Characters of a list that is quoted; the steps behind are left out."""
_LONGEST_LEAD = 250
"""Characters of the line above a list that may announce it."""
_PREFIX = 5
_LEAST_NAMED = 0.5
"""The share of the words' weight that headings, title and announcement of the list must have."""


def asks_for_steps(question: str) -> bool:
    """Returns whether a question asks how something is done: "How do I …", "What are the steps to …"."""
    return _ASKS.search(question[:_READ]) is not None


def find_steps(question: str, asked: Asked, units: Sequence[Unit]) -> tuple[int, Unit] | None:
    """Returns the place of a unit that is a step, and the steps with their numbers in its place, of the list whose
    headings and announcement say most of what the question asks how to do; None if no list is of this.
    """
    if not asks_for_steps(question):
        return None
    best: tuple[float, int, Unit] | None = None
    for hit in {unit.hit.chunk.id: unit.hit for unit in units}.values():
        for span, lead in _list_steps(hit.chunk.text[:READ]):
            at = next((at for at, unit in enumerate(units) if _is_within(unit, hit, span)), None)
            share = _weigh_names(asked, hit, lead)
            if at is not None and share >= _LEAST_NAMED and (best is None or share > best[0]):
                text = hit.chunk.text[span.start : span.end]
                best = share, at, replace(units[at], span=span, text=text, stems=find_stems(text))
    return None if best is None else best[1:]


def _is_within(unit: Unit, hit: Hit, span: Span) -> bool:
    return unit.hit.chunk.id == hit.chunk.id and unit.span.start < span.end and span.start < unit.span.end


def _weigh_names(asked: Asked, hit: Hit, lead: str) -> float:
    """Returns the share of the words' weight that title, headings and announcement of a list have; 0 if it is only the
    title that has any.
    """
    own = find_stems(f"{hit.chunk.heading.rpartition(HEADING_SEPARATOR)[2]}\n{lead}")
    title = find_stems(hit.document.title)
    all_names = own | title | find_stems(hit.chunk.heading)
    words = [word for word in asked.words if not word.is_kind]
    if not any(_is_in(word.stem, own) and not _is_in(word.stem, title) for word in words):
        return 0.0
    total = sum(word.weight for word in words)
    return sum(word.weight for word in words if _is_in(word.stem, all_names)) / (total or 1.0)


def _is_in(word: str, stems: frozenset[str]) -> bool:
    """Returns whether stems have a word, or one of both is the beginning of the other: `descal`, `descaling`."""
    return word in stems or (
        len(word) >= _PREFIX
        and any(len(stem) >= _PREFIX and (stem.startswith(word) or word.startswith(stem)) for stem in stems)
    )


def _list_steps(text: str) -> Iterator[tuple[Span, str]]:
    """Yields the numbered lists of a text that may be steps, which begin with 1, each with the line above it."""
    steps: list[re.Match[str]] = []
    for step in [*_STEP.finditer(text), None]:
        if step is not None and steps and int(step["number"]) == int(steps[-1]["number"]) + 1:
            steps.append(step)
            continue
        if len(steps) >= _FEWEST and 2 * sum(bool(_NO_ORDER.match(text, item.end())) for item in steps) < len(steps):
            span, lead = _span_steps(text, steps)
            if not _NO_STEPS.search(lead):
                yield span, lead
        steps = [step] if step is not None and int(step["number"]) == 1 else []


def _span_steps(text: str, steps: Sequence[re.Match[str]]) -> tuple[Span, str]:
    """Returns the span of the steps that are not too long, each with the lines that go on with it, and the line above
    them, which is within the span if it announces them.
    """
    above = text[: steps[0].start()].rstrip()
    lead = above.rpartition("\n")[2]
    start = steps[0].start() + len(steps[0][0]) - len(steps[0][0].lstrip())
    if lead.endswith(":") and len(lead) <= _LONGEST_LEAD:
        start = len(above) - len(lead.lstrip())
    behind = _ENDS.search(text, steps[-1].end())
    ends = [*(step.start() for step in steps[1:]), behind.start() if behind else len(text)]
    end = max((end for end in ends if end - start <= _LONGEST), default=ends[0])
    return Span(start=start, end=start + len(text[start:end].rstrip())), lead[-_LONGEST_LEAD:]
