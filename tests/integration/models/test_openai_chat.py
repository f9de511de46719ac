"""One call over a real socket: what is sent, what comes back, and every way in which it can fail."""

import asyncio
import json
import logging
import socket
import time
import traceback
from collections.abc import AsyncIterator, Callable

import pytest
from pydantic import SecretStr

from core.errors import ContextTooLong, HopweaveError, InvalidSettings, ModelFailed, ModelUnavailable
from core.ports.chat import ChatRequest, Completion
from core.prompting.structured import complete_structured
from core.trace import Trace
from models.chat.chat_errors import RetryLater
from models.chat.endpoint import Endpoint
from models.chat.openai_chat import _CHUNKS_AT_ONCE, _CHUNKS_PER_SECOND, OpenAIChat, OutputMode
from models.chat.wrappers.output_modes import OutputModes
from tests.twins.chat_requests import PROMPT, Verdict, ask
from tests.twins.chat_server import ChatServer, Reply

KEY = "sk-very-secret-key"


@pytest.fixture
async def model(server: ChatServer) -> AsyncIterator[OpenAIChat]:
    endpoint = Endpoint(base_url=server.url, api_key=SecretStr(KEY), timeout=20)
    yield OpenAIChat("m", endpoint)
    await endpoint.close()


async def test_an_answer(server: ChatServer, model: OpenAIChat):
    server.script.append(Reply(text="forty-two"))
    completion = await model.complete(ask("1234567890", temperature=0.5, max_tokens=9, stop=("END",)), Trace())
    assert completion == Completion(text="forty-two", model="m", prompt_tokens=2, completion_tokens=2)
    [call] = server.calls
    assert call.headers["authorization"] == f"Bearer {KEY}"
    assert dict(call.body) == {
        "model": "m",
        "messages": [{"role": "user", "content": "1234567890"}],
        "temperature": 0.5,
        "max_tokens": 9,
        "stop": ["END"],
    }


async def test_what_is_not_asked_for_is_not_sent(server: ChatServer, model: OpenAIChat):
    await model.complete(ask(question="Q", labels={"step": "1"}), Trace())
    assert set(server.calls[0].body) == {"model", "messages", "temperature"}


async def test_metadata_where_it_is_wanted(server: ChatServer):
    endpoint = Endpoint(base_url=server.url)
    model = OpenAIChat("m", endpoint, send_metadata=True)
    await model.complete(ask(question="Q" * 600, labels={"step": "1", "role": "liar"}, corpus_id="c"), Trace())
    await endpoint.close()
    [call] = server.calls
    assert (call.role, call.question, call.corpus, call.labels) == ("plan", "Q" * 512, "c", {"step": "1"})


async def test_a_stream_is_told_as_it_comes(server: ChatServer, model: OpenAIChat):
    pieces: list[str] = []
    server.script.append(Reply(text="one two three", reasoning="hm"))
    completion = await model.complete(ask("1234567890"), Trace(), pieces.append)
    assert pieces == ["one ", "two ", "three"]
    assert completion == Completion(
        text="one two three", model="m", prompt_tokens=2, completion_tokens=3, reasoned=True
    )


async def test_a_stream_of_many_chunks_is_read_slowly(server: ChatServer, model: OpenAIChat):
    """However fast it comes, so that others are served meanwhile."""
    chunks = 2500
    server.script.append(Reply(text="a " * chunks))
    began = time.monotonic()
    await model.complete(ask(), Trace(), lambda _: None)
    assert time.monotonic() - began > (chunks - _CHUNKS_AT_ONCE) / _CHUNKS_PER_SECOND - 0.1


async def test_without_usage_tokens_are_estimated(server: ChatServer, model: OpenAIChat):
    server.script.append(Reply(text="12345", usage=False))
    completion = await model.complete(ask("1234567890"), Trace())
    assert (completion.prompt_tokens, completion.completion_tokens, completion.estimated) == (3, 2, True)


async def test_a_thinking_model_that_is_cut(server: ChatServer, model: OpenAIChat):
    server.script.append(Reply(text="", reasoning="let me see", finish_reason="length"))
    completion = await model.complete(ask(), Trace())
    assert (completion.text, completion.cut, completion.reasoned) == ("", True, True)
    server.script.append(Reply(text="", reasoning="let me see", finish_reason="length"))
    with pytest.raises(ModelFailed, match="step 'plan': m spent its 2 tokens on reasoning before it answered"):
        await complete_structured(model, ask(), Verdict, Trace())


