"""`TokenStream`: the final answer as events while a model writes it. Markers are held back until they are whole."""

import re
from collections.abc import Callable

from core.events import TokenEvent
from core.prompting.structured import strip_thinking
from core.trace import Trace
from reasoning.citations.markers import MARKERS, parse_marker

__all__ = ["ABSTENTION", "TokenStream", "is_abstention"]

ABSTENTION = "NO ANSWER"
"""The text that prompts ask for if the sources do not hold the answer."""

_OPEN = re.compile(r"\s*(?:\[[-–\d\s,;，、；\[]*)?\Z")


_AROUND = " .\"'*\n\t"
_THINKS = "<think"
_THOUGHT = re.compile(r"</think(?:ing)?>", re.IGNORECASE)


def is_abstention(text: str) -> bool:
    """Whether the text is the abstention and nothing else; quotes and stars around it do not count."""
    return text.strip(_AROUND) == ABSTENTION


class TokenStream:
    """Takes the pieces of a text and emits what can be shown as `TokenEvent`s.

    `sources` is the number of sources that may be cited; a marker of another number is left out. With `after`, nothing
    is shown before that word: a model that thinks aloud writes its answer after it. Thinking between tags is not shown.
    """

    def __init__(self, trace: Trace, sources: int, after: str = "") -> None:
        self._emit: Callable[[str], None] = lambda text: trace.emit(TokenEvent(text=text))
        self.sources = sources
        self._after = after
        self._held = ""
        self._begun = False

    def __call__(self, piece: str) -> None:
        self._held += piece
        if not self._begun and not self._begins():
            return
        ready = _OPEN.sub("", self._held, count=1)
        self._held = self._held[len(ready) :]
        if ready:
            self._begun = True
            self._emit(MARKERS.sub(self._keep_valid, ready))

    def end(self) -> None:
        """Emits the rest of the text, unless it is an abstention or thinking without an end."""
        held = self._held if self._begun else strip_thinking(self._held)
        if held.strip() and not (is_abstention(held) and not self._begun) and not self._after:
            self._emit(MARKERS.sub(self._keep_valid, held))
        self._held = ""

    def _begins(self) -> bool:
        """Whether the held text begins the answer: it is no thinking, and not the first letters of an abstention."""
        while self._held.lstrip()[: len(_THINKS)].lower() == _THINKS:
            ended = _THOUGHT.search(self._held)
            if not ended:
                return False
            self._held = self._held[ended.end() :]
        if _THINKS.startswith(self._held.strip().lower()):
            return False
        if self._after:
            _, found, rest = self._held.partition(self._after)
            if not found:
                return False
            self._after, self._held = "", rest
        return not ABSTENTION.startswith(self._held.strip(_AROUND))

    def _keep_valid(self, found: re.Match[str]) -> str:
        numbers = [str(number) for number in parse_marker(found) if 1 <= number <= self.sources]
        space = found[0][: found[0].index("[")]
        return f"{space}[{', '.join(numbers)}]" if numbers else ""
