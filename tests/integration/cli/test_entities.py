"""`hopweave entities …`."""

import io
import sys
from pathlib import Path

import pytest

from tests.integration.cli.conftest import Hopweave


def test_find_show_and_draw(hopweave: Hopweave, corpus: str) -> None:
    found = hopweave("entities", "find", "babbage", "-c", corpus)
    assert found.code == 0
    assert "Charles Babbage" in found.out
    assert "person" in found.out
    assert "Charles Babbage" in hopweave("entities", "find", "babbage", "-c", corpus, "--type", "person").out
    assert "Charles Babbage" not in hopweave("entities", "find", "babbage", "-c", corpus, "--type", "place").out
    assert "part" in found.out
    mistyped = hopweave("entities", "find", "Charls Babage", "-c", corpus).out
    assert "Charles Babbage" in mistyped
    assert "note: no entity has this name" in mistyped
    shown = hopweave("entities", "show", "charles babbage", "-c", corpus)
    assert shown.out.startswith("Charles Babbage  (")
    assert "), person, in 2 passages" in shown.out
    assert "2 passages" in shown.out
    assert "(engine.md, " in shown.out
    drawn = hopweave("entities", "neighbourhood", "Analytical Engine", "-c", corpus)
    assert "passage of “The Engine”" in drawn.out
    ways = hopweave("entities", "ways", "Ada Lovelace", "Analytical Engine", "-c", corpus)
    assert ways.out.startswith("1. 4 steps\n   Ada Lovelace — mentions → ")
    assert "Charles Babbage" in ways.out
    assert "Charles Babbage — mentions → passage of “The Engine”  (" in ways.out
    (first, *_) = hopweave("entities", "ways", "Ada Lovelace", "Analytical Engine", "-c", corpus, "--json").json["ways"]
    kinds = [(step["source_kind"], step["target_kind"]) for step in first["steps"]]
    assert kinds == [("entity", "passage"), ("passage", "entity")] * 2


def test_the_part_of_a_passage_that_names_the_entity_is_shown(hopweave: Hopweave, corpus: str, tmp_path: Path) -> None:
    text = "It rained in the north for many days. " * 9 + "In the end Orlo Quent went home."
    (tmp_path / "rain.txt").write_text(text, encoding="utf-8")
    assert hopweave("ingest", tmp_path / "rain.txt", "-c", corpus).code == 0
    shown = hopweave("entities", "show", "Orlo Quent", "-c", corpus).out
    assert "\n      In the end Orlo Quent went home.\n" in shown


def test_json(hopweave: Hopweave, corpus: str) -> None:
    (first, *_) = hopweave("entities", "find", "Charles Babbage", "-c", corpus, "--json").json["data"]
    id = first["entity"]["id"]
    shown = hopweave("entities", "show", id, "-c", corpus, "--json").json
    assert shown["entity"] == {"id": id, "name": "Charles Babbage", "passages": 2, "type": "person"}
    only = ("--filter", '{"$key": "ada.txt"}')
    assert hopweave("entities", "show", id, "-c", corpus, "--json", *only).json["entity"]["passages"] == 1
    assert hopweave("entities", "neighbourhood", id, "-c", corpus, "--json", "--limit", 2).json["truncated"]
    assert hopweave("entities", "ways", id, "Ada Lovelace", "-c", corpus, "--json").json["ways"]


def test_a_name_that_nothing_or_too_much_has(hopweave: Hopweave, corpus: str, tmp_path: Path) -> None:
    ran = hopweave("entities", "show", "Babbage", "-c", corpus)
    assert ran.code == 1
    assert "there is no entity called 'Babbage'" in ran.err
    assert "similar names: 'Charles Babbage'" in ran.err
    (tmp_path / "more.txt").write_text("In Bonn, Zoe Márley met Zoé Marley.", encoding="utf-8")
    assert hopweave("ingest", tmp_path / "more.txt", "-c", corpus).code == 0
    ran = hopweave("entities", "show", "zoe marley", "-c", corpus)
    assert ran.code == 2
    assert "several entities are called 'zoe marley'" in ran.err
    assert "give the id of one" in ran.err
    assert hopweave("entities", "show", "", "-c", corpus).code == 2
    assert hopweave("entities", "find", "x", "-c", corpus, "--filter", "[").code == 2