async def test_prose_around_json_is_passed_over(server: ChatServer, model: OpenAIChat):
    server.script.append(Reply(text='Sure!\n```json\n{"good": true}\n```\nAnything else?'))
    assert await complete_structured(model, ask(), Verdict, Trace()) == Verdict(good=True)


async def test_malformed_json_is_repaired_once(server: ChatServer, model: OpenAIChat):
    server.script.extend([Reply(text='{"good": tr'), Reply.json({"good": False})])
    assert await complete_structured(model, ask(), Verdict, Trace()) == Verdict(good=False)
    assert "could not be read" in server.calls[1].text


@pytest.mark.parametrize("refused", ["max_tokens", "temperature", "stop", "stream_options"])
async def test_a_parameter_that_is_refused_is_found_out_once(server: ChatServer, model: OpenAIChat, refused: str):
    server.refuses = {refused}
    request = ask(temperature=0.7, max_tokens=9, stop=("END",))
    for _ in range(2):
        server.script.append(Reply(text="one END two"))
        completion = await model.complete(request, Trace(), [].append)
        assert completion.text == "one "
    assert len(server.calls) == 3
    assert refused not in server.calls[-1].body
    assert server.calls[-1].body.get("max_completion_tokens") == (9 if refused == "max_tokens" else None)


Fault = Reply | Callable[[ChatServer], None]


def _option(name: str, value: object) -> Fault:
    return lambda server: setattr(server, name, value)


