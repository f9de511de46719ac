"""Questions at once over HTTP with a model that answers at once: errors, and how long the event loop was blocked.

The model is the oracle, in a process of its own. The server measures its event loop itself, by a timer
(`hopweave_event_loop_lag_seconds`).
"""

import asyncio
import time
from pathlib import Path
from typing import Any

import httpx
from prometheus_client.parser import text_string_to_metric_families

from evaluation import read_dataset
from tests.benchmarks.check import Check, at_most, figure
from tests.benchmarks.http import serving
from tests.benchmarks.oracle import read_gold
from tests.benchmarks.overhead import oracle_server
from tests.benchmarks.workshop import workshop
from tests.servers.installation import configured

__all__ = ["checks", "measure"]

_AT_ONCE = 32
_QUESTIONS = 64
_REASONERS = ("auto", "par", "plan_star")
_MOST_SECONDS = 120.0
_LAG = "hopweave_event_loop_lag_seconds"
_LONGEST = 0.1


async def measure(dataset: Path) -> dict[str, Any]:
    """Each reasoner answers the same questions, 32 at once, on a server that is ready."""
    path = dataset / "questions.jsonl"
    questions = [one.question for one in read_gold(path)][:_QUESTIONS]
    async with workshop() as shop, oracle_server(path) as url:
        corpus, _ = await shop.ingest(read_dataset(dataset))
        settings = {"BASE_URL": url, "MODEL": "oracle", "SEND_METADATA": "true", "CACHE": "false"}
        with configured({f"HOPWEAVE_LLM__{name}": value for name, value in settings.items()}), serving(shop, 1) as port:
            async with httpx.AsyncClient(
                base_url=f"http://127.0.0.1:{port}", timeout=_MOST_SECONDS, limits=httpx.Limits(max_connections=None)
            ) as client:
                address = f"/v1/corpora/{corpus.name}/ask"
                return {reasoner: await _ask_all(client, address, questions, reasoner) for reasoner in _REASONERS}


def checks(report: dict[str, Any]) -> list[Check]:
    rows = []
    for reasoner, row in report.items():
        rows.append(at_most(f"asks, {reasoner}: errors, {_AT_ONCE} at once", row["errors"], 0))
        rows.append(at_most(f"asks, {reasoner}: times that the event loop was blocked > 100 ms", row["blocked"], 0))
        rows.append(figure(f"asks, {reasoner}: questions/s", row["per_second"]))
    return rows


async def _ask_all(client: httpx.AsyncClient, address: str, questions: list[str], reasoner: str) -> dict[str, Any]:
    before = await _lags(client)
    turns = asyncio.Semaphore(_AT_ONCE)

    async def ask(question: str) -> int:
        async with turns:
            return (await client.post(address, json={"question": question, "reasoner": reasoner})).status_code

    began = time.perf_counter()
    statuses = await asyncio.gather(*map(ask, questions))
    seconds = time.perf_counter() - began
    after = await _lags(client)
    return {
        "errors": sum(status != httpx.codes.OK for status in statuses),
        "per_second": len(questions) / seconds,
        "blocked": int(after["+Inf"] - before["+Inf"] - (after[str(_LONGEST)] - before[str(_LONGEST)])),
        "lags": {bound: after[bound] - before[bound] for bound in after},
    }


async def _lags(client: httpx.AsyncClient) -> dict[str, float]:
    """Returns how often the event loop was late by at most each bound."""
    text = (await client.get("/metrics")).text
    [family] = [one for one in text_string_to_metric_families(text) if one.name == _LAG]
    return {one.labels["le"]: one.value for one in family.samples if one.name == f"{_LAG}_bucket"}
