"""`hopweave ingest` of a table of passages: a document for each line, resumed, pruned, and sent to a server."""

import gzip
import json
from pathlib import Path

import pytest

from tests.integration.cli.conftest import Hopweave

pytestmark = pytest.mark.usefixtures("worker")


def write(path: Path, *numbers: int) -> Path:
    lines = [f'{n}\t"Passage {n} is about ""{n}"" alone."\tTitle {n}\n' for n in numbers]
    content = ("id\ttext\ttitle\n" + "".join(lines)).encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def test_each_line_is_a_document_and_pruning_takes_it_for_the_whole_list(hopweave: Hopweave, tmp_path: Path) -> None:
    ran = hopweave("ingest", write(tmp_path / "psgs_w100.tsv.gz", 1, 2), "-c", "wiki")
    assert (ran.code, ran.out.splitlines()[0]) == (0, "corpus wiki: 2 indexed")
    path = write(tmp_path / "a.tsv", 1, 2, 3)
    path.write_bytes(path.read_bytes() + b"4\tno title\n")
    ran = hopweave("ingest", path, "-c", "wiki", "--json")
    assert {name: count for name, count in ran.json["documents"].items() if count} == {"indexed": 1, "unchanged": 2}
    assert [one["source"] for one in ran.json["rejected"]] == ["a.tsv line 5"]
    found = hopweave("search", "what is about 2 alone", "-c", "wiki", "--json").json["hits"][0]
    assert (found["document"]["key"], found["document"]["title"]) == ("2", "Title 2")
    (tmp_path / "one.jsonl").write_text(json.dumps({"id": "x", "title": "X", "text": "Another one."}))
    hopweave("ingest", tmp_path / "one.jsonl", "-c", "wiki")
    ran = hopweave("ingest", write(tmp_path / "a.tsv", 2), "-c", "wiki", "--prune", "--json")
    assert (ran.json["pruned"], ran.json["documents"]["unchanged"]) == (3, 1)
