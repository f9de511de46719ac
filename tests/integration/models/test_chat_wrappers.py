"""What stands around a call: output modes, retries, limits, books. Over a real socket."""

import asyncio
from dataclasses import replace

import pytest

from core.errors import BudgetExhausted, ModelFailed, ModelUnavailable
from core.events import CallEvent
from core.prompting.structured import complete_structured
from core.trace import Budget, Trace
from models.chat.endpoint import Endpoint, Limits
from models.chat.openai_chat import OpenAIChat, OutputMode
from models.chat.wrappers.accounting import ChatAccounting
from models.chat.wrappers.output_modes import OutputModes
from models.chat.wrappers.retry import ChatRateLimit, ChatRetry
from tests.twins.chat_requests import Verdict, ask
from tests.twins.chat_server import ChatServer, Reply


@pytest.fixture
def plain(endpoint: Endpoint) -> OpenAIChat:
    return OpenAIChat("m", endpoint)


class Clock:
    """Time that passes when somebody waits for it."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.pauses: list[float] = []

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += seconds


# Output modes


@pytest.mark.parametrize(
    ("knows", "mode", "modes"),
    [
        ({"json_schema"}, OutputMode.SCHEMA, ["json_schema"]),
        ({"json_object"}, OutputMode.OBJECT_OF_SCHEMA, ["json_schema", "json_object"]),
        (set(), OutputMode.TEXT, ["json_schema", "json_object", "json_object", "text"]),
    ],
)
async def test_the_best_mode_is_found_out_once(
    server: ChatServer, plain: OpenAIChat, knows: set[str], mode: OutputMode, modes: list[str]
):
    server.knows = knows
    server.respond = lambda _: Reply(text='Here: {"good": true}.')
    model = OutputModes(plain)
    assert await complete_structured(model, ask(system="Judge."), Verdict, Trace()) == Verdict(good=True)
    assert model.mode is mode
    assert [call.mode for call in server.calls] == modes
    await complete_structured(model, ask(), Verdict, Trace())
    assert [call.mode for call in server.calls] == [*modes, modes[-1]]


async def test_a_schema_goes_along_or_is_told(server: ChatServer, plain: OpenAIChat):
    server.knows = {"json_object"}
    model = OutputModes(plain)
    for request in (ask("Well?", system="Judge.", json=True), ask("Well?", json=True), ask("Well?")):
        await model.complete(request, Trace())
    by_schema, with_system, without_system, no_schema = server.calls
    sent = by_schema.body["response_format"]["json_schema"]
    assert sent["strict"] is True
    assert sent["schema"]["required"] == ["good"]
    assert [message["role"] for message in with_system.messages] == ["system", "user"]
    assert with_system.messages[0]["content"].startswith("Judge.\n\nAnswer with one JSON object")
    assert '"good"' in with_system.messages[0]["content"]
    assert [message["role"] for message in without_system.messages] == ["system", "user"]
    assert (no_schema.mode, no_schema.text) == ("text", "Well?")


async def test_one_schema_that_is_refused_goes_down_alone(server: ChatServer, plain: OpenAIChat):
    model = OutputModes(plain)
    server.script.append(Reply(status=400, text="Invalid schema for response_format 'answer'"))
    for _ in range(2):
        await model.complete(ask(json=True), Trace())
    await model.complete(replace(ask(), schema={"type": "object"}), Trace())
    assert [call.mode for call in server.calls] == ["json_schema", "json_object", "json_object", "json_schema"]
    assert model.mode is OutputMode.SCHEMA


async def test_another_refusal_is_no_reason_to_ask_otherwise(server: ChatServer, plain: OpenAIChat):
    server.respond = lambda _: Reply(status=400, text="messages must alternate")
    model = OutputModes(plain)
    for _ in range(2):
        server.calls.clear()
        with pytest.raises(ModelFailed, match="must alternate"):
            await model.complete(ask(json=True), Trace())
        assert len(server.calls) == 2, "once more without a form, in case that it is what was refused"
    assert model.mode is OutputMode.SCHEMA


# Retries


def _retried(plain: OpenAIChat, clock: Clock, retries: int = 3) -> ChatRetry:
    return ChatRetry(plain, retries=retries, sleep=clock.sleep, jitter=lambda: 1.0)


async def test_what_may_pass_is_tried_again(server: ChatServer, plain: OpenAIChat):
    clock = Clock()
    server.script.extend([Reply(status=500), Reply(status=408), Reply(status=409), Reply(text="at last")])
    assert (await _retried(plain, clock).complete(ask(), Trace())).text == "at last"
    assert clock.pauses == [0.5, 1.0, 2.0]


async def test_the_pause_is_as_long_as_the_endpoint_asks(server: ChatServer, plain: OpenAIChat):
    clock = Clock()
    server.script.append(Reply(status=429, headers={"Retry-After": "7"}))
    await _retried(plain, clock).complete(ask(), Trace())
    assert clock.pauses == [7.5]
    assert len(server.calls) == 2


async def test_a_wait_of_hours_is_not_waited_for(server: ChatServer, plain: OpenAIChat):
    clock = Clock()
    server.script.append(Reply(status=429, headers={"Retry-After": "3600"}))
    with pytest.raises(ModelUnavailable, match="429"):
        await _retried(plain, clock).complete(ask(), Trace())
    assert (clock.pauses, len(server.calls)) == ([], 1)


async def test_retries_end(server: ChatServer, plain: OpenAIChat):
    server.respond = lambda _: Reply(status=503)
    with pytest.raises(ModelUnavailable, match=r"503.*\(asked 4 times\)"):
        await _retried(plain, Clock()).complete(ask(), Trace())
    assert len(server.calls) == 4


async def test_a_refusal_is_not_tried_again(server: ChatServer, plain: OpenAIChat):
    server.script.append(Reply(status=401))
    with pytest.raises(ModelFailed):
        await _retried(plain, Clock()).complete(ask(), Trace())
    assert len(server.calls) == 1


async def test_a_stream_is_tried_again_before_its_first_piece_only(server: ChatServer):
    endpoint = Endpoint(base_url=server.url)
    model = _retried(OpenAIChat("m", endpoint), Clock())
    await model.complete(ask(), Trace())  # what takes long the first time is done
    endpoint.timeout = 4
    server.script.extend([Reply(status=500), Reply(cut_after=0), Reply(text="one two", stall_after=1)])
    pieces: list[str] = []
    with pytest.raises(ModelUnavailable, match="did not answer"):
        await model.complete(ask(), Trace(), pieces.append)
    assert (pieces, len(server.calls)) == (["one "], 4)
    await endpoint.close()


async def test_no_try_that_is_as_long_as_the_last_one_outlasts_the_budget(server: ChatServer):
    """So a question fails with the endpoint's own timeout, and not with that of its budget."""
    endpoint = Endpoint(base_url=server.url, timeout=4)
    server.respond = lambda _: Reply(stall=True)
    with pytest.raises(ModelUnavailable, match=r"did not answer within 4 s; HOPWEAVE_LLM__TIMEOUT"):
        await _retried(OpenAIChat("m", endpoint), Clock()).complete(ask(), Trace(budget=Budget(seconds=8)))
    assert len(server.calls) <= 1
    await endpoint.close()


