"""Prints snippets, with their words in bold where stdout is a terminal."""

from collections.abc import Sequence

from cli.output.console import print_marked

__all__ = ["print_snippet"]

_WIDTH = 100


def print_snippet(text: str, marks: Sequence[tuple[int, int]], *, indent: int) -> None:
    print_marked(*_flatten(text, marks), width=_WIDTH, indent=indent)


def _flatten(text: str, marks: Sequence[tuple[int, int]]) -> tuple[str, list[tuple[int, int]]]:
    """Returns the text on one line, with single spaces, and the places of its marks there."""
    flat, places = "", []
    for character in text:
        places.append(len(flat))
        if not character.isspace():
            flat += character
        elif not flat.endswith(" "):
            flat += " "
    return flat, [(places[start], places[end - 1] + 1) for start, end in marks]
