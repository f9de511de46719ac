"""The command line against its pages: `docs/cli.md` is up to date, and what any page names exists."""

import re
from collections.abc import Iterator

import pytest

from tests.docs.commands import all_commands, cli_page
from tests.docs.pages import DOCS, ROOT, code_blocks, inline_code, pages

_CALL = re.compile(r"(?:^|(?<=[\s`]))hopweave ((?:[a-z][a-z-]*)(?: [a-z][a-z-]*)?)(.*)")
_FLAG = re.compile(r"(?:^|(?<=[\s`\[(]))(--?[a-z][a-z-]*)(?=$|[\s`=,.;)\]…])")


def calls(text: str) -> Iterator[tuple[str, str]]:
    """The words behind `hopweave` with the rest of the line, without its comment."""
    for snippet in (*inline_code(text), *code_blocks(text)):
        for line in snippet.splitlines():
            for words, rest in _CALL.findall(line):
                yield words, re.split(r"\s#\s|[|;&]", rest)[0]


def test_the_page_of_commands_is_up_to_date() -> None:
    assert (DOCS / "cli.md").read_text("utf-8") == cli_page(), "run `make docs`"


def test_every_argument_and_option_is_described() -> None:
    parameters = [(one.name, p.name, p.help) for one in all_commands() for p in (*one.arguments, *one.options)]
    assert [(command, name) for command, name, text in parameters if not text] == []


def test_commands_and_options_that_a_page_names_exist() -> None:
    flags = {one.name: one.flags for one in all_commands()}
    groups = {name.split()[0] for name in flags if " " in name}
    for page, text in pages().items():
        for words, rest in calls(text):
            first, _, second = words.partition(" ")
            if words in flags:
                assert set(_FLAG.findall(rest)) <= flags[words], f"{page}: hopweave {words}{rest}"
            elif first in flags:
                assert set(_FLAG.findall(f" {second}{rest}")) <= flags[first], f"{page}: hopweave {words}{rest}"
            else:
                assert first in groups, f"{page}: hopweave {words}{rest}"
                assert not second, f"{page}: hopweave {words}{rest}"


def test_options_that_a_page_names_by_themselves_exist() -> None:
    known = {flag for one in all_commands() for flag in one.flags}
    for page, text in pages().items():
        named = {snippet.split()[0] for snippet in inline_code(text) if snippet.startswith("--")}
        assert {flag for flag in named if _FLAG.fullmatch(flag)} <= known, page


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "docs/servers.md", "docs/benchmarks/README.md"])
def test_make_targets_that_a_page_names_exist(page: str) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    snippets = [*inline_code(pages()[page]), *code_blocks(pages()[page])]
    named = {target for snippet in snippets for target in re.findall(r"^(?:\$ )?make ([a-z-]+)", snippet, re.MULTILINE)}
    assert named
    assert named <= targets
