"""Writes the pages of `docs/` that are made from the code: `make docs`."""

from tests.docs.commands import cli_page
from tests.docs.openapi import openapi_text
from tests.docs.pages import DOCS
from tests.docs.reproduction import reproduction_page

_PAGES = {"cli.md": cli_page(), "openapi.json": openapi_text(), "reproduce.md": reproduction_page()}
for name, text in _PAGES.items():
    if (DOCS / name).exists() and (DOCS / name).read_text("utf-8") == text:
        continue
    (DOCS / name).write_text(text, "utf-8")
    print(f"docs/{name} has changed")
