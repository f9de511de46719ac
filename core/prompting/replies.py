"""Forms of replies: what a prompt asks a model to write, and how text that is not JSON of a schema is read.

Most prompts ask for JSON, and its schema is sent along. The published systems ask for plain text, or for JSON with
names of their own; a prompt file names such a form in its first line. A reply of any form becomes a value of the shape
that an action asks for, so that most actions do not know in which form their model replied.
"""

import re
from collections.abc import Mapping
from typing import Any, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from core.ports.chat import ReplyForm
from core.prompting.fences import strip_tags

__all__ = ["WANTED", "fold_names", "read_plain_reply"]


WANTED: Mapping[ReplyForm, str] = {
    ReplyForm.JSON: "one JSON object",
    ReplyForm.FREE_JSON: "JSON in the form that was asked for",
    ReplyForm.LIST: "the numbered lines",
    ReplyForm.YES_NO: "yes or no",
    ReplyForm.TEXT: "the text that was asked for",
    ReplyForm.QUERY: "the query",
}
"""What a model is asked for once more after a reply that cannot be read."""

_NUMBERED = re.compile(r"\[\d{1,3}\]")
_ITEM = re.compile(r"[ \t]{0,20}+(?:\d{1,3}[.):]|[-*•])[ \t]++(\S.*+)")
_YES_OR_NO = re.compile(r"\b(?:yes|no)\b", re.IGNORECASE)
_TERM = re.compile(r'([+-]?)(?:"([^"\n]{1,200}+)"|([^\s"()]++))')
_WEIGHT = re.compile(r"\^[\d.]{1,10}+$")
_LABEL = re.compile(r"(?:(?:the|optimized|rewritten|keyword|search)[ ]){0,2}query:", re.IGNORECASE)
_OPERATORS = frozenset({"AND", "NOT", "OR"})
_QUOTES = {'"': '"', "'": "'", "“": "”", "„": "“", "«": "»"}
_FENCE = "```"


def read_plain_reply(form: ReplyForm, text: str, shape: type[BaseModel]) -> dict[str, Any]:
    """Returns the value that a plain text has, under the name of the shape's first field of the form's type.

    - `list`: the items of `[1] … [2] …`, or else of lines such as `1. …` and `- …`; none in any other text.
    - `yes_no`: whether `yes` comes before any `no`. A text with neither is no.
    - `text`: the whole text, without a code fence or quotation marks around it, and without tags of our fences. The
      text does not tell what it stands on: it counts as stated, and the action checks that against the passages.
    - `query`: the terms of a Lucene query, a phrase as one term, without operators, weights and excluded terms.

    Raises `ValueError` if the shape has no field of that type.
    """
    if form is ReplyForm.LIST:
        return {_find_field(shape, list[str]): _read_items(text)}
    if form is ReplyForm.YES_NO:
        found = _YES_OR_NO.search(text)
        return {_find_field(shape, bool): found is not None and found[0].lower() == "yes"}
    if form is ReplyForm.QUERY:
        return {_find_field(shape, list[str]): _read_terms(text)}
    support = {"support": "stated"} if "support" in shape.model_fields else {}
    return {_find_field(shape, str): _unwrap(text), **support}


def fold_names(value: object, shape: type[BaseModel]) -> object:
    """Returns a JSON value with all names in lower case.

    A list that stands alone, or under a name that the shape does not have, becomes the shape's field of lists.
    """
    folded = _fold(value)
    if isinstance(folded, dict) and len(folded) == 1 and not folded.keys() & shape.model_fields.keys():
        [folded] = folded.values()
    if not isinstance(folded, list):
        return folded
    lists = [name for name, field in shape.model_fields.items() if get_origin(field.annotation) is list]
    return {lists[0]: folded} if lists else folded


def _fold(value: object) -> object:
    if isinstance(value, dict):
        return {name.strip().lower(): _fold(inner) for name, inner in value.items()}
    return [_fold(inner) for inner in value] if isinstance(value, list) else value


def _find_field(shape: type[BaseModel], kind: object) -> str:
    """Returns the name of the first field of a type. Required fields come before optional fields."""
    fields = sorted(shape.model_fields.items(), key=lambda item: not item[1].is_required())
    for name, field in fields:
        if name != "support" and _is_of(field, kind):
            return name
    raise ValueError("this call has no such value to give; a prompt for it cannot ask for this form of reply")


def _is_of(field: FieldInfo, kind: object) -> bool:
    if get_origin(kind) is list:
        return get_origin(field.annotation) is list and get_args(field.annotation) == get_args(kind)
    return field.annotation is kind


def _read_items(text: str) -> list[str]:
    marks = list(_NUMBERED.finditer(text))
    if marks:
        ends = [*(mark.start() for mark in marks[1:]), len(text)]
        # An item ends with its line: what a model adds below the list belongs to none.
        items = [text[mark.end() : end].strip().split("\n")[0] for mark, end in zip(marks, ends, strict=True)]
    else:
        items = [found[1] for line in text.splitlines() if (found := _ITEM.fullmatch(line))]
    return [item.strip() for item in items if item.strip()]


def _read_terms(text: str) -> list[str]:
    lines = [line.strip() for line in _unwrap(text).splitlines()]
    lines = [line[found.end() :].strip() if (found := _LABEL.match(line)) else line for line in lines]
    line = next((line for line in lines if line and not line.endswith(":")), "")
    terms = (phrase or _WEIGHT.sub("", word) for sign, phrase, word in _TERM.findall(line) if sign != "-")
    return [term for term in terms if any(map(str.isalnum, term)) and term not in _OPERATORS]


def _unwrap(text: str) -> str:
    text = strip_tags(text)
    if text.startswith(_FENCE) and text.endswith(_FENCE) and "\n" in text:
        text = text[: -len(_FENCE)].split("\n", 1)[1].strip()
    closing = _QUOTES.get(text[:1])
    if closing and len(text) > 1 and text.endswith(closing) and closing not in text[1:-1]:
        text = text[1:-1].strip()
    return text
