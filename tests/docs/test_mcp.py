"""`docs/mcp.md` against the tools: each is there with its arguments, and the settings of clients are valid JSON."""

import json
import re

from api.mcp.server import TOOLS, TOOLS_WITH_FILES
from tests.docs.pages import DOCS, table_rows

_PAGE = (DOCS / "mcp.md").read_text("utf-8")


def test_each_tool_is_there_with_its_arguments() -> None:
    documented = {
        name.strip("`"): set(re.findall(r"`([a-z_]+)`", arguments)) for name, arguments, _ in table_rows(_PAGE, "tool")
    }
    assert documented == {tool.name: set(tool.arguments.model_fields) for tool in TOOLS_WITH_FILES}
    assert [tool.name for tool in TOOLS] == list(documented)


def test_the_settings_of_clients_are_json() -> None:
    blocks = re.findall(r"```json\n(.*?)```", _PAGE, re.DOTALL)
    assert len(blocks) == 4
    for block in blocks:
        json.loads(block)
