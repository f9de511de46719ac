"""What schemathesis cannot know of this server. Its process imports this module; `test_schemathesis.py` starts it.

Every check is made of every operation. `_REFUSALS` and `_EXCEPTIONS` have what is excused, and why.
"""

import re
from typing import Any

import schemathesis

__all__ = ["before_call", "filter_failure", "send_as_generated"]

_REFUSALS: dict[str, str] = {
    # What a value refers to.
    "`cursor` is not a `next_cursor`": "a cursor is what an earlier page returned",
    "this `Idempotency-Key` was used for another request": "schemathesis sends other requests with the same key",
    "there is no (searcher|reasoner|chunker|extractor) ": "a strategy is `NAME[:key=value,…]`, with options of its own",
    "(searcher|reasoner|chunker|extractor) '.*': ": "options of strategies; `/v1/strategies` has their schemas",
    "options are written key=value": "the same",
    "a bracket in it has no other half": "the same",
    "which is none of the corpora that are searched": "`min_generation` names corpora of the path or of `corpora`",
    "the manifest names .* and the upload has no file": "a manifest is about the names of the other parts",
    "dimensions is ": "the dimension is that of the model",
    "needs a (language|reranking) model|needs a search engine|filters facts with a language model": "settings",
    "this server allows .* for one question": "settings",
    "has an embedding(, and corpus| of the model| of \\d+ dimensions)": "model and dimension of a corpus",
    "corpus '.*' has no type .*; it has": "a corpus has types of its own; `…/schema` has them",
    "/made-questions (the corpus has no |no question can be made|.* has more than)": "what the corpus holds",
    # What several values have together.
    "/measurements a part of .* ends at": "JSON schema cannot compare two numbers",
    "the key .* was given more than once": "keys of documents are unique; JSON schema compares whole documents",
    "the embeddings of `chunks` have different dimensions": "lengths of several lists",
    "the filter (has|is nested)": "levels and terms of a whole filter",
    "is always a string": "Dify's names of fields of documents take texts, those of metadata anything",
    "the last of the messages is not a message of the user": "JSON schema cannot speak of the last item",
    "^POST /v1/responses (previous_response_id: |.*after a response, `input` is)": "ids are those of responses",
    "an empty filter, or part of one": "parts of filters at any level, which other calls may leave empty",
    "^POST (/api/chat|/v1/chat/completions|/v1/responses) the question is empty": "of the last message only",
    "has no images of its pages": "of a document that is no PDF",
    # What texts contain.
    "no loader reads|a file without a suffix is read as text": "media types and suffixes; `/v1/strategies` lists them",
    "`?(embedding|chunks\\[\\d+\\]\\.embedding)`? (has only zeros|holds a number)": "floats inside of Base64",
    "/differences .*(supersedes no document|name two documents)": "what documents state of one another",
    "^PUT /v1/corpora/\\{corpus\\}/schema the schema(:|,| is not TOML)": "the text is TOML",
    "the body is empty; it contains no corpus": "the format of an export, which is no JSON",
    "^POST /v1/corpora/\\{corpus\\}/import .*line 1": "the same",
    " documents\\[\\d+\\]: (not (valid|usable) JSON|not UTF-8|a document is a JSON object)": "`content` that is JSON",
}
"""Patterns of an operation and the message of its refusal, and why no schema can say what is refused.

`positive_data_acceptance` wants each such request accepted.
"""

_EXCEPTIONS: dict[tuple[str, str], str] = {
    ("MissingHeaderNotRejected", "POST /dify/retrieval"): "Dify's protocol answers a missing key with 403, not 401"
}


@schemathesis.hook
def filter_failure(_: schemathesis.HookContext, failure: Any, case: Any, response: Any) -> bool:
    """Returns whether a failure of a check counts."""
    kind = type(failure).__name__
    if (kind, case.operation.label) in _EXCEPTIONS:
        return False
    told = f"{case.operation.label} {_read_detail(response)}"
    return kind != "RejectedPositiveData" or not any(re.search(part, told) for part in _REFUSALS)


@schemathesis.hook
def before_call(_: schemathesis.HookContext, case: Any, **__: Any) -> None:
    """Lowers generations that never come: the server waits ten seconds for each, as it says."""
    body = case.body
    if isinstance(body, dict) and isinstance(generation := body.get("min_generation"), int | float | dict):
        if isinstance(generation, dict):
            body["min_generation"] = {corpus: _lower(number) for corpus, number in generation.items()}
        else:
            body["min_generation"] = _lower(generation)


def _lower(generation: Any) -> Any:
    """Returns 0 for a generation that is valid."""
    is_valid = isinstance(generation, int | float) and not isinstance(generation, bool) and 0 <= generation <= 2**53
    return 0 if is_valid and generation == int(generation) else generation


def _read_detail(response: Any) -> str:
    """Returns the message of a problem, or of an error in the form of another protocol."""
    body = response.json()
    detail = body.get("detail") or body.get("error_msg") or body.get("error")
    return str(detail["message"] if isinstance(detail, dict) else detail)


@schemathesis.serializer("application/x-ndjson", "application/gzip")
def send_as_generated(_: schemathesis.SerializationContext, value: Any) -> bytes:
    """Returns the body of an import. Schemathesis does not know these types."""
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "replace")
