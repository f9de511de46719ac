"""Facts of the extractor `syntax`: `python -m tests.benchmarks.facts --datasets DIR`.

Three measurements, without a corpus:

- of GPT-3.5's triples of MuSiQue's passages, the share with both ends in one of ours (60 % of the words of each end);
- the development half of CaRB (Bhardwaj et al., EMNLP 2019) by its rules: words of relation, first argument and all
  others are compared, precision by a greedy match of each extraction with one of a person, recall by the best
  extraction of each of theirs, at each probability. The rules were not written by every third sentence;
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
from indexer.extractors.syntax.grades import grade_statement
from indexer.extractors.syntax.parsing import read_parse
from indexer.extractors.syntax.pipelines import find_pipeline
from indexer.extractors.syntax.statements import read_statements

_SEEN = range(300, 700)
_FORMS = ("syntax", "syntax:facts=likely,least=0.6", "syntax:facts=likely", "syntax:facts=clauses")
_SMALL = frozenset(["the", "a", "an", "of", "is", "was", "in", "and", "by", "to"])
_SAYING = ("said", "told", "added", "adds", "says")
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
    texts = [(passage["title"], passage["text"]) for passage in passages]
    rows = [json.loads(line) for line in (folder / "openie.jsonl").read_text("utf-8").splitlines()]
    theirs = {row["id"]: [triple for triple in row["triples"] if len(triple) == 3] for row in rows}
    given = [theirs[passage["id"]] for passage in passages]
    values: dict[str, float] = {}
    for form in _FORMS:
        found, seconds = extract(make_extractor(form), texts)
        values |= {f"`{form}`: {name}": value for name, value in _compare(found, given).items()}
        values[f"`{form}`: passages a second of the processor"] = len(passages) / seconds
    _, of_names = extract(make_extractor("pattern"), texts)
    return values | {"`pattern`: passages a second of the processor": len(passages) / of_names}


def _compare(found: Sequence[Extraction], given: Sequence[Sequence[Sequence[object]]]) -> dict[str, float]:
    """Returns the shares of given triples with both ends in a fact that was found."""
    covered: dict[bool, list[bool]] = {True: [], False: []}
    for n, (extraction, triples) in enumerate(zip(found, given, strict=True)):
        ours = [(_words(triple.subject), _words(triple.object)) for triple in extraction.triples]
        for subject, _, object_ in triples:
            ends = _words(str(subject)), _words(str(object_))
            if all(ends):
                covered[n in _SEEN].append(any(_covers(pair, ends) or _covers(pair[::-1], ends) for pair in ours))
    return {
        "facts a passage": fmean(len(extraction.triples) for extraction in found),
        "GPT-3.5's triples with both ends, unseen passages": fmean(covered[False]),
        "GPT-3.5's triples with both ends, passages that were looked at": fmean(covered[True]),
    }


def _words(text: str) -> frozenset[str]:
    spaced = "".join(letter if letter.isalnum() else " " for letter in text.lower())
    return frozenset(spaced.split()) - _SMALL


def _covers(ours: Sequence[frozenset[str]], theirs: Sequence[frozenset[str]]) -> bool:
    return all(len(wanted & words) >= 0.6 * len(wanted) for words, wanted in zip(ours, theirs, strict=True))


def measure_carb(folder: Path) -> dict[str, float]:
    """Returns precision, recall and F1 at the best probability, and the area under their curve, as CaRB's evaluator."""
    gold: defaultdict[str, list[tuple[str, ...]]] = defaultdict(list)
    with (folder / "dev.tsv").open(encoding="utf-8", newline="") as file:
        for sentence, relation, subject, *others in csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            gold[sentence.strip()].append((relation, subject, " ".join(others)))
    pipeline = find_pipeline("en")
    assert pipeline is not None
    places = {line.strip(): n for n, line in enumerate((folder / "dev.txt").read_text("utf-8").splitlines())}
    scores = []
    for (sentence, wanted), parsed in zip(gold.items(), pipeline.parse(list(gold)), strict=True):
        graded = [
            (round(grade_statement(statement, words), 2), _form(statement.texts))
            for words in read_parse(parsed, 0)
            for statement in read_statements(words)
        ]
        pairs = [[_match(triple, made) for _, made in graded] for triple in wanted]
        scores.append((places.get(sentence, 0) % 3 == 2, [grade for grade, _ in graded], pairs))
    return {
        f"CaRB, development half{part}: {name}": value
        for part, rows in (("", scores), (", held-out third", [row for row in scores if row[0]]))
        for name, value in _read_curve(rows).items()
    }


def _form(texts: Sequence[str]) -> tuple[str, str, str]:
    relation, subject, *arguments = texts
    return relation, subject, " ".join(arguments)


def _read_curve(rows: Sequence[tuple[bool, list[float], list[list[tuple[float, float]]]]]) -> dict[str, float]:
    """Returns the best point and the area. A row has a sentence's probabilities, and the scores of each pair."""
    curve = []
    for least in sorted({grade for _, grades, _ in rows for grade in grades}, reverse=True):
        precision = recall = made = 0.0
        for _, grades, scores in rows:
            kept = [[score for grade, score in zip(grades, row, strict=True) if grade >= least] for row in scores]
            made += sum(grade >= least for grade in grades)
            recall += sum(max((score[1] for score in row), default=0.0) for row in kept)
            precision += _match_greedily(kept)
        share, found = precision / made, recall / sum(len(scores) for _, _, scores in rows)
        curve.append((2 * share * found / (share + found) if share + found else 0.0, share, found))
    best, (ends, begins) = max(curve), (curve, [(0.0, 1.0, 0.0), *curve])
    area = sum((end[2] - begin[2]) * (end[1] + begin[1]) / 2 for begin, end in zip(begins, ends, strict=False))
    return {"precision": best[1], "recall": best[2], "F1": best[0], "AUC": area}


def _match(gold: Sequence[str], ours: Sequence[str]) -> tuple[float, float]:
    """Returns precision and recall in words, both 0 if the relations share none. "Said" may stand either way round."""
    straight = _match_in_order(gold, ours)
    if not any(verb in gold[0] for verb in _SAYING):
        return straight
    return max(straight, _match_in_order(gold, (ours[0], ours[2], ours[1])))


def _match_in_order(gold: Sequence[str], ours: Sequence[str]) -> tuple[float, float]:
    """Parts that a person left out are not counted; what has no argument but the subject has no match with others."""
    if gold[2] and not ours[2]:
        return 0.0, 0.0
    ours = ours if gold[2] else ours[:2]
    common = [_count_common(wanted.split(), words.split()) for wanted, words in zip(gold, ours, strict=False)]
    if "be" in ours[0].split() and _BE & set(gold[0].split()):  # it stands for the form that the text leaves out
        common[0] += "be" not in gold[0].split()
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
