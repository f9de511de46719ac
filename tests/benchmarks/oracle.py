"""What retrieval and orchestration lose on MuSiQue, by reasoner, with a model that knows the gold decomposition."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.container import Container
from app.questions import AskRequest, ask
from core.corpora import Corpus
from core.settings import LlmSettings
from core.strategies import parse_spec
from core.trace import Trace
from evaluation import read_dataset
from evaluation.metrics import exact_match
from tests.benchmarks.check import Check, at_least, at_most, figure
from tests.benchmarks.workshop import Workshop, workshop
from tests.twins.chat_server import ChatServer
from tests.twins.oracle import GoldHop, Oracle

__all__ = ["checks", "measure"]

_DATASET = "musique-train-100"
_PASSAGES = 10
_REASONERS = (
    "auto",
    "par",
    "par:skip_supported=true",
    "plan_star",
    "vanilla",
    "auto:searcher=dense",
    "par:searcher=dense",
    "plan_star:searcher=dense",
    "vanilla:searcher=dense",
)


@dataclass(frozen=True, kw_only=True)
class _Gold:
    question: str
    answers: tuple[str, ...]
    hops: tuple[GoldHop, ...]


async def measure(datasets: Path) -> dict[str, Any]:
    """By reasoner: the share of questions all of whose hops were shown, EM, calls, tokens; and each miss."""
    gold = _read(datasets / _DATASET / "questions.jsonl")
    async with workshop() as shop:
        corpus, _ = await shop.ingest(read_dataset(datasets / _DATASET), "pattern+given")
        return {reasoner: await _run(shop, corpus, gold, reasoner) for reasoner in _REASONERS}


def checks(report: dict[str, Any]) -> list[Check]:
    rows = []
    for reasoner in ("plan_star", "par", "auto"):
        rows.append(at_least(f"all hops shown, {reasoner}", report[reasoner]["all_hops"], 0.88))
        rows.append(at_least(f"EM, {reasoner}", report[reasoner]["em"], 0.86))
    rows += [figure(f"all hops shown, {name}", report[name]["all_hops"]) for name in _REASONERS if name not in _GATED]
    rows += [figure(f"EM, {name}", report[name]["em"]) for name in _REASONERS if name not in _GATED]
    rows += [figure(f"calls a question, {name}", report[name]["calls"]) for name in _REASONERS]
    rows += [figure(f"tokens a question, {name}", report[name]["tokens"]) for name in _REASONERS]
    published, skipping = report["par"], report["par:skip_supported=true"]
    rows.append(at_most("calls beyond the hops, auto", report["auto"]["beyond_hops"], 1.8))
    rows.append(at_most("calls, par skipping of par", skipping["calls"] / published["calls"], 0.65))
    rows.append(at_most("tokens, par skipping of par", skipping["tokens"] / published["tokens"], 0.7))
    unexplained = sum(not miss["hops_not_found"] for name in _GATED for miss in report[name]["misses"])
    rows.append(at_most("misses without a hop that was not found", float(unexplained), 0.0))
    return rows


_GATED = ("plan_star", "par", "auto")


def _read(path: Path) -> list[_Gold]:
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [
        _Gold(
            question=row["question"],
            answers=(row["answer"], *row["aliases"]),
            hops=tuple(
                GoldHop(question=hop["question"], answer=hop["answer"], supporting=hop["supporting"])
                for hop in row["hops"]
            ),
        )
        for row in rows
    ]


async def _run(shop: Workshop, corpus: Corpus, gold: Sequence[_Gold], reasoner: str) -> Mapping[str, Any]:
    oracle = Oracle({one.question: one.hops for one in gold})
    with ChatServer(respond=oracle) as server:
        llm = LlmSettings(base_url=server.url, model="oracle", send_metadata=True, cache=False)
        container = Container(shop.settings.model_copy(update={"llm": llm}))
        try:
            return _summed([await _asked(container, corpus, one, reasoner, oracle) for one in gold])
        finally:
            await container.close()


async def _asked(container: Container, corpus: Corpus, one: _Gold, reasoner: str, oracle: Oracle) -> dict[str, Any]:
    trace = Trace()
    request = AskRequest(question=one.question, reasoner=parse_spec(reasoner), k=_PASSAGES)
    answer = await ask(container, corpus, request, trace)
    return {
        "question": one.question,
        "hops": len(one.hops),
        "em": exact_match("" if answer.abstained else answer.plain, one.answers),
        "answer": answer.plain,
        "hops_not_found": sorted(set(range(len(one.hops))) - oracle.found[one.question]),
        "calls": trace.usage.calls,
        "tokens": trace.usage.tokens,
    }


def _summed(rows: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    count = len(rows)
    return {
        "questions": count,
        "all_hops": sum(not row["hops_not_found"] for row in rows) / count,
        "em": sum(row["em"] for row in rows) / count,
        "calls": sum(row["calls"] for row in rows) / count,
        "beyond_hops": sum(row["calls"] - row["hops"] for row in rows) / count,
        "tokens": sum(row["tokens"] for row in rows) / count,
        "misses": [row for row in rows if not row["em"]],
    }
