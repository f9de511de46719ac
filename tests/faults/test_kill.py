"""Three rounds of `tests.faults.kill`; ten by hand. One round with a table of passages."""

import json
from pathlib import Path

import pytest

from tests.faults.kill import EXAMPLE, rounds


@pytest.mark.slow
def test_killing_at_random_moments_loses_nothing(tmp_path: Path) -> None:
    rounds(tmp_path, EXAMPLE, 3, seed=7)


@pytest.mark.slow
def test_a_table_of_passages_is_resumed_after_kills(tmp_path: Path) -> None:
    passages = [json.loads(line) for line in EXAMPLE.read_text(encoding="utf-8").splitlines()]
    lines = ["\t".join((one["id"], _quote(one["text"]), one["title"])) for one in passages]
    table = tmp_path / "psgs_w100.tsv"
    table.write_text("\n".join(["id\ttext\ttitle", *lines, ""]), encoding="utf-8")
    rounds(tmp_path, table, 1, seed=11)


def _quote(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'