async def test_no_pause_outlasts_the_budget(server: ChatServer, plain: OpenAIChat):
    clock = Clock()
    server.script.append(Reply(status=429, headers={"Retry-After": "60"}))
    with pytest.raises(ModelUnavailable, match="429"):
        await _retried(plain, clock).complete(ask(), Trace(budget=Budget(seconds=30)))
    assert clock.pauses == []


# Limits


async def test_no_more_calls_are_in_flight_than_allowed(server: ChatServer, plain: OpenAIChat):
    server.respond = lambda _: Reply(until=lambda: server.most_in_flight >= 3)
    model = ChatRateLimit(plain, Limits(concurrency=3))
    await asyncio.gather(*(model.complete(ask(), Trace()) for _ in range(10)))
    assert (len(server.calls), server.most_in_flight) == (10, 3)


async def test_requests_per_minute(plain: OpenAIChat):
    clock = Clock()
    model = ChatRateLimit(plain, Limits(concurrency=8, requests_per_minute=2, clock=clock, sleep=clock.sleep))
    for _ in range(2):
        await model.complete(ask(), Trace())
        clock.now += 10
    for _ in range(2):
        await model.complete(ask(), Trace())
    assert clock.pauses == [40, 10]


async def test_tokens_per_minute_are_corrected_by_the_answer(plain: OpenAIChat):
    clock = Clock()
    model = ChatRateLimit(plain, Limits(concurrency=8, tokens_per_minute=200, clock=clock, sleep=clock.sleep))
    prompt = "x" * 320  # 80 tokens, and one of the answer
    request = ask(prompt, max_tokens=100)
    await model.complete(request, Trace())
    assert clock.pauses == []
    await model.complete(ask(prompt, max_tokens=20), Trace())  # 81 + 100: with the estimate of the first it would wait
    assert clock.pauses == []
    await model.complete(request, Trace())
    assert clock.pauses == [60]


