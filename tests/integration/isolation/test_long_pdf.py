"""A PDF of 1,000 pages: its pages are right, and the parser process stays below 500 MB."""

import re
import sys
from pathlib import Path

import pytest

from indexer.isolation.parser_process import IsolatedLoader, ParserProcess
from indexer.loaders import pdf
from testing.contracts.loader import source_of
from tests.documents import make_long_pdf

PAGES, LINES = 1_000, 30


def line_of(page: int, line: int) -> str:
    return f"Page {page}, line {line}: in the year {page + 1000} the river rose to mark {page * line} again."


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads the peak of a process from /proc")
def test_a_thousand_pages() -> None:
    content = make_long_pdf([[line_of(page, line) for line in range(LINES)] for page in range(1, PAGES + 1)])
    process = ParserProcess()
    loader = IsolatedLoader(module=pdf.__name__, config=pdf.Config(), process=process)
    document = loader.load(source_of(content))
    peak = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{process.pid}/status").read_text("ascii"))
    process.close()
    assert peak is not None
    assert int(peak[1]) < 500_000
    assert len(document.pages) == PAGES
    for page in (1, 2, 499, 500, 998, PAGES):
        assert document.pages[page - 1].split("\n") == [line_of(page, line) for line in range(LINES)]
    assert [block.page for block in document.blocks] == list(range(1, PAGES + 1))