TALKATIVE = f"cannot serve {KEY}: {PROMPT!r}"
FAULTS: list[tuple[str, Fault, type[HopweaveError], str]] = [
    ("key", _option("api_key", "another"), ModelFailed, r"401: Incorrect.*\*\*\*; check HOPWEAVE_LLM__API_KEY"),
    (
        "model",
        _option("models", {"n"}),
        ModelFailed,
        r"404: The model `m` does not exist; check HOPWEAVE_LLM__MODEL .*offers 'n'$",
    ),
    ("context", _option("context_tokens", 5), ContextTooLong, r"400: .*maximum context.*\d+ tokens were sent for 'pl"),
    ("llama.cpp", Reply(status=400, text="exceeds the available context size"), ContextTooLong, "context"),
    ("500", Reply(status=500), ModelUnavailable, "answered 500: no luck"),
    ("503", Reply(status=503, raw=b"<html>"), ModelUnavailable, "answered 503: <html>"),
    (
        "429",
        Reply(status=429, headers={"Retry-After": "86400"}),
        RetryLater,
        r"answered 429: no luck; it asks to wait for 86,400 s; HOPWEAVE_LLM__REQUESTS_PER_MINUTE .*",
    ),
    (
        "unclosed thoughts",
        Reply(text="<think>What about {this}? " * 9),
        ModelFailed,
        r"m at http://\S+ ended its answer within its reasoning .*allow more tokens with HOPWEAVE_LLM__MAX_OUTPUT_T",
    ),
    ("404", Reply(status=404, text="Not Found"), ModelFailed, r"404: Not Found; check HOPWEAVE_LLM__BASE_URL"),
    ("400 model", Reply(status=400, text="unknown model"), ModelFailed, "unknown model; check HOPWEAVE_LLM__M"),
    ("400", Reply(status=400, text="bad"), ModelFailed, "answered 400: bad$"),
    ("no choices", Reply(choices=False), ModelFailed, "step 'plan': m at .* without any choice.*check HOPWEAVE_L"),
    ("echo", Reply(status=400, text=TALKATIVE), ModelFailed, "answered 400$"),
    ("echo 500", Reply(status=500, raw=TALKATIVE.encode()), ModelUnavailable, "answered 500$"),
]
WHOLE = [
    (
        "page",
        Reply(raw=b"\n<!DOCTYPE html><html>"),
        ModelFailed,
        r"m at http://\S+ answered with an HTML page instead of JSON.*check HOPWEAVE_LLM__BASE_URL",
    ),
    ("nothing", Reply(raw=b""), ModelFailed, "answered with an empty body: check HOPWEAVE_LLM__BASE_URL"),
    ("events", Reply(raw=b"data: {}\n\n"), ModelFailed, "a stream of events, which was not asked for"),
    ("half", Reply(raw=b'{"choices": [{"mess'), ModelFailed, "answered with JSON whose end is missing"),
    (
        "tools",
        Reply(raw=b'{"choices": [{"message": {"content": null, "tool_calls": [{"id": "c"}]}}]}'),
        ModelFailed,
        r"m at http://\S+ called a tool instead of answering.*turn tools off.*HOPWEAVE_LLM__MODEL",
    ),
    ("list", Reply(raw=b"[1]"), ModelFailed, "what is no completion .*check HOPWEAVE_LLM__BASE_URL"),
    ("object", Reply(raw=b'{"choices": [{}]}'), ModelFailed, "what is no completion .*check HOPWEAVE_LLM__BASE_URL"),
    (
        "truncated",
        Reply(text="x" * 99, cut_after=1),
        ModelUnavailable,
        r"m at http://\S+ closed the connection before its .*peer",
    ),
]
STREAMED = [
    ("cut", Reply(text="one two", cut_after=1), ModelFailed, "was cut off in the middle"),
    ("broken", Reply(text="one two", cut_after=1, abrupt=True), ModelFailed, "was cut off in the middle"),
    ("cut first", Reply(text="one two", cut_after=0), ModelUnavailable, "ended before its answer"),
    ("broken first", Reply(cut_after=0, abrupt=True), ModelUnavailable, "peer closed"),
    ("error", Reply(raw=b'data: {"error": {"message": "overheated"}}\n\n'), ModelFailed, "error: overheated"),
    (
        "page",
        Reply(raw=b"<html>", headers={"Content-Type": "text/html"}),
        ModelFailed,
        "answered with an HTML page instead of JSON.*: check HOPWEAVE_LLM__BASE_URL",
    ),
    (
        "text",
        Reply(raw=b"hello", headers={"Content-Type": "text/plain"}),
        ModelFailed,
        "what is no stream of events: check HOPWEAVE_LLM__BASE_URL",
    ),
    (
        "tools",
        Reply(
            raw=b'data: {"choices": [{"delta": {"tool_calls": [{"id": "c"}]}}]}\n\n'
            b'data: {"choices": [{"delta": {}, "finish_reason": "tool_calls"}]}\n\ndata: [DONE]\n\n'
        ),
        ModelFailed,
        "called a tool instead of answering",
    ),
    ("no event", Reply(raw=b"data: {{\n\n"), ModelFailed, "no completion"),
]
CASES = [(False, *fault) for fault in FAULTS + WHOLE] + [(True, *fault) for fault in FAULTS + STREAMED]


@pytest.mark.parametrize(
    ("streamed", "fault", "error", "words"),
    [pytest.param(s, *rest, id=f"{name}{'-streamed' * s}") for s, name, *rest in CASES],
)
async def test_a_fault_has_its_error_and_shows_nothing_private(
    server: ChatServer,
    model: OpenAIChat,
    caplog: pytest.LogCaptureFixture,
    streamed: bool,
    fault: Fault,
    error: type[HopweaveError],
    words: str,
):
    caplog.set_level(logging.DEBUG)
    if isinstance(fault, Reply):
        server.script.append(fault)
    else:
        fault(server)
    with pytest.raises(error, match=words) as raised:
        await model.complete(ask(), Trace(), [].append if streamed else None)
    told = "".join(traceback.format_exception(raised.value)) + caplog.text
    assert server.url in str(raised.value)
    assert KEY not in told
    assert "launch code" not in told
    assert len(server.calls) == 1


@pytest.mark.parametrize(
    "header",
    ["Mon, 99999999999999999999 Nov 1995 19:12:08 GMT", "Mon, 20 Nov 1995 19:12:08 -99999999999999999999", "soon"],
)
async def test_a_wait_that_cannot_be_read_is_none(server: ChatServer, model: OpenAIChat, header: str):
    server.script.append(Reply(status=429, headers={"Retry-After": header}))
    with pytest.raises(ModelUnavailable, match="answered 429") as raised:
        await model.complete(ask(), Trace())
    assert not isinstance(raised.value, RetryLater)


