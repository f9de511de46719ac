"""Writes the pages of `docs/` that are made from the code: `make docs`."""

from tests.docs.commands import cli_page
from tests.docs.openapi import openapi_text
from tests.docs.pages import DOCS

for name, text in (("cli.md", cli_page()), ("openapi.json", openapi_text())):
    if (DOCS / name).exists() and (DOCS / name).read_text("utf-8") == text:
        continue
    (DOCS / name).write_text(text, "utf-8")
    print(f"docs/{name} has changed")
