"""Every command of the documentation is run, on small corpora, with a scripted model; or its page says why not."""

from collections.abc import Iterator

import pytest

from tests.docs.pages import code_blocks, pages
from tests.docs.running.sessions import Block, read_blocks
from tests.docs.running.stage import Stage, set_up

pytestmark = pytest.mark.slow

_SHORTEST_REASON = 12
_ELSEWHERE = "docs/clients/"
"""`tests/integration/api/protocols/test_recipes.py` runs these pages."""
_WITH_KEYS = ("docs/http.md", "docs/security.md")
"""Pages that make keys, with which the server asks every caller for one."""


def _blocks() -> dict[str, list[Block]]:
    found = {page: list(read_blocks(page, text)) for page, text in sorted(pages().items())}
    return {page: blocks for page, blocks in found.items() if blocks and not page.startswith(_ELSEWHERE)}


_BLOCKS = _blocks()
_RUN = [page for page, blocks in _BLOCKS.items() if any(not block.reason for block in blocks)]


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with set_up(tmp_path_factory.mktemp("stage")) as one:
        yield one


@pytest.mark.parametrize("page", _RUN)
def test_the_commands_of_a_page_run(stage: Stage, page: str) -> None:
    shell = stage.shell(page)
    try:
        for block in _BLOCKS[page]:
            if not block.reason:
                shell.run_block(block)
    finally:
        if page in _WITH_KEYS:
            stage.delete_keys()


@pytest.mark.parametrize("page", ["docs/quickstart.md", "docs/mcp.md"])
def test_the_programs_of_a_page_run(stage: Stage, page: str) -> None:
    for code in code_blocks(pages()[page], "python"):
        stage.shell(page).run_program(code)


def test_a_block_that_is_not_run_says_why() -> None:
    left_out = [block for blocks in _BLOCKS.values() for block in blocks if block.reason]
    assert [f"{block.page}:{block.line}" for block in left_out if len(block.reason) < _SHORTEST_REASON] == []


def test_every_block_has_commands_and_every_command_is_in_such_a_block() -> None:
    assert [f"{b.page}:{b.line}" for blocks in _BLOCKS.values() for b in blocks if not b.commands] == []
    for page, text in pages().items():
        assert code_blocks(text, "sh", "bash", "shell", "") == [], f"{page}: name the language; commands are `console`"
        others = [code for code in code_blocks(text) if code not in code_blocks(text, "console")]
        assert [code for code in others if any(line.startswith("$ ") for line in code.splitlines())] == [], page