@pytest.mark.parametrize(
    ("pieces", "text"),
    [
        (["Ada \ud83d", "\ude00!"], "Ada \U0001f600!"),
        (["Ada \ud83d", "!"], "Ada \ufffd!"),
        (["Bob \ude00", "!"], "Bob \ufffd!"),
        (["Ada", "\ud83d"], "Ada\ufffd"),
        (["\ud83d", "", "\ude00"], "\U0001f600"),
    ],
)
async def test_halves_of_characters_are_joined_or_replaced(
    server: ChatServer, model: OpenAIChat, pieces: list[str], text: str
):
    chunks = [{"choices": [{"delta": {"content": piece}, "finish_reason": None}]} for piece in pieces]
    chunks[-1]["choices"][0]["finish_reason"] = "stop"
    raw = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks).encode()
    server.script.append(Reply(raw=raw))
    told: list[str] = []
    assert (await model.complete(ask(), Trace(), told.append)).text == text
    assert "".join(told) == text.removesuffix("\ufffd") or "".join(told) == text
    whole = {"choices": [{"message": {"content": "".join(pieces)}, "finish_reason": "stop"}]}
    server.script.append(Reply(raw=json.dumps(whole).encode()))
    assert (await model.complete(ask(), Trace())).text == text


async def test_the_wait_that_is_asked_for_is_carried(server: ChatServer, model: OpenAIChat):
    dates = {"7": 7, "0.5": 0.5, "Wed, 21 Oct 2015 07:28:00 GMT": 0, "Fri, 01 Jan 2100 00:00:00 GMT": 1e9}
    for header, seconds in dates.items():
        server.script.append(Reply(status=429, headers={"Retry-After": header}))
        with pytest.raises(RetryLater) as raised:
            await model.complete(ask(), Trace())
        assert raised.value.retry_after == pytest.approx(seconds) or raised.value.retry_after > seconds >= 1e9


@pytest.mark.parametrize(
    ("reply", "streamed"),
    [(Reply(stall=True), False), (Reply(stall=True), True), (Reply(text="one two", stall_after=1), True)],
)
async def test_a_slow_endpoint_is_unavailable(server: ChatServer, reply: Reply, streamed: bool):
    endpoint = Endpoint(base_url=server.url)
    model = OpenAIChat("m", endpoint)
    await model.complete(ask(), Trace())  # what takes long the first time is done
    endpoint.timeout = 0.3
    server.script.append(reply)
    with pytest.raises(ModelUnavailable, match=r"did not answer within 0\.3 s; HOPWEAVE_LLM__TIMEOUT"):
        await model.complete(ask(), Trace(), [].append if streamed else None)
    await server.until(lambda: server.hung_up)
    await endpoint.close()


async def test_an_endpoint_that_is_down():
    with socket.socket() as hold:
        hold.bind(("127.0.0.1", 0))
        endpoint = Endpoint(base_url=f"http://127.0.0.1:{hold.getsockname()[1]}/v1", api_key=SecretStr(KEY))
        with pytest.raises(ModelUnavailable, match=r"m at http://127\S+ cannot be reached .*correct HOPWEAVE_LLM__BA"):
            await OpenAIChat("m", endpoint).complete(ask(), Trace())
        await endpoint.close()


@pytest.mark.parametrize("reply", [Reply(stall=True), Reply(text="one two", stall_after=1)])
async def test_a_cancelled_call_ends_at_the_endpoint(server: ChatServer, model: OpenAIChat, reply: Reply):
    server.script.append(reply)
    seen: list[str] = []
    call = asyncio.create_task(model.complete(ask(), Trace(), seen.append if reply.stall_after else None))
    await server.until(lambda: seen if reply.stall_after else server.in_flight)
    call.cancel()
    await server.until(lambda: server.hung_up)
    with pytest.raises(asyncio.CancelledError):
        await call


async def test_what_on_token_raises_is_the_callers_own(model: OpenAIChat):
    def broken(piece: str) -> None:
        raise ValueError(piece)

    with pytest.raises(ValueError, match="ok"):
        await model.complete(ask(), Trace(), broken)