async def test_a_failed_call_costs_no_tokens_and_a_large_one_goes_alone(server: ChatServer, plain: OpenAIChat):
    clock = Clock()
    model = ChatRateLimit(plain, Limits(concurrency=8, tokens_per_minute=10, clock=clock, sleep=clock.sleep))
    server.script.append(Reply(status=500))
    with pytest.raises(ModelUnavailable):
        await model.complete(ask("x" * 4000), Trace())
    await model.complete(ask("x" * 20, max_tokens=2), Trace())
    assert clock.pauses == []
    await model.complete(ask("x" * 4000), Trace())
    assert clock.pauses == [60]


def test_each_event_loop_waits_for_itself(server: ChatServer):
    endpoint = Endpoint(base_url=server.url)
    model = ChatRateLimit(OpenAIChat("m", endpoint), Limits(concurrency=1))

    async def work() -> None:
        await asyncio.gather(*(model.complete(ask(), Trace()) for _ in range(3)))
        await endpoint.close()

    asyncio.run(work())
    asyncio.run(work())
    assert (len(server.calls), server.most_in_flight) == (6, 1)


# Books


async def test_a_call_is_written_into_the_books(server: ChatServer, plain: OpenAIChat):
    trace = Trace()
    server.script.append(Reply(text="x" * 40, usage=False))
    await ChatAccounting(plain).complete(ask("x" * 80, labels={"step": "2.1"}), trace)
    row = trace.usage.actions["plan", "m"]
    assert (row.calls, row.failed, row.prompt_tokens, row.completion_tokens, row.estimated) == (1, 0, 20, 10, True)
    [event] = trace.events
    assert isinstance(event, CallEvent)
    assert (event.action, event.model, event.step, event.cached) == ("plan", "m", "2.1", False)
    assert (event.prompt_tokens, event.completion_tokens) == (20, 10)
    assert row.seconds >= event.seconds * 0.5 > 0


async def test_a_failed_call_is_one_too(server: ChatServer, plain: OpenAIChat):
    trace = Trace()
    server.script.append(Reply(status=400))
    with pytest.raises(ModelFailed):
        await ChatAccounting(plain).complete(ask(), trace)
    row = trace.usage.actions["plan", "m"]
    assert (row.calls, row.failed, row.prompt_tokens, len(trace.events)) == (1, 1, 0, 1)


async def test_a_cancelled_call_is_one_too(server: ChatServer, plain: OpenAIChat):
    trace = Trace()
    server.script.append(Reply(stall=True))
    call = asyncio.create_task(ChatAccounting(plain).complete(ask(), trace))
    await server.until(lambda: server.in_flight)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await server.until(lambda: server.hung_up)
    assert trace.usage.actions["plan", "m"].failed == 1


async def test_calls_are_never_more_than_allowed(server: ChatServer, plain: OpenAIChat):
    trace = Trace(budget=Budget(calls=3))
    model = ChatAccounting(plain)
    calls = (model.complete(ask(), trace) for _ in range(8))
    results = await asyncio.gather(*calls, return_exceptions=True)
    assert sum(isinstance(result, BudgetExhausted) for result in results) == 5
    assert len(server.calls) == trace.usage.calls == 3


async def test_tokens_that_are_used_up_end_it(server: ChatServer, plain: OpenAIChat):
    trace = Trace(budget=Budget(tokens=20))
    await ChatAccounting(plain).complete(ask("x" * 80), trace)
    with pytest.raises(BudgetExhausted, match="20 tokens were allowed and 21 are used"):
        await ChatAccounting(plain).complete(ask(), trace)
    assert len(server.calls) == 1


async def test_a_call_ends_with_the_time(server: ChatServer, plain: OpenAIChat):
    await plain.complete(ask(), Trace())  # what takes long the first time is done
    server.script.append(Reply(stall=True))
    trace = Trace(budget=Budget(seconds=3))
    with pytest.raises(BudgetExhausted, match=r"3 seconds .* a call of 'plan' was ended"):
        await ChatAccounting(plain).complete(ask(), trace)
    await server.until(lambda: server.hung_up)
    assert trace.usage.actions["plan", "m"].failed == 1
    with pytest.raises(BudgetExhausted):
        await ChatAccounting(plain).complete(ask(), trace)
    assert len(server.calls) == 2
