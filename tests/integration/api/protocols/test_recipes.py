"""Every recipe of `docs/clients` runs as it stands there, against a server over a real socket."""

import asyncio
import os
import re
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.docs.pages import DOCS, code_blocks
from tests.integration.api.asking import KEY, asking, listening
from tests.twins.chat_server import ChatServer, Reply

_ADDRESS = "http://127.0.0.1:8000"
_COMMAND = re.compile(r"^\$ ((?:.*\\\n)*.*(?:\n {4}.*)*)", re.MULTILINE)
_SAID = {"answer": "Ada Lovelace wrote it [1].", "support": "stated", "unstated": "", "question": "Whom did Ada know?"}
_LISTS = ("/models", "/tags")
_SECONDS = 120


def _recipes() -> Iterator[tuple[str, list[str]]]:
    """Each recipe's name with the command that runs it."""
    for page in sorted((DOCS / "clients").glob("*.md")):
        text = page.read_text("utf-8")
        for number, code in enumerate(code_blocks(text, "python"), start=1):
            yield f"{page.stem}-python-{number}", [sys.executable, "-c", code]
        for number, block in enumerate(code_blocks(text, "console"), start=1):
            for place, command in enumerate(_COMMAND.findall(block), start=1):
                yield f"{page.stem}-console-{number}-{place}", ["bash", "-ec", command]


_RECIPES = dict(_recipes())


@pytest.fixture
async def address(tmp_path: Path) -> AsyncIterator[str]:
    with ChatServer(api_key=KEY, respond=lambda _: Reply.json(_SAID)) as chat:
        async with asking(tmp_path, chat) as server, listening(server) as url:
            yield url


def test_every_page_but_the_index_has_a_recipe() -> None:
    pages = {page.stem for page in (DOCS / "clients").glob("*.md")} - {"README"}
    assert {name.partition("-python")[0].partition("-console")[0] for name in _RECIPES} == pages


@pytest.mark.parametrize("name", list(_RECIPES))
async def test_a_recipe_runs(address: str, name: str) -> None:
    command = [part.replace(_ADDRESS, address) for part in _RECIPES[name]]
    assert any(address in part for part in command), "a recipe asks the server"
    environment = {**os.environ, "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1", "LANGSMITH_TRACING": "false"}
    process = await asyncio.create_subprocess_exec(
        *command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE, env=environment
    )
    async with asyncio.timeout(_SECONDS):
        out, err = await process.communicate()
    assert process.returncode == 0, err.decode()
    said = out.decode()
    assert not re.search(r'"(error|error_code|status)": ?("|\{|\d)', said), said
    only_lists = command[-1].endswith(_LISTS)
    assert ('"people"' if only_lists else "Ada Lovelace") in said or command[-1].endswith("version"), said
