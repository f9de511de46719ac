"""Extraction by a real model: `python -m tests.benchmarks.small_extraction --datasets DIR --folder OUT`.

The model is that of the environment (`HOPWEAVE_LLM__…`). Passages of MuSiQue are drawn with a seed; those that are in
OUT already are not asked for again, so that `--limit` measures piece by piece. Each passage is a line of
`OUT/passages.jsonl`, with the model's answer, the triples that were kept, tokens and seconds. `OUT/judge.jsonl` has a
line for each of `--judged` triples, drawn with the same seed: whoever reads them sets `right` to true or false, and the
command, run again with `--limit 0`, reports their precision.
"""

import argparse
import asyncio
import json
import random
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from core.graph import Extraction
from core.ports.chat import ChatModel, ChatModels, ChatRequest, Completion, OnToken
from core.ports.indexing import Block, DraftChunk, LoadedDocument
from core.settings import read_settings
from core.text.value_kinds import find_stems
from core.trace import Trace
from indexer import make_extractor
from models import make_chat_models

__all__ = ["agreement", "draw", "main", "measure"]

_DATASET = "musique-train-100"
LOOK_SEED, LOOK_PASSAGES = 1, 60
"""The passages that were looked at while the prompt and the check were built. They are not drawn."""

Pair = tuple[str, str]


@dataclass
class _Recorder:
    """Records the texts of the answers of all roles."""

    inner: ChatModels
    texts: list[str] = field(default_factory=list)

    def of(self, role: str) -> ChatModel:
        return _RecordedModel(self.inner.of(role), self.texts)

    def is_small(self, role: str) -> bool:
        return self.inner.is_small(role)

    async def delete_corpus(self, corpus_id: str) -> None:
        await self.inner.delete_corpus(corpus_id)

    async def close(self) -> None:
        await self.inner.close()


@dataclass(frozen=True)
class _RecordedModel:
    inner: ChatModel
    texts: list[str]

    @property
    def model(self) -> str:
        return self.inner.model

    async def complete(self, request: ChatRequest, trace: Trace, on_token: OnToken | None = None) -> Completion:
        completion = await self.inner.complete(request, trace, on_token)
        self.texts.append(completion.text)
        return completion


def draw(ids: Iterable[str], seed: int, count: int) -> list[str]:
    """Returns passages that were not looked at; with the seed of those that were, these."""
    ordered = sorted(ids)
    look = random.Random(LOOK_SEED).sample(ordered, LOOK_PASSAGES)
    if seed == LOOK_SEED:
        return look[:count]
    unseen = sorted(set(ordered) - set(look))
    return random.Random(seed).sample(unseen, count)


async def measure(passages: Sequence[Mapping[str, str]], file: Path) -> None:
    """Extracts one passage after the other, and appends a line for each."""
    recorder = _Recorder(make_chat_models(read_settings().llm, None, None))
    extractor = make_extractor("llm:concurrency=1", recorder)
    try:
        with file.open("a", encoding="utf-8") as out:
            for passage in passages:
                recorder.texts.clear()
                trace, began = Trace(), time.perf_counter()
                chunks = [DraftChunk(text=passage["text"])]
                blocks = (Block(text=passage["text"]),)
                document = LoadedDocument(key=passage["id"], title=passage["title"], blocks=blocks)
                [extraction] = await extractor.extract(document, chunks, [0], trace)
                row = _row(passage, extraction, trace, time.perf_counter() - began, recorder.texts)
                out.write(json.dumps(row, ensure_ascii=False) + "\n")
                out.flush()
    finally:
        await recorder.close()


def _row(
    passage: Mapping[str, str], extraction: Extraction, trace: Trace, seconds: float, texts: Sequence[str]
) -> dict[str, Any]:
    return {
        **passage,
        "triples": [[triple.subject, triple.predicate, triple.object] for triple in extraction.triples],
        "malformed": extraction.malformed,
        "calls": trace.usage.calls,
        "prompt_tokens": trace.usage.prompt_tokens,
        "completion_tokens": trace.usage.completion_tokens,
        "seconds": seconds,
        "answers": list(texts),
    }


