"""Hopweave's own time: questions with a model that answers at once, beside the same calls through the bare client and
the same searches. The model is the oracle, in a process of its own, so that its work is nobody's time.
"""

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from openai import AsyncOpenAI

from app.container import Container
from app.services.questions import AskRequest, SearchRequest, ask, search
from core.corpora import Corpus
from core.events import SearchEvent
from core.settings import LlmSettings
from core.strategies import parse_spec
from core.trace import Trace
from evaluation import read_dataset
from tests.benchmarks.check import Check, at_most, figure
from tests.benchmarks.oracle import Gold, read_gold
from tests.benchmarks.workshop import Workshop, workshop
from tests.twins.chat_server import ChatServer
from tests.twins.oracle import Oracle

__all__ = ["checks", "measure", "oracle_server"]

_DATASET = "musique-train-100"
_QUESTIONS = 30
_AT_ONCE = 16
_REASONERS = ("auto", "par", "plan_star")


async def measure(datasets: Path) -> dict[str, Any]:
    """Seconds for the same questions: asked, and taken apart into calls and searches, one after the other."""
    path = datasets / _DATASET / "questions.jsonl"
    gold = read_gold(path)
    async with workshop() as shop:
        corpus, _ = await shop.ingest(read_dataset(datasets / _DATASET), "pattern+given")
        return {name: await _compared(shop, corpus, gold[:_QUESTIONS], path, name) for name in _REASONERS}


def checks(report: dict[str, Any]) -> list[Check]:
    rows = []
    for name, row in report.items():
        rows.append(at_most(f"{name}: times the bare calls and searches, one question at a time", row["ratio"], 3))
        rows.append(figure(f"{name}: ms a question beyond calls and searches", row["own_ms"]))
        rows.append(at_most(f"{name}: errors, {_AT_ONCE} questions at once", row["errors_at_once"], 0))
        rows.append(figure(f"{name}: questions per second, {_AT_ONCE} at once", row["per_second_at_once"]))
    return rows


async def _compared(
    shop: Workshop, corpus: Corpus, gold: Sequence[Gold], path: Path, reasoner: str
) -> Mapping[str, Any]:
    bodies, searches = await _recorded(shop, corpus, gold, reasoner)
    async with oracle_server(path) as url:
        container = _container(shop, url)
        try:
            await _ask_all(container, corpus, gold[:3], reasoner)  # what is loaded on the first use is nobody's time
            began = time.perf_counter()
            await _ask_all(container, corpus, gold, reasoner)
            asked = time.perf_counter() - began
            retrieval = await _search_all(container, corpus, searches)
            calls = await _call_all(url, bodies)
            at_once = await _at_once(container, corpus, gold, reasoner)
        finally:
            await container.close()
    return {
        "questions": len(gold),
        "calls": len(bodies),
        "searches": len(searches),
        "asked_seconds": asked,
        "bare_calls_seconds": calls,
        "searches_seconds": retrieval,
        "ratio": asked / (calls + retrieval),
        "own_ms": 1000 * (asked - calls - retrieval) / len(gold),
        **at_once,
    }


def _container(shop: Workshop, url: str) -> Container:
    llm = LlmSettings(base_url=url, model="oracle", send_metadata=True, cache=False)
    return Container(shop.settings.model_copy(update={"llm": llm}))


async def _recorded(
    shop: Workshop, corpus: Corpus, gold: Sequence[Gold], reasoner: str
) -> tuple[list[dict[str, Any]], list[tuple[str, str, int]]]:
    """The bodies of all calls, and (searcher, text, k) of all searches, that these questions make."""
    searches: list[tuple[str, str, int]] = []
    with ChatServer(respond=Oracle({one.question: one.hops for one in gold})) as server:
        container = _container(shop, server.url)
        try:
            for one in gold:
                trace = await _ask(container, corpus, one, reasoner)
                found = [event for event in trace.events if isinstance(event, SearchEvent)]
                searches += [(event.searcher, event.query, max(len(event.hits), 1)) for event in found]
        finally:
            await container.close()
        return [dict(call.body) for call in server.calls], searches


async def _ask_all(container: Container, corpus: Corpus, gold: Sequence[Gold], reasoner: str) -> None:
    for one in gold:
        await _ask(container, corpus, one, reasoner)


async def _ask(container: Container, corpus: Corpus, one: Gold, reasoner: str) -> Trace:
    trace = Trace()
    await ask(container, corpus, AskRequest(question=one.question, reasoner=parse_spec(reasoner), k=10), trace)
    return trace


async def _search_all(container: Container, corpus: Corpus, searches: Sequence[tuple[str, str, int]]) -> float:
    began = time.perf_counter()
    for searcher, text, k in searches:
        await search(container, corpus, SearchRequest(query=text, searcher=parse_spec(searcher), k=k), Trace())
    return time.perf_counter() - began


async def _call_all(url: str, bodies: Sequence[Mapping[str, Any]]) -> float:
    async with AsyncOpenAI(base_url=url, api_key="none", max_retries=0) as client:
        await client.chat.completions.create(**bodies[0])
        began = time.perf_counter()
        for body in bodies:
            await _drained(await client.chat.completions.create(**body))
        return time.perf_counter() - began


async def _drained(answer: Any) -> None:
    """A stream is read to its end, as Hopweave reads it."""
    if hasattr(answer, "__aiter__"):
        async for _ in answer:
            pass


async def _at_once(container: Container, corpus: Corpus, gold: Sequence[Gold], reasoner: str) -> Mapping[str, Any]:
    began = time.perf_counter()
    asked = [_ask(container, corpus, one, reasoner) for one in gold[:_AT_ONCE]]
    outcomes = await asyncio.gather(*asked, return_exceptions=True)
    seconds = time.perf_counter() - began
    failed = [repr(one) for one in outcomes if isinstance(one, BaseException)]
    return {"errors_at_once": len(failed), "failures": failed, "per_second_at_once": len(asked) / seconds}


@asynccontextmanager
async def oracle_server(questions: Path) -> AsyncIterator[str]:
    command = [sys.executable, "-m", "tests.benchmarks.oracle", str(questions)]
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe)
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield (await process.stdout.readline()).decode().strip()
    finally:
        process.stdin.close()
        await process.wait()
