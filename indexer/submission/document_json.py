"""The JSON form of a document, which the API, JSON lines and `.json` files share, and its checks.

`{"title", "text" or "chunks": [{"text", "page", "entities", "triples", "embedding"}], "entities", "triples",
"metadata", "embedding", "embedding_model"}`. Other fields are ignored. A triple that is not three names stays here, and
is counted when the document is loaded.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from core.errors import InvalidInput
from core.graph import Triple
from core.text.characters import NO_CHARACTER, find_half
from indexer.submission.given_embeddings import normalise_embeddings

DOCUMENT_MEDIA_TYPE = "application/vnd.hopweave.document+json"


def parse_json(text: str | bytes) -> object:
    """Returns the JSON value. Raises `InvalidInput`, which says where it is wrong. NaN and Infinity are not JSON."""
    try:
        return json.loads(text, parse_constant=_reject_constant)
    except json.JSONDecodeError as error:
        raise InvalidInput(f"not valid JSON: {error.msg} at character {error.pos}") from error
    except UnicodeDecodeError as error:
        raise InvalidInput(f"not UTF-8: byte {error.start} cannot be decoded; save the file as UTF-8") from error
    except RecursionError as error:
        raise InvalidInput("not usable JSON: it is nested too deeply") from error
    except ValueError as error:  # a number of thousands of digits
        raise InvalidInput(f"not usable JSON: {error}") from error


def _reject_constant(constant: str) -> NoReturn:
    raise InvalidInput(f"not valid JSON: {constant} is not a JSON value; use null")


def canonical_json(value: object) -> bytes:
    """Writes sorted keys, no spaces, and UTF-8, so equal values give equal bytes. Raises `InvalidInput`."""
    try:
        return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
    except UnicodeEncodeError as error:
        raise InvalidInput(f"`{find_half(value)}` {NO_CHARACTER}") from error
    except RecursionError as error:
        raise InvalidInput("the value is nested too deeply to be kept") from error
    except (TypeError, ValueError) as error:  # the API passes JSON values only, but Python callers may pass others
        raise InvalidInput(f"the value cannot be written as JSON: {error}") from error


def check_document(value: object) -> dict[str, Any]:
    """Returns the known fields of a document, checked. Raises `InvalidInput`, which names the field that is wrong."""
    if not isinstance(value, Mapping):
        raise InvalidInput(f"a document is a JSON object, not {_name_type(value)}")
    given = {name: value[name] for name in _FIELDS if value.get(name) is not None}
    for name, check in _FIELDS.items():
        if name in given:
            check(name, given[name])
    if ("text" in given) == ("chunks" in given):
        found = "both" if "text" in given else "neither"
        raise InvalidInput(f"a document has either `text` or `chunks`; this one has {found}")
    for index, chunk in enumerate(given.get("chunks", ())):
        _check_chunk(f"chunks[{index}]", chunk)
    return normalise_embeddings(given)


def read_triples(items: Sequence[object]) -> tuple[tuple[Triple, ...], int]:
    """Returns the triples, and how many of the items are not three names."""
    read = [_read_triple(item) for item in items]
    triples = tuple(triple for triple in read if triple is not None)
    return triples, len(read) - len(triples)


def _read_triple(item: object) -> Triple | None:
    if not isinstance(item, Sequence) or isinstance(item, str) or len(item) != 3:
        return None
    if not all(isinstance(part, str) and part.strip() for part in item):
        return None
    return Triple(subject=item[0], predicate=item[1], object=item[2])


def _check_chunk(place: str, chunk: object) -> None:
    if not isinstance(chunk, Mapping):
        raise InvalidInput(f"`{place}` must be an object, not {_name_type(chunk)}")
    if chunk.get("text") is None:
        raise InvalidInput(f"`{place}.text` is missing")
    for name, check in _CHUNK_FIELDS.items():
        if chunk.get(name) is not None:
            check(f"{place}.{name}", chunk[name])


def _check_string(place: str, value: object) -> None:
    if not isinstance(value, str):
        raise InvalidInput(f"`{place}` must be a string, not {_name_type(value)}")


def _check_list(place: str, value: object) -> None:
    if not isinstance(value, list | tuple):
        raise InvalidInput(f"`{place}` must be a list, not {_name_type(value)}")


def _check_strings(place: str, value: object) -> None:
    _check_list(place, value)
    if isinstance(value, list | tuple):
        for index, item in enumerate(value):
            _check_string(f"{place}[{index}]", item)


def _check_object(place: str, value: object) -> None:
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise InvalidInput(f"`{place}` must be an object, not {_name_type(value)}")


LAST_PAGE = 1_000_000_000


def _check_page(place: str, value: object) -> None:
    if not isinstance(value, int) or isinstance(value, bool):
        raise InvalidInput(f"`{place}` must be a whole number, not {_name_type(value)}")
    if not 0 <= value <= LAST_PAGE:
        raise InvalidInput(f"`{place}` must be a page number from 0 to {LAST_PAGE:,}")


def _check_embedding(place: str, value: object) -> None:
    if not isinstance(value, str | list | tuple):
        raise InvalidInput(f"`{place}` must be a list of numbers, or Base64 of 32-bit floats, not {_name_type(value)}")


def _name_type(value: object) -> str:
    if value is None:
        return "null"
    names = {str: "a string", bool: "true or false", int: "a number", float: "a number", list: "a list"}
    return names.get(type(value), "an object" if isinstance(value, Mapping) else type(value).__name__)


_NAMES = {"entities": _check_strings, "triples": _check_list}
_EMBEDDING = {"embedding": _check_embedding}
_FIELDS = {
    "title": _check_string,
    "text": _check_string,
    "chunks": _check_list,
    **_NAMES,
    "metadata": _check_object,
    **_EMBEDDING,
    "embedding_model": _check_string,
}
_CHUNK_FIELDS = {"text": _check_string, "page": _check_page, **_NAMES, **_EMBEDDING}
DOCUMENT_FIELDS = frozenset(_FIELDS)
"""The names of the fields of a document beside its key."""
