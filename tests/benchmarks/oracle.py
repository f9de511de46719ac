"""What retrieval and orchestration lose on MuSiQue, by reasoner, with a model that knows the gold decomposition.

Also what an error of that model costs: the exact match with errors, as a share of that without.
`python -m tests.benchmarks.oracle QUESTIONS` is that model: prints its address, and ends when its standard input does.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.container import Container
from app.services.questions import AskRequest, ask
from core.corpora import Corpus
from core.settings import LlmSettings
from core.strategies import parse_spec
from core.trace import Trace
from evaluation import read_dataset
from evaluation.scores import exact_match
from tests.benchmarks.check import Check, at_least, at_most, figure
from tests.benchmarks.workshop import Workshop, workshop
from tests.twins.chat_server import ChatServer
from tests.twins.oracle import GoldHop, Oracle

__all__ = ["Gold", "checks", "measure", "read_gold"]

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

_AS_MANY = "vanilla, as many passages as auto saw"
_GATED = ("plan_star", "par", "auto")

_CURVE = "with errors"
_CURVED = ("auto", "par", "plan_star", "vanilla")
"""IRCoT is not among them: the model has no next sentence of a thought."""
_RATES = (0.1, 0.2)
_SEEDS = {"auto": (1, 2)}
"""The others have no target. They get one seed and every second question: `par` takes four times as long as `auto`."""
_LEAST_SHARE = {0.1: 0.88, 0.2: 0.78}
"""What `auto` keeps of its exact match at each rate of errors."""


@dataclass(frozen=True, kw_only=True)
class Gold:
    question: str
    answers: tuple[str, ...]
    hops: tuple[GoldHop, ...]


async def measure(datasets: Path) -> dict[str, Any]:
    """By reasoner: the share of questions all of whose hops were shown, EM, calls, tokens; and each miss."""
    gold = read_gold(datasets / _DATASET / "questions.jsonl")
    async with workshop() as shop:
        corpus, _ = await shop.ingest(read_dataset(datasets / _DATASET), "pattern+given")
        report = {name: await _run(shop, corpus, gold, name, _PASSAGES) for name in _REASONERS}
        as_many = round(report["auto"]["passages"])
        return {
            **report,
            _AS_MANY: await _run(shop, corpus, gold, "vanilla", as_many),
            _CURVE: {name: await _measure_curve(shop, corpus, gold, name, report[name]["misses"]) for name in _CURVED},
        }


def checks(report: dict[str, Any]) -> list[Check]:
    rows = []
    for reasoner in ("plan_star", "par", "auto"):
        rows.append(at_least(f"all hops shown, {reasoner}", report[reasoner]["all_hops"], 0.88))
        rows.append(at_least(f"EM, {reasoner}", report[reasoner]["em"], 0.86))
    rows += [figure(f"all hops shown, {name}", report[name]["all_hops"]) for name in _REASONERS if name not in _GATED]
    rows += [figure(f"EM, {name}", report[name]["em"]) for name in _REASONERS if name not in _GATED]
    rows += [figure(f"all hops shown, {_AS_MANY}", report[_AS_MANY]["all_hops"])]
    rows += [figure(f"calls a question, {name}", report[name]["calls"]) for name in _REASONERS]
    rows += [figure(f"tokens a question, {name}", report[name]["tokens"]) for name in _REASONERS]
    published, skipping = report["par"], report["par:skip_supported=true"]
    rows.append(at_most("calls beyond the hops, auto", report["auto"]["beyond_hops"], 1.8))
    rows.append(at_most("calls, par skipping of par", skipping["calls"] / published["calls"], 0.65))
    rows.append(at_most("tokens, par skipping of par", skipping["tokens"] / published["tokens"], 0.7))
    unexplained = sum(not miss["hops_not_found"] for name in _GATED for miss in report[name]["misses"])
    rows.append(at_most("misses without a hop that was not found", float(unexplained), 0.0))
    return rows + _check_curve(report[_CURVE])


def _check_curve(curve: Mapping[str, Mapping[str, float]]) -> list[Check]:
    rows = []
    for name in _CURVED:
        for rate in _RATES:
            share = curve[name][f"{rate:g}"] / curve[name]["0"]
            what = f"EM with errors at {rate:g}, of EM without, {name}"
            rows.append(at_least(what, share, _LEAST_SHARE[rate]) if name == "auto" else figure(what, share))
    return rows


def table(report: dict[str, Any]) -> str:
    """Reasoners side by side, the curve over the rate of errors, and each gated one's misses with the hops that were
    not found.
    """
    lines = [
        "| oracle | all hops shown | EM | calls | beyond hops | tokens | passages |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for name, row in report.items():
        if name in (*_REASONERS, _AS_MANY):
            cells = f"{row['all_hops']:.2f} | {row['em']:.2f} | {row['calls']:.2f} | {row['beyond_hops']:.2f}"
            lines.append(f"| `{name}` | {cells} | {row['tokens']:.0f} | {row['passages']:.1f} |")
    rates = ["0", *(f"{rate:g}" for rate in _RATES)]
    lines += ["", f"| EM at the error rate | {' | '.join(rates)} |", f"|---|{'---:|' * len(rates)}"]
    for name in _CURVED:
        lines.append(f"| `{name}` | {' | '.join(f'{report[_CURVE][name][rate]:.2f}' for rate in rates)} |")
    lines += ["", "| missed by | question | hops not found |", "|---|---|---|"]
    for name in _GATED:
        lines += [f"| `{name}` | {miss['question']} | {_numbers(miss)} |" for miss in report[name]["misses"]]
    return "\n".join(lines)


def _numbers(miss: Mapping[str, Any]) -> str:
    return ", ".join(str(hop + 1) for hop in miss["hops_not_found"]) + f" of {miss['hops']}"


def read_gold(path: Path) -> list[Gold]:
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [
        Gold(
            question=row["question"],
            answers=(row["answer"], *row["aliases"]),
            hops=tuple(
                GoldHop(question=hop["question"], answer=hop["answer"], supporting=hop["supporting"])
                for hop in row["hops"]
            ),
        )
        for row in rows
    ]


async def _measure_curve(
    shop: Workshop, corpus: Corpus, gold: Sequence[Gold], reasoner: str, misses: Sequence[Mapping[str, Any]]
) -> Mapping[str, float]:
    """The exact match by rate of errors, the mean over the seeds; `misses` are those without errors."""
    seeds = _SEEDS.get(reasoner, (1,))
    asked = gold if reasoner in _SEEDS else gold[::2]
    missed = {miss["question"] for miss in misses}
    curve = {"0": sum(one.question not in missed for one in asked) / len(asked)}
    for rate in _RATES:
        oracles = [_make_oracle(asked, rate, seed) for seed in seeds]
        runs = [await _run(shop, corpus, asked, reasoner, _PASSAGES, oracle) for oracle in oracles]
        curve[f"{rate:g}"] = sum(run["em"] for run in runs) / len(runs)
    return curve


def _make_oracle(gold: Sequence[Gold], error_rate: float = 0.0, seed: int = 0) -> Oracle:
    return Oracle({one.question: one.hops for one in gold}, error_rate, seed)


async def _run(
    shop: Workshop, corpus: Corpus, gold: Sequence[Gold], reasoner: str, k: int, oracle: Oracle | None = None
) -> Mapping[str, Any]:
    oracle = oracle or _make_oracle(gold)
    with ChatServer(respond=oracle) as server:
        llm = LlmSettings(base_url=server.url, model="oracle", send_metadata=True, cache=False)
        container = Container(shop.settings.model_copy(update={"llm": llm}))
        try:
            return _summed([await _asked(container, corpus, one, _request(one, reasoner, k), oracle) for one in gold])
        finally:
            await container.close()


def _request(one: Gold, reasoner: str, k: int) -> AskRequest:
    return AskRequest(question=one.question, reasoner=parse_spec(reasoner), k=k)


async def _asked(
    container: Container, corpus: Corpus, one: Gold, request: AskRequest, oracle: Oracle
) -> dict[str, Any]:
    trace = Trace()
    answer = await ask(container, corpus, request, trace)
    return {
        "question": one.question,
        "hops": len(one.hops),
        "em": exact_match("" if answer.abstained else answer.plain, one.answers),
        "answer": answer.plain,
        "hops_not_found": sorted(set(range(len(one.hops))) - oracle.found[one.question]),
        "passages": len(oracle.passages[one.question]),
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
        "passages": sum(row["passages"] for row in rows) / count,
        "misses": [row for row in rows if not row["em"]],
    }


def _serve() -> None:
    gold = read_gold(Path(sys.argv[1]))
    with ChatServer(respond=Oracle({one.question: one.hops for one in gold})) as server:
        print(server.url, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    _serve()
