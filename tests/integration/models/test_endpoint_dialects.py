"""Servers of language models as they are: how each refuses what it does not know, in the words of its own code."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from pydantic import BaseModel, SecretStr

from core.errors import ContextTooLong, HopweaveError, ModelUnavailable
from core.prompting.structured import complete_structured
from core.trace import Trace
from models.chat.chat_errors import FormatRefused
from models.chat.endpoint import Endpoint
from models.chat.openai_chat import OpenAIChat, OutputMode
from models.chat.wrappers.output_modes import OutputModes
from tests.twins.chat_requests import Verdict, ask
from tests.twins.chat_server import Call, ChatServer, Reply

_GOOD = Reply(text='{"good": true}')


def _error(status: int, message: str, **more: Any) -> Reply:
    return Reply(status=status, raw=json.dumps({"error": {"message": message, **more}}).encode())


def _llama_cpp_python(call: Call) -> Reply:
    """Its server answers every fault of a request with 500. JSON mode takes a schema."""
    asked = call.body.get("response_format", {"type": "text"})["type"]
    if asked not in ("text", "json_object"):
        fault = {
            "type": "literal_error",
            "loc": ("body", "response_format", "type"),
            "msg": "Input should be 'text' or 'json_object'",
            "input": asked,
            "ctx": {"expected": "'text' or 'json_object'"},
        }
        return _error(500, str([fault]), type="internal_server_error", param=None, code=None)
    return _GOOD


def _old_llama_server(call: Call) -> Reply:
    """A schema that its grammar cannot express, and JSON mode with one, are 500 and 400."""
    asked = call.body.get("response_format", {})
    if asked.get("type") == "json_schema":
        return _error(500, "response_format.json_schema: failed to parse grammar", code=500, type="server_error")
    if "schema" in asked:
        return _error(400, '"response_format" has no "schema"', code=400, type="invalid_request_error")
    return _GOOD


def _vllm_without_guided_decoding(call: Call) -> Reply:
    if "response_format" in call.body:
        said = "guided decoding is not supported by this engine"
        return Reply(status=400, raw=json.dumps({"object": "error", "message": said, "code": 400}).encode())
    return _GOOD


def _in_unknown_words(call: Call) -> Reply:
    if "response_format" in call.body:
        return _error(400, "Bad Request")
    return _GOOD


def _silent(call: Call) -> Reply:
    """A server whose fault says nothing."""
    return Reply(status=500, raw=b"Internal Server Error") if "response_format" in call.body else _GOOD


def _not_built(call: Call) -> Reply:
    if call.mode == "json_schema":
        return _error(501, "structured outputs are not implemented")
    return _GOOD


_SERVERS = {
    "llama-cpp-python": (_llama_cpp_python, OutputMode.OBJECT_OF_SCHEMA),
    "old llama-server": (_old_llama_server, OutputMode.OBJECT),
    "vLLM without guided decoding": (_vllm_without_guided_decoding, OutputMode.TEXT),
    "501": (_not_built, OutputMode.OBJECT_OF_SCHEMA),
}


@pytest.fixture
async def model(server: ChatServer) -> AsyncIterator[OutputModes]:
    endpoint = Endpoint(base_url=server.url, api_key=SecretStr("x"), timeout=60)
    yield OutputModes(OpenAIChat("m", endpoint))
    await endpoint.close()


async def _ask(model: OutputModes) -> None:
    assert await complete_structured(model, ask(), Verdict, Trace()) == Verdict(good=True)


@pytest.mark.parametrize("name", _SERVERS)
async def test_what_a_server_refuses_is_found_out_once(server: ChatServer, model: OutputModes, name: str) -> None:
    server.respond, mode = _SERVERS[name]
    await _ask(model)
    assert model.mode is mode
    asked = len(server.calls)
    await _ask(model)
    assert len(server.calls) == asked + 1


async def test_a_schema_goes_along_with_json_mode(server: ChatServer, model: OutputModes) -> None:
    server.respond = _llama_cpp_python
    await _ask(model)
    sent = server.calls[-1].body["response_format"]
    assert (sent["type"], sent["schema"]["required"]) == ("json_object", ["good"])


async def test_a_refusal_without_words_costs_no_question(server: ChatServer, model: OutputModes) -> None:
    server.respond = _silent
    for _ in range(6):
        await _ask(model)
    assert model.mode is OutputMode.TEXT
    asked = len(server.calls)
    await _ask(model)
    assert len(server.calls) == asked + 1


@pytest.mark.parametrize(
    ("status", "body"),
    [
        # LM Studio's bug tracker, #189
        (400, "{\"error\": \"'response_format.type' must be 'json_schema' or 'text'\"}"),
        # TGI's issue #2899
        (422, "Failed to deserialize the JSON body into the target type: response_format: missing field `value`"),
        # llama-server, to a type that it does not know
        (400, '{"error":{"code":400,"message":"response_format type must be one of \\"text\\" or \\"json_object\\""}}'),
    ],
    ids=["LM Studio", "TGI", "llama-server"],
)
async def test_json_mode_is_refused(server: ChatServer, status: int, body: str) -> None:
    server.script.append(Reply(status=status, raw=body.encode()))
    endpoint = Endpoint(base_url=server.url)
    with pytest.raises(FormatRefused):
        await OpenAIChat("m", endpoint).complete(ask(json=True), Trace(), mode=OutputMode.OBJECT)
    await endpoint.close()


async def test_a_refusal_in_unknown_words_costs_one_more_call(server: ChatServer, model: OutputModes) -> None:
    server.respond = _in_unknown_words
    for sent in (2, 2, 2, 1, 1):
        server.calls.clear()
        await _ask(model)
        assert len(server.calls) == sent
    assert model.mode is OutputMode.TEXT


@pytest.mark.parametrize(
    "refusal",
    [
        _error(500, "invalid JSON schema in format", type="api_error", param=None, code=None),  # Ollama 0.17.4
        _error(
            400,
            "Unable to generate parser for this template. Automatic parser generation failed: JSON schema error at "
            "#/properties/a: cannot resolve $ref #/nowhere, nowhere not found",
            code=400,
            type="invalid_request_error",
        ),  # llama-server
    ],
    ids=["Ollama", "llama-server"],
)
async def test_one_schema_is_refused_and_others_are_not(server: ChatServer, model: OutputModes, refusal: Reply) -> None:
    class Other(BaseModel):
        good: bool
        why: str

    def respond(call: Call) -> Reply:
        if "why" in json.dumps(call.body.get("response_format")):
            return refusal
        return Reply(text='{"good": true, "why": "so"}') if "why" in call.text else _GOOD

    server.respond = respond
    await _ask(model)
    assert await complete_structured(model, ask(), Other, Trace()) == Other(good=True, why="so")
    assert model.mode is OutputMode.SCHEMA
    server.calls.clear()
    await complete_structured(model, ask(), Other, Trace())
    assert [call.mode for call in server.calls] == ["json_object"]


async def test_a_fault_that_passes_is_no_refusal(server: ChatServer, model: OutputModes) -> None:
    server.script.append(Reply(status=500, raw=b"Internal Server Error"))
    for _ in range(2):
        server.script.append(_GOOD)
        await _ask(model)
    assert model.mode is OutputMode.SCHEMA


async def test_a_server_that_fails_is_asked_no_more_than_twice(server: ChatServer, model: OutputModes) -> None:
    server.respond = lambda _: Reply(status=500, raw=b"out of memory")
    for _ in range(3):
        server.calls.clear()
        with pytest.raises(ModelUnavailable, match="500: out of memory"):
            await model.complete(ask(json=True), Trace())
        assert len(server.calls) == 2
    assert model.mode is OutputMode.SCHEMA
    server.respond = lambda _: _GOOD
    await _ask(model)
    server.respond = lambda _: Reply(status=500, raw=b"out of memory")
    server.calls.clear()
    with pytest.raises(ModelUnavailable):
        await model.complete(ask(json=True), Trace())
    assert len(server.calls) == 1, "a mode that was answered is not refused"


@pytest.mark.parametrize("status", [401, 404, 429, 503])
async def test_the_words_of_other_statuses_are_no_refusal(server: ChatServer, model: OutputModes, status: int) -> None:
    server.script.append(_error(status, "response_format json_schema"))
    with pytest.raises(HopweaveError, match=str(status)):
        await model.complete(ask(json=True), Trace())
    assert model.mode is OutputMode.SCHEMA


# llama-server, Ollama and llama-cpp-python as they answered; the others in the words of their sources and issues.
_TOO_LONG = {
    "llama-cpp-python": _error(
        400,
        "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens",
        type="invalid_request_error",
        code="context_length_exceeded",
    ),
    "llama-server": _error(
        400,
        "the request exceeds the available context size, try increasing it",
        type="exceed_context_size_error",
        n_prompt_tokens=9000,
        n_ctx=8192,
    ),
    "llama-cpp-python, as a fault of its own": _error(500, "Requested tokens (9000) exceed context window of 8192"),
    "TGI": Reply(
        status=422,
        raw=b'{"error": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 9000 '
        b'`inputs` tokens and 20 `max_new_tokens`", "error_type": "validation"}',
    ),
    "Ollama": _error(400, "input length exceeds the context length"),
    "llama-server of 2026": _error(
        400,
        "request (1616 tokens) exceeds the available context size (1024 tokens), try increasing it",
        code=400,
        type="exceed_context_size_error",
        n_prompt_tokens=1616,
        n_ctx=1024,
    ),
    "OpenAI": _error(
        400,
        "This model's maximum context length is 8192 tokens. However, your messages resulted in 8227 tokens. "
        "Please reduce the length of the messages.",
        type="invalid_request_error",
        param="messages",
        code="context_length_exceeded",
    ),
    "vLLM": _error(
        400,
        "You passed 98305 input tokens and requested 32768 output tokens. However, the model's context length is only "
        "131072 tokens, resulting in a maximum input length of 98304 tokens. Please reduce the length of the input "
        "prompt. (parameter=input_tokens, value=98305)",
        type="BadRequestError",
        param="input_tokens",
        code=400,
    ),
    "LM Studio": Reply(  # its bug tracker, #237 and #546
        status=400,
        raw=b'{"error": "Trying to keep the first 15857 tokens when context the overflows. However, the model is '
        b'loaded with context length of only 4096 tokens, which is not enough."}',
    ),
}


@pytest.mark.parametrize("name", _TOO_LONG)
async def test_a_prompt_that_is_too_long_is_named(server: ChatServer, model: OutputModes, name: str) -> None:
    server.script.append(_TOO_LONG[name])
    with pytest.raises(ContextTooLong, match="tokens were sent"):
        await model.complete(ask(json=True), Trace())
    assert len(server.calls) == 1


@pytest.mark.parametrize(
    "event",
    [
        {
            "message": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 17 `inputs` "
            "tokens and 10000 `max_new_tokens`",
            "http_status_code": 422,
        },
        {"code": 400, "message": "the request exceeds the available context size. try increasing the context size"},
    ],
    ids=["TGI", "old llama-server"],
)
async def test_a_prompt_that_is_too_long_is_named_in_a_stream(
    server: ChatServer, model: OutputModes, event: dict[str, Any]
) -> None:
    server.script.append(Reply(raw=b"data: " + json.dumps({"error": event}).encode() + b"\n\n"))
    with pytest.raises(ContextTooLong, match="ended its answer with an error"):
        await model.complete(ask(json=True), Trace(), lambda _: None)


async def test_an_unknown_parameter_is_left_out_whatever_the_status(server: ChatServer, model: OutputModes) -> None:
    said = "create_chat_completion() got an unexpected keyword argument 'stream_options'"
    server.respond = lambda call: _error(500, said) if "stream_options" in call.body else _GOOD
    for _ in range(2):
        await model.complete(ask(), Trace(), lambda _: None)
    assert len(server.calls) == 3


async def test_an_answer_that_is_no_stream_is_read(server: ChatServer, model: OutputModes) -> None:
    whole = {"choices": [{"message": {"content": '{"good": true}'}, "finish_reason": "stop"}]}
    server.script.append(Reply(raw=json.dumps(whole).encode()))
    pieces: list[str] = []
    completion = await model.complete(ask(json=True), Trace(), pieces.append)
    assert pieces == [completion.text] == ['{"good": true}']
    assert "stream" in server.calls[-1].body
