"""Strategies and loaders against the pages on them: each is described once, and what a page names exists."""

import re

import pytest

from tests.docs.pages import DOCS, inline_code, pages, table_rows

_VALUE = r"(?:\[[^\]]*\]|[^\s,\[]+)"
_SPEC = re.compile(rf"([a-z_]+):((?:[a-z_]+={_VALUE})(?:,[a-z_]+={_VALUE})*)")
_OPTION = re.compile(rf"([a-z_]+)=({_VALUE})")


def described() -> dict[str, dict[str, dict[str, object]]]:
    """Options with their defaults, of each strategy by name, by kind."""
    from app.container.container import describe_strategies

    kinds: dict[str, dict[str, dict[str, object]]] = {}
    for one in describe_strategies():
        properties = one["options"].get("properties", {})
        options = {name: schema.get("default") for name, schema in properties.items()}
        kinds.setdefault(one["kind"], {})[one["name"]] = options
    return kinds


def read(name: str) -> str:
    return (DOCS / name).read_text("utf-8")


def test_every_searcher_has_its_item() -> None:
    listed = re.findall(r"^- \*\*`(\w+)`\*\*", read("searching.md"), re.MULTILINE)
    assert sorted(listed) == sorted(described()["searcher"])


@pytest.mark.parametrize(
    ("kind", "of", "headings"),
    [
        ("reasoner", "asking.md", ("name", "does")),
        ("chunker", "documents.md", ("chunker",)),
        ("extractor", "documents.md", ("extractor",)),
    ],
)
def test_every_strategy_has_its_row(kind: str, of: str, headings: tuple[str, ...]) -> None:
    listed = [re.findall(r"`([^`]+)`", row[0])[0] for row in table_rows(read(of), *headings)]
    assert sorted(listed) == sorted(described()[kind])


def test_every_loader_has_its_row() -> None:
    from indexer.selection.loaders import known_suffixes, media_type_of

    rows = [re.findall(r"`(\.\w+)`", row[0]) for row in table_rows(read("documents.md"), "file")]
    listed = {suffix for row in rows for suffix in row}
    several = [[".jsonl"], [".parquet"]]
    assert listed == {*known_suffixes(), *(suffix for (suffix,) in several)}
    assert all(len({media_type_of(f"x{suffix}") for suffix in row}) == 1 for row in rows if row not in several)


def test_the_options_of_reasoners_are_those_of_the_code() -> None:
    reasoners = described()["reasoner"]
    rows = table_rows(read("strategies/README.md"), "name", "main options, with their defaults")
    assert rows
    for names, options in rows:
        for name in re.findall(r"`(\w+)`", names):
            for option, default in _OPTION.findall(" ".join(inline_code(options))):
                assert str(reasoners[name][option]).lower().removesuffix(".0") == default, f"{name}:{option}"


def test_options_that_a_page_names_exist() -> None:
    known: dict[str, dict[str, object]] = {}
    for kind in described().values():
        known |= kind
    for page, text in pages().items():
        for snippet in inline_code(text):
            for strategy, options in _SPEC.findall(snippet):
                if strategy in known:
                    given = {option for option, _ in _OPTION.findall(options)}
                    assert given <= set(known[strategy]), f"{page}: {snippet}"


def test_the_pages_of_strategies_name_all_that_exist() -> None:
    kinds = described()
    pages_of = {"reasoner": ("README", "baselines"), "searcher": ("searchers",)}
    for kind, names in pages_of.items():
        text = "\n".join(read(f"strategies/{name}.md") for name in names)
        rows = [*table_rows(text, "page", "strategies"), *table_rows(text, "name")]
        listed = {name for row in rows for name in re.findall(r"`(\w+)`", " ".join(row[:2]))}
        assert set(kinds[kind]) <= listed, kind
