"""`hopweave corpora … --schema`: types and relations of a corpus, from the file to the doctor."""

import json
from pathlib import Path

from tests.integration.cli.conftest import Hopweave

SCHEMA = """
[types.company]
names = ["Halden Works"]
colour = "#aa3300"
[types.lamp]
words = ["lamp"]
[relations.supplies]
from = ["company"]
to = ["lamp"]
synonyms = ["delivers"]
"""


def _write(folder: Path) -> tuple[Path, Path]:
    schema, documents = folder / "schema.toml", folder / "documents.jsonl"
    schema.write_text(SCHEMA, encoding="utf-8")
    triples = [
        ["Halden Works", "delivers", "Street Lamp"],
        ["Street Lamp", "supplies", "Halden Works"],
        ["Street Lamp", "lights", "Marrowby"],
    ]
    line = {"id": "works", "text": "Halden Works delivers lamps.", "triples": triples}
    documents.write_text(json.dumps(line), encoding="utf-8")
    return schema, documents


def test_a_schema_from_the_file_to_the_doctor(hopweave: Hopweave, tmp_path: Path) -> None:
    schema, documents = _write(tmp_path)
    made = hopweave("corpora", "create", "lamps", "--extractor", "given", "--no-embedding", "--schema", schema)
    assert made.code == 0, made.err
    ingested = hopweave("ingest", documents, "-c", "lamps")
    counts = "1 fact within the schema, 1 outside, 1 without a relation of it"
    assert ingested.code == 0
    assert counts in ingested.out
    assert counts in hopweave("corpora", "show", "lamps").out
    [job] = hopweave("jobs", "list", "--json").json["data"]
    assert job["fits"] == {"within": 1, "outside": 1, "unnamed": 1}
    assert counts in hopweave("jobs", "show", job["id"]).out
    told = hopweave("corpora", "schema", "lamps")
    assert "1 fact within the schema, 1 outside, 1 without a relation of it" in told.out
    assert "outside: supplies: Street Lamp (lamp) → Halden Works (company)" in told.out
    assert "frequent phrases without a relation: lights (1)" in told.out
    shown = hopweave("entities", "show", "Halden Works", "-c", "lamps").out
    assert ", company, in 1 passage" in shown
    assert "Halden Works — supplies → Street Lamp  (1 passage, as “delivers”)" in shown
    assert "Street Lamp — supplies → Halden Works  (1 passage, outside the schema)" in shown
    assert "Street Lamp" in hopweave("entities", "find", "--type", "lamp", "-c", "lamps").out
    doctor = hopweave("doctor").out
    assert "facts: 1 within, 1 outside, 1 without a relation of it" in doctor
    assert "stale" not in doctor
    schema.write_text(f"strict = true\n{SCHEMA}", encoding="utf-8")
    assert hopweave("corpora", "schema", "lamps", "--schema", schema, "--json").json["strict"]
    assert "1 outside, 1 without a relation of it: stale" in hopweave("doctor").out
    assert hopweave("corpora", "reindex", "lamps").code == 0
    check = hopweave("corpora", "schema", "lamps", "--json").json["check"]
    assert (check["within"], check["outside"], check["unnamed"]) == (1, 0, 1)
    fits = hopweave("corpora", "show", "lamps", "--json").json["fits"]
    assert fits == {"within": 1, "outside": 0, "unnamed": 1, "complete": True}
    [again] = hopweave("jobs", "list", "--kind", "reindex", "--json").json["data"]
    assert again["fits"] == {"within": 1, "outside": 1, "unnamed": 1}, "what strict left out is counted"
    assert "stale" not in hopweave("doctor").out
    assert hopweave("corpora", "schema", "lamps", "--delete").out == "corpus lamps has no schema\n"
    assert hopweave("corpora", "show", "lamps", "--json").json["fits"] is None
    assert "has no schema: give it one" in hopweave("corpora", "schema", "lamps").err


def test_an_ingest_makes_a_corpus_with_a_schema_and_changes_none(hopweave: Hopweave, tmp_path: Path) -> None:
    schema, documents = _write(tmp_path)
    common = ("ingest", documents, "-c", "lamps", "--extractor", "given", "--no-embedding", "--schema", schema)
    made = hopweave(*common)
    assert made.code == 0, made.err
    assert "1 fact within the schema, 1 outside, 1 without a relation of it" in made.out
    assert hopweave(*common, "--json").json["documents"]["unchanged"] == 1
    schema.write_text(f"strict = true\n{SCHEMA}", encoding="utf-8")
    refused = hopweave(*common)
    assert refused.code != 0
    assert "corpus 'lamps' does not have this schema" in refused.err
    assert hopweave("corpora", "schema", "lamps", "--json").json["text"] == SCHEMA
    schema.write_text("[types.a]\nkolour = 'x'", encoding="utf-8")
    assert "'kolour' is not a key here" in hopweave("ingest", documents, "-c", "new", "--schema", schema).err
    assert "new" not in hopweave("corpora", "list", "--json").out


def test_a_file_that_is_no_schema_makes_no_corpus(hopweave: Hopweave, tmp_path: Path) -> None:
    file = tmp_path / "schema.toml"
    for content, said in (
        (b"\xff\xfe\x00", "cannot be read"),
        (b"[types.a]\nkolour = 'x'", "the schema, line 2, [types.a]: 'kolour' is not a key here"),
        (b"#" * 100_002, "at most 100,000 are allowed"),
    ):
        file.write_bytes(content)
        refused = hopweave("corpora", "create", "lamps", "--schema", file)
        assert refused.code == 2
        assert said in refused.err
    assert "cannot be read" in hopweave("corpora", "create", "lamps", "--schema", tmp_path / "none.toml").err
    assert "lamps" not in hopweave("corpora", "list", "--json").out
    assert hopweave("corpora", "schema", "lamps", "--schema", file, "--delete").code == 2
