"""Facts of the extractor `syntax`: `python -m tests.benchmarks.facts --datasets DIR`.

Three measurements, without a corpus:

- of GPT-3.5's triples of MuSiQue's passages, the share with both ends in one of ours (60 % of the words of each end);
- the development half of CaRB (Bhardwaj et al., EMNLP 2019) by its rules: words of relation, first argument and all
  others are compared, precision by a greedy match of each extraction with a sentence of its own, recall by the best
  extraction of each gold one;
- passages a second of the processor, parsing included, beside those of `pattern`.

The rules were written with passages 300 to 700 before our eyes; `unseen` are all others.
"""

import argparse
import asyncio
import csv
import json
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean

from core.graph import Extraction
from core.ports.indexing import Block, DraftChunk, Extractor, LoadedDocument
from core.trace import Trace
from indexer import make_extractor

_SEEN = range(300, 700)
_SMALL = frozenset(["the", "a", "an", "of", "is", "was", "in", "and", "by", "to"])
_BE = frozenset(["be", "is", "am", "are", "was", "were", "been", "being"])
_ENGLISH = Block(text="This is what the rest of the document is about, and it was written in the language of the text.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", type=Path, required=True)
    datasets = parser.parse_args().datasets
    for name, value in (measure_agreement(datasets / "musique-train-100") | measure_carb(datasets / "carb")).items():
        print(f"{name}: {value:.3f}")


def extract(extractor: Extractor, texts: Sequence[tuple[str, str]]) -> tuple[list[Extraction], float]:
    """Returns the extractions of (title, text) documents, and the seconds of the processor that they took."""

    async def run() -> list[Extraction]:
        found = []
        for title, text in texts:
            document = LoadedDocument(key="x", title=title, blocks=(Block(text=text), _ENGLISH))
            found += await extractor.extract(document, [DraftChunk(text=text)], [0], Trace())
        return found

    asyncio.run(extractor.extract(LoadedDocument(key="x", title="", blocks=(_ENGLISH,)), [], [], Trace()))
    began = time.process_time()
    return asyncio.run(run()), time.process_time() - began


def measure_agreement(folder: Path) -> dict[str, float]:
    passages = [json.loads(line) for line in (folder / "corpus.jsonl").read_text("utf-8").splitlines()]
    given = [json.loads(line) for line in (folder / "openie.jsonl").read_text("utf-8").splitlines()]
    theirs = {row["id"]: [triple for triple in row["triples"] if len(triple) == 3] for row in given}
    texts = [(passage["title"], passage["text"]) for passage in passages]
    found, seconds = extract(make_extractor("syntax"), texts)
    _, of_names = extract(make_extractor("pattern"), texts)
    covered: dict[bool, list[bool]] = {True: [], False: []}
    for n, (passage, extraction) in enumerate(zip(passages, found, strict=True)):
        ours = [(_words(triple.subject), _words(triple.object)) for triple in extraction.triples]
        for subject, _, object_ in theirs[passage["id"]]:
            ends = _words(str(subject)), _words(str(object_))
            if all(ends):
                covered[n in _SEEN].append(any(_covers(pair, ends) or _covers(pair[::-1], ends) for pair in ours))
    return {
        "facts a passage": fmean(len(extraction.triples) for extraction in found),
        "GPT-3.5's triples with both ends, unseen passages": fmean(covered[False]),
        "GPT-3.5's triples with both ends, passages that were looked at": fmean(covered[True]),
        "passages a second of the processor": len(passages) / seconds,
        "passages a second of the processor, `pattern`": len(passages) / of_names,
    }


def _words(text: str) -> frozenset[str]:
    spaced = "".join(letter if letter.isalnum() else " " for letter in text.lower())
    return frozenset(spaced.split()) - _SMALL


def _covers(ours: Sequence[frozenset[str]], theirs: Sequence[frozenset[str]]) -> bool:
    return all(len(wanted & words) >= 0.6 * len(wanted) for words, wanted in zip(ours, theirs, strict=True))


def measure_carb(folder: Path) -> dict[str, float]:
    gold: defaultdict[str, list[tuple[str, ...]]] = defaultdict(list)
    with (folder / "dev.tsv").open(encoding="utf-8", newline="") as file:
        for sentence, relation, subject, *others in csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            gold[sentence].append((relation, subject, " ".join(others)))
    extractions, _ = extract(make_extractor("syntax"), [("", sentence) for sentence in gold])
    precision = recall = 0.0
    made = 0
    for wanted, extraction in zip(gold.values(), extractions, strict=True):
        ours = [(triple.predicate, triple.subject, triple.object) for triple in extraction.triples]
        scores = [[_match(triple, made_triple) for made_triple in ours] for triple in wanted]
        made += len(ours)
        recall += sum(max((score[1] for score in row), default=0.0) for row in scores)
        precision += _match_greedily(scores)
    share, found = precision / max(1, made), recall / sum(map(len, gold.values()))
    return {
        "CaRB, development half: precision": share,
        "CaRB, development half: recall": found,
        "CaRB, development half: F1": 2 * share * found / (share + found) if share + found else 0.0,
        "CaRB, development half: AUC of one point": found * (1 + share) / 2,
    }


def _match(gold: Sequence[str], ours: Sequence[str]) -> tuple[float, float]:
    """Returns precision and recall in words, both 0 if the relations share none."""
    common = [_count_common(wanted.split(), words.split()) for wanted, words in zip(gold, ours, strict=True)]
    if not common[0] and {"be"} & set(ours[0].split()) and _BE & set(gold[0].split()):
        common[0] = 1
    if not common[0]:
        return 0.0, 0.0
    return sum(common) / len(" ".join(ours).split()), sum(common) / len(" ".join(gold).split())


def _count_common(wanted: Sequence[str], words: list[str]) -> int:
    common = 0
    for word in wanted:
        if word in words:
            words.remove(word)
            common += 1
    return common


def _match_greedily(scores: Sequence[Sequence[tuple[float, float]]]) -> float:
    """Returns the sum of the precisions of a match of one with one, the best pairs first."""
    pairs: Mapping[tuple[int, int], float] = {
        (n, m): score[0] for n, row in enumerate(scores) for m, score in enumerate(row)
    }
    used: tuple[set[int], set[int]] = (set(), set())
    total = 0.0
    for (n, m), value in sorted(pairs.items(), key=lambda pair: -pair[1]):
        if n not in used[0] and m not in used[1]:
            used[0].add(n)
            used[1].add(m)
            total += value
    return total


if __name__ == "__main__":
    main()
