"""What a quote is continued by: the sentence beside it in its paragraph that tells what the quote only leads to.

Open it if a quote states what a question names, and the value, the reason or the consequence stands one sentence on.
"""

from dataclasses import replace

from core.documents import Span
from core.passage_context.tables import is_row
from core.text.value_kinds import ValueKind, find_stems, has_value
from reasoning.strategies.extractive.quoting.asked import Asked
from reasoning.strategies.extractive.quoting.units import (
    ITEM,
    READ,
    Unit,
    is_mail_head,
    is_question,
    is_record,
    split_spans,
)
from reasoning.strategies.extractive.quoting.wording import (
    Wanted,
    asks_for_consequence,
    find_second_question,
    follows_from,
    gives,
    has_condition,
    is_reference,
    is_sentence,
    points_back,
    sets_instead,
    states_condition,
)

_LONGEST = 400
"""Characters of a quote that is continued, and of a sentence that continues it."""
_LONGEST_ITEM = 260
"""Characters of an item of a list that is quoted whole."""
_LONGEST_LINK = 3
"""Words of a sentence that is only a link."""
_LEAST_SAID = 0.5
"""The share of the words' weight that a sentence must have, so that the next sentence may give the reason for it."""


def continue_quote(asked: Asked, question: str, unit: Unit, *, is_first: bool) -> Unit:
    """Returns the unit with the sentence of its paragraph that continues it, or as it is if none does.

    - A short item of a list is quoted whole.
    - The next sentence goes with the unit if the question asks for a value, a reason, a consequence or a second thing
      that the unit lacks and the next sentence has. Only the best unit (`is_first`) is continued by a reason.
    - The sentence before goes with the best unit if it gives the reason that is asked for: "… So we cancel the order."
    - The sentence before goes with a unit that points back to it: "It …", "… instead".
    """
    if unit.is_row or len(unit.text) > _LONGEST or is_mail_head(unit.text):
        return unit
    text = unit.hit.chunk.text[:READ]
    spans = list(split_spans(text))
    first = next((place for place, span in enumerate(spans) if span.start == unit.span.start), None)
    last = next((place for place, span in enumerate(spans) if span.end == unit.span.end), None)
    if first is None or last is None:
        return unit
    item = _find_item(text, spans, first, last)
    if item is not None:
        return _cut(unit, item)
    before = _find_neighbour(text, spans, first, -1)
    after = _find_neighbour(text, spans, last, 1)
    told = "" if before is None else text[before.start : before.end]
    if before is not None and is_first and _tells_reason(asked, unit, told, is_last=after is None):
        return _cut(unit, Span(start=before.start, end=unit.span.end))
    if after is not None and _continues(asked, question, unit, text[after.start : after.end], is_first=is_first):
        return _cut(unit, Span(start=unit.span.start, end=after.end))
    if before is None:
        return unit
    adds = points_back(unit.text) and _adds_word(asked, unit, text[before.start : before.end])
    return _cut(unit, Span(start=before.start, end=unit.span.end)) if adds or sets_instead(unit.text) else unit


def _cut(unit: Unit, span: Span) -> Unit:
    text = unit.hit.chunk.text[span.start : span.end]
    return replace(unit, span=span, text=text, stems=find_stems(text))


def _find_item(text: str, spans: list[Span], first: int, last: int) -> Span | None:
    """Returns the item of a list that the units `first` to `last` are a part of; None if it is no item, or long."""
    while first and not ITEM.match(text, spans[first].start):
        if not _are_one_paragraph(text, spans[first - 1], spans[first]):
            return None
        first -= 1
    if not ITEM.match(text, spans[first].start):
        return None
    while last + 1 < len(spans) and _are_one_paragraph(text, spans[last], spans[last + 1]):
        last += 1
    item = Span(start=spans[first].start, end=spans[last].end)
    return item if item.end - item.start <= _LONGEST_ITEM else None


def _are_one_paragraph(text: str, first: Span, second: Span) -> bool:
    """Returns whether two units are sentences of one paragraph: no blank line, row, heading or item is between them."""
    said = text[second.start : second.end]
    if first.end > second.start or "\n\n" in text[first.end : second.start] or ITEM.match(said):
        return False
    return all(_may_continue(text[span.start : span.end]) for span in (first, second))


def _may_continue(sentence: str) -> bool:
    is_link = "://" in sentence and len(sentence.split()) <= _LONGEST_LINK
    return not (is_link or is_row(sentence) or is_record(sentence) or is_question(sentence)) and is_sentence(sentence)


def _find_neighbour(text: str, spans: list[Span], place: int, step: int) -> Span | None:
    if not 0 <= place + step < len(spans):
        return None
    first, second = sorted((spans[place], spans[place + step]), key=lambda span: span.start)
    found = spans[place + step]
    is_near = _are_one_paragraph(text, first, second) and found.end - found.start <= _LONGEST
    return found if is_near and not is_reference(text[found.start : found.end]) else None


def _continues(asked: Asked, question: str, unit: Unit, sentence: str, *, is_first: bool) -> bool:
    """Returns whether the next sentence has what is asked for and the unit lacks."""
    if is_first and _is_reason(asked, unit):
        return True
    is_consequence = asks_for_consequence(question) and not has_condition(unit.text) and states_condition(sentence)
    return is_consequence or _is_value(asked, unit, sentence) or _answers_second(asked, question, unit, sentence)


def _is_reason(asked: Asked, unit: Unit) -> bool:
    """Returns whether a unit says most of what a question asks the reason for, and gives none: what follows tells."""
    if not asked.wanted.reason or gives(Wanted(reason=True), unit.text):
        return False
    total = sum(word.weight for word in asked.words)
    return sum(word.weight for word in asked.words if word.stem in unit.stems) >= _LEAST_SAID * total > 0


def _tells_reason(asked: Asked, unit: Unit, sentence: str, *, is_last: bool) -> bool:
    """Returns whether the sentence before a unit gives the reason that is asked for, and the unit gives none, or only
    what follows from it: "So we …". If the unit is the last sentence (`is_last`), no other sentence gives it.
    """
    if not asked.wanted.reason:
        return False
    is_told = gives(Wanted(reason=True), sentence) or is_last
    return follows_from(unit.text) or (is_told and _is_reason(asked, unit))


def _is_value(asked: Asked, unit: Unit, sentence: str) -> bool:
    if asked.kind is ValueKind.NONE:
        return False
    has = [has_value(asked.kind, text, stems=asked.stems, digits=asked.digits) for text in (unit.text, sentence)]
    return has == [False, True] and (points_back(sentence) or bool(find_stems(sentence) & (unit.stems | asked.stems)))


def _answers_second(asked: Asked, question: str, unit: Unit, sentence: str) -> bool:
    """Returns whether the sentence has the words of the second of two questions: "…, and with what notice?"."""
    second = find_stems(find_second_question(question)) & {word.stem for word in asked.words}
    return bool((second - unit.stems) & find_stems(sentence))


def _adds_word(asked: Asked, unit: Unit, sentence: str) -> bool:
    stems = find_stems(sentence)
    return any(word.stem in stems - unit.stems for word in asked.words)
