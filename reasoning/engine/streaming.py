"""`AnswerStream`: the final answer as events while a model writes it. Markers are held back until they are whole."""

import re

from jiter import from_json

from core.events import TokenEvent
from core.prompting.structured import strip_thinking
from core.trace import Trace
from reasoning.citations.markers import MARKERS, parse_marker

__all__ = ["AnswerStream", "read_partial_answer"]

_FIELD = "answer"
_GROWTH, _GROWTH_OF_LONG, _LONG = 256, 8, 20_000
"""The text is read again when it has grown by this part of its length, so that the time is linear in its length. Beyond
`_LONG` characters, which no honest answer has, it is read less often.
"""
_IN_MARKER = re.compile(r"[-–\d\s,;，、；\[]*")


class AnswerStream:
    """Takes the pieces of a JSON object as a model writes it, and emits its field `answer` as `TokenEvent`s.

    `sources` is the number of sources that may be cited; a marker of another number is left out, and the others are
    numbered as in the final answer, from 1 in the order of the text. The events are provisional: the object is
    validated only when it is whole.
    """

    def __init__(self, trace: Trace, sources: int) -> None:
        self.sources = sources
        self._trace = trace
        self._pieces: list[str] = []
        self._length = 0
        self._due = 0
        self._read = 0
        self._held = ""
        self._numbers: dict[int, int] = {}

    @property
    def has_begun(self) -> bool:
        """Whether a piece has come. What comes after an answer that failed does not continue it."""
        return self._length > 0

    def __call__(self, piece: str) -> None:
        self._pieces.append(piece)
        self._length += len(piece)
        if self._length >= self._due:
            self._due = self._length + self._length // (_GROWTH if self._length < _LONG else _GROWTH_OF_LONG)
            self._advance()

    def _advance(self) -> None:
        self._pieces = ["".join(self._pieces)]
        answer = read_partial_answer(self._pieces[0])
        self._held += answer[self._read :]
        self._read = max(self._read, len(answer))
        ready = self._held[: _find_open_marker(self._held)]
        self._held = self._held[len(ready) :]
        self._emit(ready)

    def end(self) -> None:
        """Emits what was held back."""
        self._advance()
        self._emit(self._held.rstrip())
        self._held = ""

    def _emit(self, text: str) -> None:
        if text:
            self._trace.emit(TokenEvent(text=MARKERS.sub(self._keep_valid, text)))

    def _keep_valid(self, found: re.Match[str]) -> str:
        valid = [number for number in parse_marker(found) if 1 <= number <= self.sources]
        return "".join(f" [{self._numbers.setdefault(number, len(self._numbers) + 1)}]" for number in valid)


def _find_open_marker(text: str) -> int:
    """Returns where the marker begins that the end of the text may belong to, with the space before it."""
    found = _IN_MARKER.match(text[::-1])  # backwards, so that the time is linear
    start = text.find("[", len(text) - (found.end() if found else 0))
    return len(text[:start].rstrip() if start >= 0 else text.rstrip())


def read_partial_answer(text: str) -> str:
    """Returns the answer as far as it is written; '' if the text is no JSON object, or does not have it yet."""
    _, opening, rest = strip_thinking(text).partition("{")
    try:
        value = from_json((opening + rest).encode(), partial_mode="trailing-strings")
    except ValueError:  # prose, or text after the object
        return ""
    answer = value.get(_FIELD, "") if isinstance(value, dict) else ""
    return answer if isinstance(answer, str) else ""
