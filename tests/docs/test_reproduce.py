"""The page of the papers' tables is made from the list of tables, and is linked."""

from evaluation import list_tables
from tests.docs.pages import DOCS
from tests.docs.reproduction import reproduction_page


def test_the_page_of_tables_is_up_to_date() -> None:
    assert (DOCS / "reproduce.md").read_text("utf-8") == reproduction_page(), "run `make docs`"


def test_every_table_has_its_section_with_all_rows() -> None:
    page = (DOCS / "reproduce.md").read_text("utf-8")
    for table in list_tables():
        section = page.partition(f"### {table.id}\n")[2].partition("\n#")[0]
        assert section.count("\n| ") == len(table.rows) + 2
        for row in table.rows:
            assert (f"`{row.spec}`" if row.spec else row.not_run) in section


def test_the_page_is_linked_where_reasoners_are_measured() -> None:
    assert "(reproduce.md)" in (DOCS / "evaluation.md").read_text("utf-8")
    assert "(reproduce.md)" in (DOCS / "index.md").read_text("utf-8")
