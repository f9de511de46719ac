"""`hopweave search` and `ask` of several corpora, here and by the server of the data folder."""

import pytest

from tests.integration.cli.conftest import Hopweave
from tests.integration.cli.test_folder_server import serving

QUERY = "Who wrote the first program?"


@pytest.fixture
def two(hopweave: Hopweave, corpus: str) -> tuple[str, str]:
    hopweave("corpora", "create", "letters")
    return corpus, "letters"


@pytest.mark.parametrize("served", [False, True])
def test_hits_and_sources_name_their_corpus(hopweave: Hopweave, two: tuple[str, str], served: bool) -> None:
    def check() -> None:
        ran = hopweave("search", QUERY, "-c", two[0], "-c", two[1], "--min-generation", f"{two[0]}=1")
        assert (ran.code, f"({two[0]}: " in ran.out) == (0, True), ran
        found = hopweave("search", QUERY, "-c", two[0], "-c", two[1], "--json").json
        assert set(found["generations"]) == set(two)
        told = hopweave("ask", QUERY, "-c", two[0], "-c", two[1], "--reasoner", "extractive:min_probability=0")
        assert (told.code, f"({two[0]}: " in told.out) == (0, True), told
        for wrong in (("-c", two[0], "-c", two[0]), ("-c", two[0], "--min-generation", "seven")):
            refused = hopweave("search", QUERY, *wrong)
            assert (refused.code, refused.err.count("\n")) == (2, 1), refused.err
        assert hopweave("search", QUERY, "-c", two[0], "-c", "nowhere").code == 1

    if served:
        with serving():
            check()
    else:
        check()
