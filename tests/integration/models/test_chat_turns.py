"""Turns on the wire: who is next has prepared its request, and leaves before the last answer is read."""

import asyncio
from functools import partial

import pytest

from core.errors import BudgetExhausted
from core.execution.limits import set_current_caller
from core.trace import Budget, Trace
from models.chat.endpoint import Endpoint, Limits
from models.chat.openai_chat import OpenAIChat
from models.chat.wrappers.accounting import ChatAccounting
from models.chat.wrappers.retry import ChatRateLimit
from tests.twins.chat_requests import ask
from tests.twins.chat_server import Call, ChatServer, Reply

_TRIES = 20


async def test_the_next_request_leaves_before_an_answer_is_read(server: ChatServer, endpoint: Endpoint):
    model = ChatAccounting(ChatRateLimit(OpenAIChat("m", endpoint), Limits(concurrency=1)))
    seen = []
    for _ in range(_TRIES):  # the server's thread may come late to look
        trace = Trace()
        known: list[int] = []
        server.respond = partial(_respond_with_what_is_known, trace, known)
        await asyncio.gather(*(model.complete(ask(), trace) for _ in range(3)))
        assert server.most_in_flight == 1
        seen.append(known[:2])
        if known[:2] == [0, 0]:
            break
    assert [0, 0] in seen, "the second was sent while the first was not read"


def _respond_with_what_is_known(trace: Trace, known: list[int], _: Call) -> Reply:
    """Notes how many tokens of answers were counted when a request came."""
    known.append(trace.usage.completion_tokens)
    return Reply(text="word")


async def test_under_a_budget_of_tokens_it_waits_for_what_the_answer_cost(server: ChatServer, endpoint: Endpoint):
    model = ChatAccounting(ChatRateLimit(OpenAIChat("m", endpoint), Limits(concurrency=1)))
    trace = Trace(budget=Budget(tokens=1))
    answers = await asyncio.gather(*(model.complete(ask(), trace) for _ in range(3)), return_exceptions=True)
    assert [isinstance(answer, BudgetExhausted) for answer in answers] == [False, True, True]
    assert len(server.calls) == 1
    assert (trace.usage.calls, trace.usage.row("plan", "m").failed, len(trace.events)) == (1, 0, 1)


async def test_who_waits_for_his_turn_does_not_use_up_his_time(server: ChatServer):
    endpoint = Endpoint(base_url=server.url, timeout=5)
    limits = Limits(concurrency=1)
    await limits.enter(1)
    call = asyncio.create_task(ChatRateLimit(OpenAIChat("m", endpoint), limits).complete(ask(), Trace()))
    await server.until(lambda: limits.has_waiting)
    await asyncio.sleep(5.5)
    limits.leave()
    assert (await call).text == "ok"
    await endpoint.close()


async def test_a_turn_is_given_back_however_a_call_ends(server: ChatServer, endpoint: Endpoint):
    limits = Limits(concurrency=1)
    model = ChatRateLimit(OpenAIChat("m", endpoint), limits)
    server.script.extend([Reply(status=500), Reply(stall=True), Reply(text="cut", cut_after=1), Reply(text="there")])
    with pytest.raises(Exception, match="500"):
        await model.complete(ask(), Trace())
    stalled, waiting = (asyncio.create_task(model.complete(ask(), Trace())) for _ in range(2))
    await server.until(lambda: len(server.calls) == 2 and limits.has_waiting)
    waiting.cancel()
    stalled.cancel()
    await asyncio.wait([stalled, waiting])
    with pytest.raises(Exception, match=r"cut off|cannot be reached"):
        await model.complete(ask(), Trace(), lambda _: None)
    fresh = Endpoint(base_url=server.url, timeout=20)  # the server may still be closing the connection that it cut
    assert (await ChatRateLimit(OpenAIChat("m", fresh), limits).complete(ask(), Trace())).text == "there"
    await fresh.close()
    assert not limits.has_waiting


async def test_a_stream_keeps_its_turn_to_its_end(server: ChatServer, endpoint: Endpoint):
    model = ChatRateLimit(OpenAIChat("m", endpoint), Limits(concurrency=1))
    server.script.append(Reply(text="one two three", stall_after=1))
    pieces: list[str] = []
    stream = asyncio.create_task(model.complete(ask(), Trace(), pieces.append))
    await server.until(lambda: pieces)
    other = asyncio.create_task(model.complete(ask(), Trace()))
    await asyncio.sleep(0.05)
    assert len(server.calls) == 1
    stream.cancel()
    assert (await other).text == "ok"


async def test_a_large_call_is_not_overtaken_for_ever():
    now, order = 1000.0, list[int]()

    async def sleep(seconds: float) -> None:
        nonlocal now
        now += seconds
        await asyncio.sleep(0)

    limits = Limits(concurrency=4, tokens_per_minute=100, clock=lambda: now, sleep=sleep)

    async def call(tokens: int) -> None:
        await limits.enter(tokens)
        order.append(tokens)
        limits.leave()

    await asyncio.gather(*map(call, (60, 200, *[60] * 8)))
    assert order[:3] == [60, 200, 60]


async def test_a_budget_that_is_over_is_no_fault_of_the_endpoint(server: ChatServer, endpoint: Endpoint):
    model = ChatRateLimit(OpenAIChat("m", endpoint), Limits(concurrency=1))
    trace = Trace(budget=Budget(tokens=5))
    trace.usage.row("plan", "m").prompt_tokens = 5
    with pytest.raises(BudgetExhausted, match="5 tokens were allowed"):
        await model.complete(ask(), trace)
    assert server.calls == []


async def test_who_asks_much_keeps_nobody_waiting(server: ChatServer, endpoint: Endpoint):
    model = ChatAccounting(ChatRateLimit(OpenAIChat("m", endpoint), Limits(concurrency=1)))

    async def question(caller: str, calls: int) -> None:
        set_current_caller(caller)
        await asyncio.gather(*(model.complete(ask(caller), Trace()) for _ in range(calls)))

    server.respond = lambda _: Reply(text="word", delay=0.01)
    await asyncio.gather(question("much", 12), question("one", 1))
    order = [call.text for call in server.calls]
    assert len(order) == 13
    assert order.index("one") <= 2, "after the call that ran, and one more"