def agreement(ours: Iterable[Sequence[str]], theirs: Iterable[Sequence[str]]) -> tuple[int, int]:
    """Returns how many of our triples have the ends of one of theirs, and how many of theirs have those of one of ours.

    Ends are the same if all words of one are words of the other. The order of the ends does not count.
    """
    left = [(find_stems(triple[0]), find_stems(triple[2])) for triple in ours]
    right = [(find_stems(triple[0]), find_stems(triple[2])) for triple in theirs if len(triple) == 3]
    return sum(any(_agree(a, b) for b in right) for a in left), sum(any(_agree(a, b) for a in left) for b in right)


def _agree(left: tuple[frozenset[str], frozenset[str]], right: tuple[frozenset[str], frozenset[str]]) -> bool:
    return any(
        all(bool(a and b) and (a <= b or b <= a) for a, b in zip(left, ends, strict=True))
        for ends in (right, right[::-1])
    )


def report(rows: Sequence[Mapping[str, Any]], theirs: Mapping[str, Any], judged: Sequence[Mapping[str, Any]]) -> Any:
    """Returns means a passage, and shares."""
    count = max(1, len(rows))
    kept = sum(len(row["triples"]) for row in rows)
    found = [agreement(row["triples"], theirs[row["id"]]) for row in rows]
    verdicts = [row["right"] for row in judged if row["right"] is not None]
    return {
        "passages": len(rows),
        "passages_without_triples": sum(not row["triples"] for row in rows),
        "triples": kept,
        "triples_a_passage": kept / count,
        "dropped_a_passage": sum(row["malformed"] for row in rows) / count,
        "calls_a_passage": sum(row["calls"] for row in rows) / count,
        "prompt_tokens_a_passage": sum(row["prompt_tokens"] for row in rows) / count,
        "completion_tokens_a_passage": sum(row["completion_tokens"] for row in rows) / count,
        "seconds_a_passage": sum(row["seconds"] for row in rows) / count,
        "seconds_median": sorted(row["seconds"] for row in rows)[len(rows) // 2] if rows else 0.0,
        "ours_with_ends_of_theirs": sum(ours for ours, _ in found) / max(1, kept),
        "theirs_with_ends_of_ours": sum(other for _, other in found)
        / max(1, sum(len(theirs[row["id"]]) for row in rows)),
        "judged": len(verdicts),
        "right": sum(verdicts) / max(1, len(verdicts)),
    }


def _read(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] if file.exists() else []


def _write_judge(file: Path, rows: Sequence[Mapping[str, Any]], seed: int, count: int) -> None:
    """Writes the triples to be judged, unless there are as many. Verdicts that were given stay."""
    given = {(row["id"], *row["triple"]): row["right"] for row in _read(file)}
    triples = [(row, triple) for row in rows for triple in row["triples"]]
    drawn = random.Random(seed).sample(triples, min(count, len(triples)))
    lines = [
        {"id": row["id"], "triple": triple, "right": given.get((row["id"], *triple)), "title": row["title"]}
        for row, triple in drawn
    ]
    file.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.small_extraction")
    parser.add_argument("--datasets", type=Path, required=True, help="the folder of the question sets")
    parser.add_argument("--folder", type=Path, required=True, help="where passages and triples are written")
    parser.add_argument("--seed", type=int, default=2)
    parser.add_argument("--passages", type=int, default=40)
    parser.add_argument("--limit", type=int, default=None, help="the most passages that are asked for now")
    parser.add_argument("--judged", type=int, default=200)
    arguments = parser.parse_args()
    folder, file = arguments.datasets / _DATASET, arguments.folder / "passages.jsonl"
    arguments.folder.mkdir(parents=True, exist_ok=True)
    passages = {row["id"]: row for row in _read(folder / "corpus.jsonl")}
    done = {row["id"] for row in _read(file)}
    wanted = [id for id in draw(passages, arguments.seed, arguments.passages) if id not in done][: arguments.limit]
    asyncio.run(measure([passages[id] for id in wanted], file))
    rows = _read(file)
    judge = arguments.folder / "judge.jsonl"
    _write_judge(judge, rows, arguments.seed, arguments.judged)
    theirs = {row["id"]: row["triples"] for row in _read(folder / "openie.jsonl")}
    print(json.dumps(report(rows, theirs, _read(judge)), indent=2))


if __name__ == "__main__":
    main()
