"""Structured answers of a model: JSON, or text of another form, is read, validated, and requested again once if it is
not valid.

First come the bounds of an answer, since a model that was led astray by a document may write without end, and the forms
of replies: what a prompt asks a model to write, and how text that is not JSON of a schema is read.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, TypeVar, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from core.errors import MalformedReply
from core.ports.chat import ChatModel, ChatRequest, Completion, Message, OnToken, ReplyForm, Speaker
from core.prompting.fences import strip_tags
from core.trace import Trace

_MAX_DEPTH = 50
"""Lists and objects within each other, in a structured answer."""

_MAX_VALUES = 20_000
"""Values of a structured answer, in all lists and objects together."""


def _find_excess(value: object) -> str | None:
    """Returns what a JSON value has too much of, in words for the model; None if it is within the bounds."""
    layer, count = [value], 0
    for depth in range(_MAX_DEPTH + 1):
        count += len(layer)
        if count > _MAX_VALUES:
            return f"it has more than {_MAX_VALUES:,} values"
        if not layer:
            return None
        if depth == _MAX_DEPTH:
            break
        layer = [inner for one in layer for inner in _inside(one)]
    return f"its brackets go deeper than {_MAX_DEPTH} levels"


def _inside(value: object) -> Sequence[object]:
    if isinstance(value, Mapping):
        return list(value.values())
    return value if isinstance(value, list) else ()


_WANTED: Mapping[ReplyForm, str] = {
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


def _read_plain_reply(form: ReplyForm, text: str, shape: type[BaseModel]) -> dict[str, Any]:
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


def _fold_names(value: object, shape: type[BaseModel]) -> object:
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


T = TypeVar("T", bound=BaseModel)

_THINKING = re.compile(r"<(/?)think(?:ing)?>", re.IGNORECASE)
_JSON = re.compile(r"\s*(?:```\w*\s*)?\{")
_SURROGATE = re.compile("[\ud800-\udfff]")
_SHOWN = 200
_MAX_TRIES, _MAX_READ = 1000, 4_000_000
"""Brackets at which JSON is looked for, and characters that are read for it: each bracket in vain costs time that is
linear in the text.
"""
_LEFT_OUT = frozenset(
    {"default", "maxItems", "maxLength", "maximum", "minItems", "minLength", "minimum", "exclusiveMinimum", "title"}
)


class _MalformedError(Exception):
    """The text is not of the requested form; the message is sent to the model."""


async def complete_structured(
    model: ChatModel,
    request: ChatRequest,
    shape: type[T],
    trace: Trace,
    on_token: OnToken | None = None,
    without: frozenset[str] = frozenset(),
) -> T:
    """Returns the model's answer as a value of `shape`. `on_token` gets the pieces of the first answer's text.

    `without` are words that the schema does not offer in an enumeration. A schema is sent if the request's form of
    reply is `json`; the other forms are read from the text.

    An answer that cannot be parsed is sent back once, with the error. Raises `MalformedReply`, naming the role, if the
    second answer cannot be parsed either, or if its token limit cut an answer off.
    """
    form = request.reply
    if form is ReplyForm.JSON:
        request = replace(request, schema=build_schema(shape, without))
    completion = await model.complete(request, trace, on_token)
    try:
        value = _read(completion, shape, form)
    except _MalformedError as error:
        _check_not_cut(completion, request)
        repair = f"Your answer could not be read: {error}. Answer again, with {_WANTED[form]} and nothing else."
        again = replace(
            request,
            messages=(
                *request.messages,
                Message(speaker=Speaker.ASSISTANT, content=completion.text or "(nothing)"),
                Message(speaker=Speaker.USER, content=repair),
            ),
        )
    else:
        if completion.cut and form is not ReplyForm.JSON:  # the text may have gone on
            note_cut(completion, request, trace)
        return value
    completion = await model.complete(again, trace)
    try:
        return _read(completion, shape, form)
    except _MalformedError as error:
        _check_not_cut(completion, request)
        raise MalformedReply(
            f"step {request.role!r}: {completion.model} answered twice with what cannot be used ({error}); "
            f"another model for this step is set by HOPWEAVE_LLM__ROLES__{request.role.upper()}__MODEL",
            strip_thinking(completion.text),
        ) from error


@lru_cache(maxsize=128)  # bounded, since some calls define a shape of their own
def build_schema(shape: type[BaseModel], without: frozenset[str] = frozenset()) -> Mapping[str, Any]:
    """Returns the JSON schema of a shape in the form that endpoints with strict schemas require.

    All fields are required, no others are allowed, and limits of length or range are left out, which many endpoints
    refuse; the shape itself checks them. Words `without` are left out of enumerations.
    """
    schema: Mapping[str, Any] = _make_strict(shape.model_json_schema(), without)
    return schema


def strip_thinking(text: str) -> str:
    """Returns the text without the reasoning that some models write into it between tags.

    In a text that begins with a JSON object, the tags are words of its strings.
    """
    if _JSON.match(text):
        return text.strip()
    kept, at, begun = list[str](), 0, -1
    for tag in _THINKING.finditer(text):
        if begun < 0 and not tag[1]:
            begun = tag.start()
        elif begun >= 0 and tag[1]:
            kept.append(text[at:begun])
            at, begun = tag.end(), -1
    kept.append(text[at:] if begun < 0 else text[at:begun])
    return "".join(kept).strip()


def _make_strict(schema: Any, without: frozenset[str]) -> Any:
    if isinstance(schema, list):
        return [_make_strict(one, without) for one in schema]
    if not isinstance(schema, dict):
        return schema
    out = {key: _make_strict(value, without) for key, value in schema.items() if key not in _LEFT_OUT}
    if isinstance(out.get("enum"), list):
        out["enum"] = [word for word in out["enum"] if word not in without]
    if out.get("type") == "object" and "properties" in out:
        out["additionalProperties"] = False
        out["required"] = list(out["properties"])
    return out


def make_cut_error(completion: Completion, request: ChatRequest) -> MalformedReply:
    """Returns the error for an answer that reached its token limit before it was complete."""
    spent = "on reasoning before it answered" if completion.reasoned or not completion.text.strip() else "mid-answer"
    remedy = "allow more with HOPWEAVE_LLM__MAX_OUTPUT_TOKENS, or set a model that reasons less for this step"
    if request.max_tokens is not None:
        remedy = f"this step allows no more than {request.max_tokens}"
    return MalformedReply(
        f"step {request.role!r}: {completion.model} spent its {completion.completion_tokens} tokens {spent}; {remedy}",
        strip_thinking(completion.text),
        cut=True,
    )


def note_cut(completion: Completion, request: ChatRequest, trace: Trace) -> None:
    """Notes that a text that is used as it is was cut off."""
    trace.note(
        f"{request.role}: the model's text was cut off after {completion.completion_tokens} tokens; "
        "HOPWEAVE_LLM__MAX_OUTPUT_TOKENS allows more"
    )


def _check_not_cut(completion: Completion, request: ChatRequest) -> None:
    """Raises the error for a cut answer, since the next answer would be cut too."""
    if completion.cut:
        raise make_cut_error(completion, request)


def _read(completion: Completion, shape: type[T], form: ReplyForm) -> T:
    text = strip_thinking(completion.text)
    if not text:
        raise _MalformedError("it is empty")
    value = _find_value(text, shape, form)
    if _SURROGATE.search(json.dumps(value, ensure_ascii=False)):
        raise _MalformedError("it holds half of a surrogate pair, which is not a character")
    try:
        return shape.model_validate(value)
    except ValidationError as error:
        problems = (f"{'.'.join(map(str, e['loc'])) or 'the whole'}: {_describe(e)}" for e in error.errors()[:5])
        raise _MalformedError("; ".join(problems)[:_SHOWN]) from error


def _find_value(text: str, shape: type[BaseModel], form: ReplyForm) -> object:
    if form is ReplyForm.JSON:
        return _check_bounds(_find_json(text))
    if form is ReplyForm.FREE_JSON:
        before = text.partition("{")[0].rstrip()
        is_list = before.endswith("[")  # in which an object would be found first
        value = _check_bounds(_find_json(text[len(before) - 1 :], "[{") if is_list else _find_json(text))
        return _fold_names(value, shape)
    try:
        return _check_bounds(_read_plain_reply(form, text, shape))
    except ValueError as error:
        raise _MalformedError(str(error)) from error


def _check_bounds(value: object) -> object:
    if excess := _find_excess(value):
        raise _MalformedError(excess)
    return value


def _describe(error: ErrorDetails) -> str:
    """Returns what is wrong with a value. Pydantic's own words for a missing object name the class of ours."""
    return "it should be a JSON object" if error["type"].startswith("model_") else error["msg"]


def _find_json(text: str, openings: str = "{[") -> object:
    """Returns the first JSON object (or array, if there is no object) of the text; prose and code fences around it are
    ignored.
    """
    decoder = json.JSONDecoder()
    for opening in openings:
        at = text.find(opening)
        for _ in range(max(10, min(_MAX_TRIES, _MAX_READ // len(text)))):
            if at < 0:
                break
            try:
                value, _ = decoder.raw_decode(text, at)
            except RecursionError:
                raise _MalformedError("its brackets go too deep") from None
            except ValueError:  # not JSON, or a number with thousands of digits
                at = text.find(opening, at + 1)
            else:
                return value
    raise _MalformedError("it holds no whole JSON object")
