"""Folders of prompts: what is exported can be read again, and each fault of a file is one error that names it."""

import os
from collections import Counter
from pathlib import Path

import pytest

from app.container import PROMPT_PACKAGES
from core.errors import InvalidInput, InvalidSettings
from core.ports.chat import ReplyForm
from core.prompting.prompts import (
    PromptLibrary,
    export_prompts,
    list_prompt_names,
    load_prompt,
    read_own_prompts,
    read_prompt_folder,
)
from evaluation.answering import fingerprint_prompts

_OURS = load_prompt("retrieval.hippo", "filter_facts")
_GOOD = "Keep few.\n--- user ---\n{{question}}\n{{facts}}"


def _put(folder: Path, name: str, content: str | bytes) -> Path:
    folder.mkdir(exist_ok=True)
    file = folder / name
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return file


def test_a_name_is_that_of_one_prompt() -> None:
    names = Counter(name for package in PROMPT_PACKAGES for name in list_prompt_names(package))
    assert set(names.values()) == {1}
    assert {"conclude", "openie", "filter_facts", "judge_gain"} <= set(names)
    assert list(read_own_prompts(PROMPT_PACKAGES)) == sorted(names)


def test_exported_prompts_are_ours(tmp_path: Path) -> None:
    files = export_prompts(tmp_path / "new" / "folder", PROMPT_PACKAGES)
    library = read_prompt_folder(tmp_path / "new" / "folder", PROMPT_PACKAGES)
    assert library.replaced == read_own_prompts(PROMPT_PACKAGES)
    assert len(files) == len(library.replaced)
    assert fingerprint_prompts(library, "reasoning") == fingerprint_prompts(PromptLibrary(), "reasoning")


def test_an_export_overwrites_nothing(tmp_path: Path) -> None:
    _put(tmp_path, "verify.md", "mine")
    with pytest.raises(InvalidInput, match=r"verify\.md exists already and is not overwritten"):
        export_prompts(tmp_path, PROMPT_PACKAGES)
    assert [file.name for file in tmp_path.iterdir()] == ["verify.md"]
    with pytest.raises(InvalidInput, match=r"verify\.md.* cannot be written"):
        export_prompts(tmp_path / "verify.md" / "below", PROMPT_PACKAGES)


def test_a_file_replaces_the_prompt_of_its_name(tmp_path: Path) -> None:
    _put(tmp_path, "filter_facts.md", b"\xef\xbb\xbf" + _GOOD.replace("\n", "\r\n").encode())
    _put(tmp_path, "notes.txt", "not a prompt")
    [prompt] = read_prompt_folder(tmp_path, PROMPT_PACKAGES).replaced.values()
    assert (prompt.name, prompt.system, prompt.user) == ("filter_facts", "Keep few.", "{{question}}\n{{facts}}")
    assert prompt.hash != _OURS.hash


def test_a_file_may_leave_variables_out(tmp_path: Path) -> None:
    _put(tmp_path, "filter_facts.md", "--- reply: list ---\nKeep few.\n--- user ---\n{{facts}}")
    [prompt] = read_prompt_folder(tmp_path, PROMPT_PACKAGES).replaced.values()
    assert (prompt.variables, prompt.left_out, prompt.reply) == ({"facts"}, {"question"}, ReplyForm.LIST)
    assert prompt.messages({"question": "Who?", "facts": "Ada"})[1].content == "Ada"


def test_other_words_are_another_fingerprint_of_their_package_alone(tmp_path: Path) -> None:
    _put(tmp_path, "filter_facts.md", _GOOD)
    first = read_prompt_folder(tmp_path, PROMPT_PACKAGES)
    _put(tmp_path, "filter_facts.md", _GOOD.replace("few", "many"))
    second = read_prompt_folder(tmp_path, PROMPT_PACKAGES)
    assert len({fingerprint_prompts(one, "retrieval") for one in (first, second)}) == 2
    assert len({fingerprint_prompts(one, "reasoning") for one in (first, second)}) == 1


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("filter_fact.md", _GOOD, "there is no prompt 'filter_fact'; `hopweave prompts list` shows the names"),
        ("README.md", "Ours.", "there is no prompt 'README'"),
        ("filter_facts.md", "Keep few.\n{{question}}\n{{facts}}", "the line '--- user ---' is missing; write it"),
        ("filter_facts.md", f"--- reply: facts ---\n{_GOOD}", "there is no reply 'facts'; there are: json, free_json"),
        ("filter_facts.md", f"{_GOOD} {{{{passages}}}} {{{{k}}}}", "unknown variables: {{k}}, {{passages}}; remove"),
        ("filter_facts.md", b"\xff\xfe", "it is not UTF-8; save it as UTF-8"),
        ("filter_facts.md", "", "the line '--- user ---' is missing"),
    ],
)
def test_a_file_that_cannot_take_the_place_is_named(tmp_path: Path, name: str, content: str | bytes, said: str) -> None:
    file = _put(tmp_path, name, content)
    with pytest.raises(InvalidSettings) as error:
        read_prompt_folder(tmp_path, PROMPT_PACKAGES)
    assert str(error.value).startswith(f"prompt {file}: ")
    assert said in str(error.value)


def test_a_folder_without_prompts_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidSettings, match=r"HOPWEAVE_PROMPTS_DIR\): .*none cannot be read"):
        read_prompt_folder(tmp_path / "none", PROMPT_PACKAGES)
    with pytest.raises(InvalidSettings, match=r"holds no prompt \(NAME\.md\); `hopweave prompts export` writes ours"):
        read_prompt_folder(tmp_path, PROMPT_PACKAGES)


def test_what_is_no_file_or_too_long_is_not_read(tmp_path: Path) -> None:
    """A pipe has no end: to read it would wait for ever."""
    (tmp_path / "verify.md").mkdir()
    with pytest.raises(InvalidSettings, match=r"verify\.md: it cannot be read"):
        read_prompt_folder(tmp_path, PROMPT_PACKAGES)
    (tmp_path / "verify.md").rmdir()
    os.mkfifo(tmp_path / "verify.md")
    with pytest.raises(InvalidSettings, match=r"verify\.md: it cannot be read \(it is no file\); rename or remove it"):
        read_prompt_folder(tmp_path, PROMPT_PACKAGES)
    (tmp_path / "verify.md").unlink()
    with (tmp_path / "verify.md").open("wb") as file:
        file.truncate(100_000_000)
    with pytest.raises(InvalidSettings, match=r"verify\.md: it is longer than 1,000,000 bytes; shorten it"):
        read_prompt_folder(tmp_path, PROMPT_PACKAGES)
