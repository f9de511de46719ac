"""The two folders as a new user would bring them: the form of their files, and the check of their lines."""

import re
from collections import Counter

import pytest

from tests.benchmarks.materials.folders import NAMES, FolderQuestion, Need, read_documents, read_questions
from tests.benchmarks.materials.folders.checking import faults_of

FORMS = {"question": 30, "two": 8, "typed": 15, "unanswerable": 22}
"""How many questions of each form a folder has at least."""


@pytest.mark.parametrize("name", NAMES)
def test_a_folder_has_files_of_five_areas_in_many_formats_with_sources_licences_and_hashes(name: str) -> None:
    documents = read_documents(name)
    assert 80 <= len({one.file for one in documents}) == len(documents) <= 200
    assert {one.area for one in documents} == {"law", "medicine", "engineering", "accounts", "mail"}
    assert {"en", "de", "fr", "es", "it"} == {one.language for one in documents}
    assert {"txt", "html", "pdf", "docx", "csv", "xlsx", "eml"} <= {one.file.rpartition(".")[2] for one in documents}
    for one in documents:
        assert one.client in {"apt", "npm", "pip"}
        assert all((one.package, one.version, one.path, one.licence))
        assert re.fullmatch(r"[0-9a-f]{64}", one.sha256)
        assert not {"", ".."} & set(one.file.split("/"))


def test_the_folders_share_no_file() -> None:
    first, second = ({one.sha256 for one in read_documents(name)} for name in NAMES)
    assert not first & second


@pytest.mark.parametrize("name", NAMES)
def test_a_folder_has_enough_questions_of_each_form_with_needs_if_it_answers_them(name: str) -> None:
    questions = read_questions(name)
    forms = Counter(one.form for one in questions)
    assert set(forms) == set(FORMS)
    assert all(forms[form] >= least for form, least in FORMS.items())
    assert len({one.id for one in questions}) == len(questions) == len({one.question for one in questions})
    languages = Counter(one.language for one in questions if one.form == "unanswerable")
    assert (languages["de"] + languages["fr"]) / languages.total() >= 0.3
    files = {one.file for one in read_documents(name)}
    for one in questions:
        assert one.answerable is (one.form != "unanswerable")
        assert len(one.needs) == {"unanswerable": 0, "two": 2}.get(one.form, 1), one.id
        assert all(key in files and line.strip() for need in one.needs for key, line in need.lines), one.id
        assert all((one.question.strip(), one.answer.strip(), one.kind))


def test_a_need_is_met_by_any_of_its_lines_in_its_own_document() -> None:
    need = Need(lines=(("a.txt", "one year"), ("b.txt", "twelve months")))
    assert need.is_met("a.txt", "for one\n  year from")
    assert need.is_met("b.txt", "twelve months")
    assert not need.is_met("b.txt", "for one year from")


def test_a_line_that_no_block_has_is_a_fault() -> None:
    question = FolderQuestion(
        id="q", question="How long?", language="en", form="question", kind="number", answerable=True,
        answer="One year", needs=(Need(lines=(("a.txt", "one year"),)),),
    )  # fmt: skip
    assert not faults_of([question], {"a.txt": ("for one year",)})
    cut: dict[str, tuple[str, ...]] = {"a.txt": ("for one", "year")}
    for texts in (cut, {}):
        assert faults_of([question], texts) == ["q: a.txt has no line 'one year'"]
