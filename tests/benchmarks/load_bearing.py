"""Load-bearing evidence on MuSiQue: does a verification name the documents that an answer hangs on?

Of each question one supporting passage is planted a second time, under another key and title, or with one sentence
more. A model that knows the gold decomposition (`tests.twins.oracle`) answers with `auto`, and the answer is verified.
The other supporting passages are needed; the one that is there twice is redundant.

`python -m tests.benchmarks.load_bearing --datasets DIR --first 0 --limit 25` measures some of the questions.
"""

import argparse
import asyncio
import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from app.container import Container
from app.services.questions import AskRequest, ask
from core.corpora import Corpus
from core.settings import LlmSettings
from core.strategies import parse_spec
from core.trace import Budget, Trace
from core.verification import DocumentRole, Verification, find_verification
from evaluation import read_dataset
from evaluation.scores import exact_match
from tests.benchmarks.check import Check, at_least, figure
from tests.benchmarks.oracle import Gold, read_gold
from tests.benchmarks.workshop import workshop
from tests.twins.chat_script import Call, Reply
from tests.twins.chat_server import ChatServer
from tests.twins.oracle import Oracle

__all__ = ["checks", "measure"]

_DATASET = "musique-train-100"
_PASSAGES = 10
_REASONER = "auto"
_TARGET = 0.95
_SENTENCE = "This text was copied from another page."


@dataclass(frozen=True, kw_only=True)
class _Planted:
    """A question, and the keys of the supporting passage that is there twice and of its copy."""

    gold: Gold
    original: str
    copy: str

    @property
    def needed(self) -> frozenset[str]:
        """The keys of the supporting passages that are there once."""
        return frozenset(hop.supporting for hop in self.gold.hops) - {self.original}


async def measure(datasets: Path, first: int = 0, limit: int = 100) -> dict[str, Any]:
    """Returns counts over the questions that were answered, the shares made of them, and each miss."""
    folder = datasets / _DATASET
    planted = [_plant(number, one) for number, one in enumerate(read_gold(folder / "questions.jsonl"))]
    asked = planted[first : first + limit]
    with tempfile.TemporaryDirectory(prefix="hopweave-planted-") as made:
        _write_dataset(folder, Path(made), asked)
        async with workshop() as shop:
            corpus, _ = await shop.ingest(read_dataset(Path(made)))
            rows = []
            with ChatServer(respond=_Reader(asked)) as server:
                llm = LlmSettings(base_url=server.url, model="oracle", send_metadata=True, cache=False, concurrency=1)
                container = Container(shop.settings.model_copy(update={"llm": llm}))
                try:
                    rows = [await _verify(container, corpus, one) for one in asked]
                finally:
                    await container.close()
    return _sum(rows)


def checks(report: dict[str, Any]) -> list[Check]:
    return [
        figure("load-bearing evidence: questions answered", report["answered"]),
        at_least("load-bearing evidence: precision of `needed`", report["precision"], _TARGET),
        at_least("load-bearing evidence: recall of `needed`", report["recall"], _TARGET),
        at_least("load-bearing evidence: planted passages that are redundant", report["redundant"], _TARGET),
        figure("load-bearing evidence: pairs of which one is said to be needed", report["together"]),
        figure("load-bearing evidence: calls, times those of the estimate", report["calls_of_estimate"]),
    ]


class _Reader:
    """The oracle, for which a copy is its original. It forgets what it answered when a question is asked again."""

    def __init__(self, planted: Sequence[_Planted]) -> None:
        self._oracle = Oracle({one.gold.question: one.gold.hops for one in planted})
        self._originals = {one.copy: one.original for one in planted}

    def __call__(self, call: Call) -> Reply:
        if call.role == "settle_or_plan":
            self._oracle.forget(call.labels["asked"])
        metadata = dict(call.body["metadata"])
        shown = metadata.get("passages", "").split()
        metadata["passages"] = " ".join(self._originals.get(key, key) for key in shown)
        return self._oracle(replace(call, body={**call.body, "metadata": metadata}))


def _plant(number: int, gold: Gold) -> _Planted:
    hop = gold.hops[number % len(gold.hops)]
    return _Planted(gold=gold, original=hop.supporting, copy=f"copy-{number}")


def _write_dataset(source: Path, folder: Path, planted: Sequence[_Planted]) -> None:
    """Writes the dataset with the copies: every second one has another title, the others one sentence more."""
    lines = (source / "corpus.jsonl").read_text("utf-8").splitlines()
    passages = {row["id"]: row for row in map(json.loads, lines)}
    for number, one in enumerate(planted):
        row = passages[one.original]
        changed = {"title": f"{row['title']} (copy)"} if number % 2 else {"text": f"{row['text']} {_SENTENCE}"}
        lines.append(json.dumps({**row, **changed, "id": one.copy}, ensure_ascii=False))
    (folder / "corpus.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    (folder / "questions.jsonl").write_bytes((source / "questions.jsonl").read_bytes())


async def _verify(container: Container, corpus: Corpus, one: _Planted) -> dict[str, Any]:
    trace = Trace()
    request = AskRequest(question=one.gold.question, reasoner=parse_spec(_REASONER), k=_PASSAGES)
    answer = await ask(container, corpus, request, trace, verify=Budget())
    verification = find_verification(trace.events)
    if verification is None:
        raise ValueError("an answer that was to be verified was not")
    roles = {verdict.located.document.key: verdict.role for verdict in verification.documents}
    pair = {one.original, one.copy}
    estimate = len(roles) * (trace.usage.calls + 1)
    return {
        "question": one.gold.question,
        "answered": not answer.abstained and exact_match(answer.plain, one.gold.answers) == 1,
        "needed": sorted(one.needed),
        "named": sorted(key for key, role in roles.items() if role is DocumentRole.NEEDED),
        "roles": {key: role.value for key, role in roles.items()},
        "is_redundant": bool(pair & roles.keys())
        and all(roles[key] is DocumentRole.REDUNDANT for key in pair & roles.keys()),
        "is_together": _has_group(verification, pair),
        "estimate": estimate,
        "calls": verification.usage.calls,
    }


def _has_group(verification: Verification, pair: set[str]) -> bool:
    return any({one.document.key for one in group} == pair for group in verification.together)


def _sum(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    answered = [row for row in rows if row["answered"]]
    right = sum(len(set(row["named"]) & set(row["needed"])) for row in answered)
    named, needed = (sum(len(row[field]) for row in answered) for field in ("named", "needed"))
    redundant, together = (sum(row[field] for row in answered) for field in ("is_redundant", "is_together"))
    misses = [row for row in answered if row["named"] != row["needed"] or not row["is_redundant"]]
    return {
        "questions": len(rows),
        "answered": len(answered),
        "counts": {"right": right, "named": named, "needed": needed, "redundant": redundant, "together": together},
        "precision": right / max(named, 1),
        "recall": right / max(needed, 1),
        "redundant": redundant / max(len(answered), 1),
        "together": together / max(len(answered), 1),
        "calls_of_estimate": sum(row["calls"] for row in answered) / max(sum(row["estimate"] for row in answered), 1),
        "misses": misses,
    }


def _main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.load_bearing")
    parser.add_argument("--datasets", type=Path, required=True)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--limit", type=int, default=100)
    arguments = parser.parse_args()
    report = asyncio.run(measure(arguments.datasets, arguments.first, arguments.limit))
    print(json.dumps(report, indent=2, ensure_ascii=False))


if __name__ == "__main__":
    _main()
