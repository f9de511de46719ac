"""The benchmark of versions: its documents, its questions, and the reports that it makes."""

import json
import re
from collections import Counter
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from tests.benchmarks.versions import documents
from tests.benchmarks.versions.documents import LOOKED_AT, lay, read_documents, read_questions
from tests.benchmarks.versions.reports import write_reports


def test_thirty_questions_of_six_families_name_a_version_or_none() -> None:
    questions = read_questions()
    assert Counter(one.form for one in questions) == {"named": 15, "none": 10, "old": 4, "two": 1}
    assert set(Counter(one.family for one in questions).values()) == {5}
    assert len({one.family for one in questions}) == 6
    assert set(LOOKED_AT) < {one.family for one in questions}


def test_each_document_has_its_source_its_licence_and_a_hash() -> None:
    found = read_documents()
    assert len({one.file for one in found}) == len(found)
    for one in found:
        assert one.client in {"npm", "sdist"}
        assert all((one.package, one.version, one.path, one.licence))
        assert re.fullmatch(r"[0-9a-f]{64}", one.sha256)
        assert not {"", ".."} & set(one.file.split("/"))


def test_each_question_has_documents_of_the_right_version(tmp_path: Path) -> None:
    write_reports(tmp_path)
    keys = [one.file for one in read_documents()] + [f"berichte/{path.name}" for path in tmp_path.iterdir()]
    for question in read_questions():
        for right in question.right:
            assert any(fnmatchcase(key, right) for key in keys)


def test_reports_differ_in_their_figures_only(tmp_path: Path) -> None:
    write_reports(tmp_path)
    texts = {path.stem: path.read_text(encoding="utf-8") for path in tmp_path.iterdir()}
    assert len(texts) == len(set(texts.values())) == 6
    assert not any("$" in text for text in texts.values())
    for question in read_questions():
        if question.family == "reports" and question.form != "two":
            (key,) = question.right
            assert question.line in texts[Path(key).stem]


def test_licences_are_laid_as_documents_with_a_title(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = [one for one in read_documents() if one.family == "licences"][:2]
    for one in found:
        source = tmp_path / "packaged" / one.file
        source.parent.mkdir(parents=True, exist_ok=True)
        source.write_text(json.dumps({"name": f"Licence {one.file}", "licenseText": "As is."}), encoding="utf-8")
    monkeypatch.setattr(documents, "read_documents", lambda: found)
    monkeypatch.setattr(documents, "fetch", lambda *_: None)
    folder = lay(tmp_path)
    rows = [json.loads(line) for line in (folder / "licences.jsonl").read_text(encoding="utf-8").splitlines()]
    assert rows == [{"id": one.file, "title": f"Licence {one.file}", "text": "As is."} for one in found]