async def test_an_error_after_a_part_of_an_answer_refuses_nothing(server: ChatServer):
    """It may name what was asked for, or the context; the request had been taken."""
    part = {"choices": [{"delta": {"content": '{"go'}, "finish_reason": None}]}
    endpoint = Endpoint(base_url=server.url)
    model = OutputModes(OpenAIChat("m", endpoint))
    for words in ("response_format: the json_schema was given up", "context length"):
        fault = {"error": {"message": words}}
        raw = "".join(f"data: {json.dumps(event)}\n\n" for event in (part, fault)).encode()
        server.script.append(Reply(raw=raw, headers={"Content-Type": "text/event-stream"}))
        told: list[str] = []
        with pytest.raises(ModelFailed, match=words) as raised:
            await model.complete(ask(json=True), Trace(), told.append)
        assert type(raised.value) is ModelFailed
        assert told == ['{"go']
    assert len(server.calls) == 2
    assert model.mode is OutputMode.SCHEMA
    await endpoint.close()


@pytest.mark.parametrize("streamed", [False, True])
async def test_an_address_that_may_lack_its_version(server: ChatServer, streamed: bool):
    address = server.url.removesuffix("/v1")
    endpoint = Endpoint(base_url=f"{address}/")
    model = OpenAIChat("m", endpoint)
    lacks = rf"HOPWEAVE_LLM__BASE_URL .* may lack /v1: most servers answer at {address}/v1$"
    for reply in (Reply(status=404, raw=b"404 page not found"), Reply(raw=b'{"error": "Unexpected endpoint"}')):
        server.script.append(reply)
        with pytest.raises(ModelFailed, match=lacks):
            await model.complete(ask(), Trace(), [].append if streamed else None)
    server.models = {"n"}
    with pytest.raises(ModelFailed, match=r"offers 'n'$"):
        await model.complete(ask(), Trace(), [].append if streamed else None)
    await endpoint.close()


def test_each_event_loop_has_connections_of_its_own(server: ChatServer):
    endpoint = Endpoint(base_url=server.url)

    async def call(request: ChatRequest) -> str:
        completion = await OpenAIChat("m", endpoint).complete(request, Trace())
        await endpoint.close()
        return completion.text

    assert [asyncio.run(call(ask())), asyncio.run(call(ask()))] == ["ok", "ok"]


def test_without_address_and_key_there_is_no_endpoint():
    with pytest.raises(InvalidSettings, match="HOPWEAVE_LLM__BASE_URL"):
        Endpoint()
    assert Endpoint(api_key=SecretStr("k")).url == "https://api.openai.com/v1"


async def test_a_redirect_takes_no_prompt_elsewhere(server: ChatServer):
    with ChatServer() as elsewhere:
        server.script.append(Reply(status=307, headers={"Location": f"{elsewhere.url}/chat/completions"}, raw=b""))
        endpoint = Endpoint(base_url=server.url)
        with pytest.raises(ModelFailed, match="answered 307"):
            await OpenAIChat("m", endpoint).complete(ask(), Trace())
        await endpoint.close()
        assert elsewhere.calls == []


async def test_a_password_in_the_address_is_not_shown(server: ChatServer):
    address = server.url.replace("http://", "http://ada:hunter2@")
    endpoint = Endpoint(base_url=address)
    server.script.extend([Reply(status=400), Reply(text="there")])
    with pytest.raises(ModelFailed) as raised:
        await OpenAIChat("m", endpoint).complete(ask(), Trace())
    assert "hunter2" not in f"{raised.value} {endpoint.url}"
    assert server.url in str(raised.value)
    assert (await OpenAIChat("m", endpoint).complete(ask(), Trace())).text == "there"
    await endpoint.close()


@pytest.mark.parametrize("streamed", [False, True])
async def test_an_answer_without_end_is_stopped(server: ChatServer, model: OpenAIChat, streamed: bool):
    server.script.append(Reply(text="x" * 5001))
    with pytest.raises(ModelFailed, match=r"more than the 5,000 characters .*MAX_ANSWER_CHARACTERS"):
        await model.complete(ask(max_characters=5000), Trace(), (lambda _: None) if streamed else None)
    server.script.append(Reply(text="x" * 5000))
    answer = await model.complete(ask(max_characters=5000), Trace(), (lambda _: None) if streamed else None)
    assert len(answer.text) == 5000
