"""`docs/loading.md` against the loaders: each option is there with its default, and each binary kind has its row."""

import re

from core.strategies import list_names, load_module
from tests.docs.pages import DOCS, table_rows

PAGE = (DOCS / "loading.md").read_text("utf-8")


def test_the_options_are_those_of_the_code() -> None:
    expected = {
        (name, option): str(field.default).lower()
        for name in list_names("indexer.loaders")
        for option, field in load_module("indexer.loaders", name, "loader").Config.model_fields.items()
    }
    found = {(loader.strip("`"), option.strip("`")): default.strip("`") for loader, option, default, _ in _options()}
    assert found == expected


def _options() -> list[list[str]]:
    return table_rows(PAGE, "loader", "option", "default", "meaning")


def test_every_isolated_loader_has_its_row() -> None:
    isolated = {
        name
        for name in list_names("indexer.loaders")
        if getattr(load_module("indexer.loaders", name, "loader"), "ISOLATED", False)
    }
    assert {row[0].lower() for row in table_rows(PAGE, "kind", "text")} == isolated


def test_the_bounds_of_archives_are_those_of_the_code() -> None:
    from indexer.loading.archives import MAX_FILES, MAX_RATIO, MAX_UNPACKED

    [row] = [row for row in table_rows(PAGE, "limit", "setting") if row[0].startswith("archives")]
    numbers = [int(number.replace(",", "")) for number in re.findall(r"[\d,]*\d", row[0])]
    assert numbers[:3] == [MAX_FILES, MAX_UNPACKED // 1024**2, MAX_RATIO]