def test_merge_and_undo(hopweave: Hopweave, corpus: str) -> None:
    made = hopweave("entities", "merge", "Analytical Engine", "Ada Lovelace", "-c", corpus)
    assert made.code == 0
    assert made.out.startswith("'Analytical Engine' is now 'Ada Lovelace'; `hopweave entities unmerge ")
    (merge,) = hopweave("entities", "merges", "-c", corpus, "--json").json["data"]
    assert merge["id"] in made.out
    assert "Ada Lovelace" in hopweave("entities", "merges", "-c", corpus).out
    assert hopweave("entities", "show", "analytical engine", "-c", corpus).out.startswith("Ada Lovelace  (")
    assert "merged into it: Analytical Engine\n" in hopweave("entities", "show", "ada lovelace", "-c", corpus).out
    again = hopweave("entities", "merge", "Analytical Engine", "Ada Lovelace", "-c", corpus)
    assert again.code == 2
    assert "name two entities" in again.err
    undone = hopweave("entities", "unmerge", merge["id"], "-c", corpus)
    assert undone.out == "'Analytical Engine' and 'Ada Lovelace' are two entities again\n"
    assert hopweave("entities", "show", "analytical engine", "-c", corpus).out.startswith("Analytical Engine  (")
    missing = hopweave("entities", "unmerge", merge["id"], "-c", corpus)
    assert missing.code == 1
    assert "no merge with the id" in missing.err


def test_resolve_review_and_reject(hopweave: Hopweave, corpus: str, tmp_path: Path) -> None:
    text = "Ada Lund wrote to Orlo Quent. Dr. Ada Lund was answered by Orlo Quent. "
    (tmp_path / "letters.txt").write_text(text, encoding="utf-8")
    assert hopweave("ingest", tmp_path / "letters.txt", "-c", corpus).code == 0
    listed = hopweave("entities", "resolve", "-c", corpus)
    assert "Ada Lund" in listed.out
    assert "for (" in listed.out
    found = hopweave("entities", "resolve", "-c", corpus, "--json").json
    (pair,) = [one for one in found["data"] if "Dr. Ada Lund" in {one["entity"]["name"], one["into"]["name"]}]
    rejected = hopweave("entities", "reject", "Ada Lund", "Dr. Ada Lund", "-c", corpus, "--json").json
    assert pair not in hopweave("entities", "resolve", "-c", corpus, "--json").json["data"]
    assert "Dr. Ada Lund" in hopweave("entities", "rejections", "-c", corpus).out
    assert hopweave("entities", "unreject", rejected["id"], "-c", corpus).code == 0
    assert pair in hopweave("entities", "resolve", "-c", corpus, "--json").json["data"]
    merged = hopweave("entities", "resolve", "-c", corpus, "--merge-above", "0.5")
    assert "entities unmerge" in merged.out
    assert hopweave("entities", "resolve", "-c", corpus, "--merge-never").code == 0
    both = hopweave("entities", "resolve", "-c", corpus, "--review", "--json")
    assert both.code != 0
    assert "--review" in both.err


def test_a_review_carries_out_each_answer(
    hopweave: Hopweave, corpus: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "Ada Lund wrote to Orlo Quent. Dr. Ada Lund was answered by Orlo Quent. "
    (tmp_path / "letters.txt").write_text(text, encoding="utf-8")
    assert hopweave("ingest", tmp_path / "letters.txt", "-c", corpus).code == 0

    def review(answers: str) -> tuple[int, int]:
        monkeypatch.setattr(sys, "stdin", io.StringIO(answers))
        assert hopweave("entities", "resolve", "-c", corpus, "--review", "--limit", 1).code == 0
        listed = [hopweave("entities", kind, "-c", corpus, "--json").json["data"] for kind in ("merges", "rejections")]
        return len(listed[0]), len(listed[1])

    assert review("q\n") == (0, 0)
    assert review("s\n") == (0, 0)
    assert review("what?\ny\n") == (1, 0)
    merge = hopweave("entities", "merges", "-c", corpus, "--json").json["data"][0]
    assert hopweave("entities", "unmerge", merge["id"], "-c", corpus).code == 0
    assert review("n\n") == (0, 1)
