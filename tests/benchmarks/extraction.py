"""Whether a language model is kept busy: extraction by a server that takes 200 ms a call, while embedding goes on."""

import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evaluation import read_dataset
from tests.benchmarks.check import Check, at_least, at_most, figure
from tests.benchmarks.workshop import workshop
from tests.openie import passage_of
from tests.servers.installation import configured
from tests.twins.chat_server import Call, ChatServer, Reply

__all__ = ["answer", "answers_of", "busy_share", "checks", "measure"]

_SECONDS_A_CALL = 0.2
_AT_A_TIME = 8
_TURNAROUND = 0.05


async def measure(datasets: Path) -> dict[str, Any]:
    """The whole way through the worker; in flight is what the server itself saw."""
    folder = datasets / "musique-train-100"
    dataset, answers = read_dataset(folder), answers_of(folder)
    with ChatServer(respond=lambda call: answer(call, answers)) as server, configured(_settings(server.url)):
        async with workshop() as shop:
            began = time.perf_counter()
            corpus, report = await shop.ingest(dataset, "llm")
            seconds = time.perf_counter() - began
            counts = await shop.container.record.corpora.count(corpus.id)
    calls = [(call.received, call.ended or call.received) for call in server.calls]
    last = max(ended for _, ended in calls)
    return {
        "passages": report.passages,
        "calls": len(calls),
        "seconds": seconds,
        "extracting_seconds": last - min(began for began, _ in calls),
        "after_the_last_call_seconds": seconds - (last - min(began for began, _ in calls)),
        "most_in_flight": server.most_in_flight,
        "busy_share": busy_share(calls, _AT_A_TIME),
        "busy_share_beside_turnarounds": busy_share(calls, _AT_A_TIME, overlook=_TURNAROUND),
        "mean_in_flight": sum(ended - began for began, ended in calls) / (last - min(began for began, _ in calls)),
        "chunks": counts.chunks,
        "facts": counts.facts,
    }


def checks(report: Mapping[str, Any]) -> list[Check]:
    return [
        at_least(f"extraction: share of the time with {_AT_A_TIME} calls in flight", report["busy_share"], 0.9),
        at_most("extraction: most calls in flight", report["most_in_flight"], _AT_A_TIME),
        figure("extraction: the same, gaps of less than 50 ms overlooked", report["busy_share_beside_turnarounds"]),
        figure("extraction: calls in flight, on average", report["mean_in_flight"]),
        at_most("extraction: calls a passage, after cutting", report["calls"] / report["chunks"], 1),
        figure("extraction: seconds, all in all", report["seconds"]),
    ]


def busy_share(calls: Sequence[tuple[float, float]], at_a_time: int, *, overlook: float = 0.0) -> float:
    """The share of the time between the first begin and the last end in which `at_a_time` or more calls were open.

    A call's end and the next one's begin are some milliseconds apart: that counts as idle, unless it is shorter than
    `overlook` seconds. What is longer is a wait for something else than the turn of one call.
    """
    changes = sorted([(began, 1) for began, _ in calls] + [(ended, -1) for _, ended in calls])
    first, last = changes[0][0], changes[-1][0]
    idle, open_calls, since = 0.0, 0, first
    for at, change in changes:
        before, open_calls = open_calls, open_calls + change
        if before < at_a_time <= open_calls:
            idle += at - since if at - since >= overlook else 0.0
        elif open_calls < at_a_time <= before:
            since = at
    idle += last - since if open_calls < at_a_time else 0.0
    return 1 - idle / (last - first)


def answers_of(folder: Path) -> dict[str, Any]:
    """What was extracted of each passage, by its text."""
    lines = (folder / "openie.jsonl").read_text(encoding="utf-8").splitlines()
    by_id = {row["id"]: {"entities": row["entities"], "triples": row["triples"]} for row in map(json.loads, lines)}
    passages = map(json.loads, (folder / "corpus.jsonl").read_text(encoding="utf-8").splitlines())
    return {passage["text"].strip(): by_id[passage["id"]] for passage in passages}


def answer(call: Call, answers: Mapping[str, Any]) -> Reply:
    text = passage_of(call).strip()
    found = answers.get(text) or next(found for whole, found in answers.items() if text in whole)  # if it was cut
    return Reply(text=json.dumps(found, ensure_ascii=False), delay=_SECONDS_A_CALL)


def _settings(url: str) -> dict[str, str]:
    """The worker reads its settings from the environment."""
    return {
        "HOPWEAVE_LLM__BASE_URL": url,
        "HOPWEAVE_LLM__MODEL": "twin",
        "HOPWEAVE_LLM__API_KEY": "none",
        "HOPWEAVE_LLM__CONCURRENCY": str(_AT_A_TIME),
    }
