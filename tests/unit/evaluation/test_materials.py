"""What shows that a search met a question of the benchmark of materials, and what is told of the rows."""

from collections.abc import Sequence

import pytest

from tests.benchmarks.check import Check
from tests.benchmarks.materials.gold import (
    DocumentNeed,
    FigureNeed,
    LineNeed,
    Need,
    PassageNeed,
    Question,
    QuoteNeed,
    find_figures,
    reciprocal_rank,
    share_of_needs,
)
from tests.benchmarks.materials.measuring import SEARCHERS, Row, checks, make_row, table
from tests.unit.evaluation.builders import hit


def question(*needs: Need, depth: int = 5) -> Question:
    return Question(id="q", text="?", needs=needs, depth=depth)


def test_documents_and_passages_are_shown_by_their_ids_alone() -> None:
    assert DocumentNeed(key="a").shown_by(hit("a"))
    assert not DocumentNeed(key="a").shown_by(hit("a.txt"))
    need = PassageNeed(chunks=frozenset({"c-x", "c-y"}))
    assert need.shown_by(hit("a", id="c-y"))
    assert not need.shown_by(hit("a", id="c-z"))


@pytest.mark.parametrize(
    ("key", "text", "shown"),
    [
        ("folder/nda.txt", "Either PARTY may, with notice, terminate: this agreement.", True),
        ("folder/nda.txt", "party may agreement terminate", True),
        ("folder/nda.txt", "may terminate agreement", False),
        ("folder/other.txt", "party may terminate this agreement with notice", False),
        ("folder/nda.txt", "partying mayor terminated thistle agreements", False),
        ("folder/nda.txt", "", False),
    ],
)
def test_a_quote_is_shown_by_four_in_five_of_its_words_in_its_document(key: str, text: str, *, shown: bool) -> None:
    need = QuoteNeed(source="nda.txt", words=frozenset(["party", "may", "terminate", "this", "agreement"]))
    assert need.shown_by(hit(key, text)) is shown


@pytest.mark.parametrize(
    ("key", "text", "shown"),
    [
        ("2023 Q2 AAPL.pdf", "sales of 81,797 million", True),
        ("2023 Q2 AAPL.pdf", "sales of 181,797 or 81797", False),
        ("2023 Q2 AAPL.pdf", "sales of 81,797.5", False),
        ("2023 Q2 MSFT.pdf", "sales of 81,797 million", False),
    ],
)
def test_a_figure_is_shown_as_a_whole_in_documents_that_match(key: str, text: str, *, shown: bool) -> None:
    assert FigureNeed(figure="81,797", documents="*AAPL*").shown_by(hit(key, text)) is shown


def test_a_line_is_shown_by_any_alternative_whatever_the_white_space() -> None:
    need = LineNeed(lines=(("a.txt", "The rent  is due."), ("b.txt", "Rent: Monday")))
    assert need.shown_by(hit("a.txt", "Note.\nThe\nrent is\tdue. More."))
    assert need.shown_by(hit("b.txt", "Rent:   Monday"))
    assert not need.shown_by(hit("b.txt", "The rent is due."))
    assert not need.shown_by(hit("a.txt", "The rent was due."))


def test_figures_of_an_answer_are_those_of_three_digits_without_years_and_sources() -> None:
    answer = "Sales rose 12% to $81,797.5 million in 2023, or 1.52 a share, from 817 in 2009.\nSOURCE(S): page 1234"
    assert find_figures(answer) == ["1.52", "2009", "81,797.5", "817"]
    assert find_figures("about a tenth, in 2022") == []


def test_the_share_is_of_the_needs_that_the_first_hits_show_and_the_rank_that_of_the_first_of_these() -> None:
    needs = DocumentNeed(key="a"), DocumentNeed(key="b"), DocumentNeed(key="c")
    hits = [hit("x"), hit("a"), hit("a"), hit("b"), hit("y"), hit("c")]
    shares = [share_of_needs(question(*needs, depth=depth), hits) for depth in (1, 3, 5, 6)]
    assert shares == pytest.approx([0, 1 / 3, 2 / 3, 1])
    assert share_of_needs(question(*needs), []) == 0
    ranks = [reciprocal_rank(question(*needs[:2]), found) for found in ([hit("b"), *hits], hits, hits[:1], [])]
    assert ranks == [1, 1 / 2, 0, 0]


def test_of_a_document_the_best_hit_counts_where_documents_are_asked_for() -> None:
    hits = [hit("x"), hit("x"), hit("x"), hit("a")]
    documents = make_row("kind", "dense", question(DocumentNeed(key="a"), depth=2), hits, 1.5)
    assert documents == {"kind": "kind", "searcher": "dense", "question": "q", "score": 1, "rr": 0.5, "ms": 1.5}
    passages = make_row("kind", "dense", question(PassageNeed(chunks=frozenset({hits[3].chunk.id})), depth=2), hits, 1)
    assert (passages["score"], passages["rr"]) == (0, 0.25)


def rows_of(kind: str, scores: dict[str, Sequence[float]], ms: dict[str, float] | None = None) -> list[Row]:
    return [
        {
            "kind": kind, "searcher": name, "question": f"q{number}", "score": score, "rr": score / 2,
            "ms": (ms or {}).get(name, 10.0),
        }
        for name, of_searcher in scores.items()
        for number, score in enumerate(of_searcher)
    ]  # fmt: skip


def alike(**changed: Sequence[float]) -> dict[str, Sequence[float]]:
    """Half of the questions are met by each searcher, unless it is said otherwise."""
    return {**dict.fromkeys(SEARCHERS, (1, 0, 1, 0)), **changed}


def named(told: Sequence[Check], beginning: str) -> Check:
    [found] = [check for check in told if check.name.startswith(beginning)]
    return found


def test_bridged_is_compared_with_the_best_of_the_others() -> None:
    told = checks(rows_of("news", {**alike(sparse=(1, 1, 1, 0), bridged=(1, 1, 1, 1)), "someone": (1, 1, 1, 1)}))
    check = named(told, "news: bridged beyond sparse [")
    assert (check.value, check.target, check.reached) == (pytest.approx(25), -0.5, True)
    assert check.name == "news: bridged beyond sparse [+0.0, +75.0]"
    assert not [one for one in told if "beyond dense" in one.name or "someone" in one.name]


def test_a_loss_of_more_than_half_a_point_is_not_reached() -> None:
    scores = [1.0] * 199
    told = checks(
        rows_of("slight", alike(fused=[*scores, 1.0], bridged=[*scores, 0.2], dense=[0] * 200, sparse=[0] * 200))
    )
    assert named(told, "slight: bridged beyond fused").value == pytest.approx(-0.4)
    assert named(told, "slight: bridged beyond fused").reached
    told = checks(rows_of("news", alike(fused=(1, 1, 1, 0))))
    assert named(told, "news: bridged beyond fused").value == pytest.approx(-25)
    assert not named(told, "news: bridged beyond fused").reached


def test_the_mean_is_over_kinds_and_not_over_questions() -> None:
    many = {name: [1.0 if name == "bridged" else 0.0] * 20 for name in SEARCHERS}
    told = checks([*rows_of("news", many), *rows_of("law", alike())])
    assert named(told, "mean over kinds").value == pytest.approx(50)
    assert named(told, "mean over kinds").reached
    assert not named(checks(rows_of("law", alike())), "mean over kinds").reached


@pytest.mark.parametrize("kind", ["CACM", "contracts"])
def test_kinds_of_long_queries_are_compared_with_dense_too(kind: str) -> None:
    told = checks(rows_of(kind, alike(fused=(1, 1, 1, 1), bridged=(1, 1, 1, 0))))
    assert named(told, f"{kind}: bridged beyond dense").value == pytest.approx(25)
    assert named(told, f"{kind}: bridged beyond dense").reached
    assert not named(checks(rows_of(kind, alike(sparse=(1, 1, 1, 1)))), f"{kind}: bridged beyond dense").reached


def test_typed_words_of_all_kinds_are_one_number() -> None:
    def typed(kind: str, count: int, bridged: int) -> list[Row]:
        scores: dict[str, Sequence[float]] = {**dict.fromkeys(SEARCHERS, [0] * count), "bridged": [bridged] * count}
        return rows_of(f"typed, {kind}", scores)

    rows = [*typed("law", 49, 1), *typed("news", 1, 0)]
    check = named(checks(rows), "50 rare words, typed")
    assert (check.value, check.reached) == (pytest.approx(0.98), True)
    assert not named(checks([*rows, *typed("mail", 2, 0)]), "52 rare words, typed").reached
    assert not [one for one in checks(rows_of("news", alike())) if "typed" in one.name]


def test_each_peer_is_compared_and_is_never_the_best_of_the_others() -> None:
    told = checks(
        rows_of("news", {**alike(bridged=(1, 1, 0, 0)), "haystack": (1, 1, 1, 1), "linear-rag": (0, 0, 0, 0)})
    )
    beyond = named(told, "news: bridged beyond haystack [")
    assert (beyond.value, beyond.target, beyond.reached) == (pytest.approx(-50), 0, False)
    assert named(told, "news: bridged beyond linear-rag [").value == pytest.approx(50)
    assert named(told, "mean over kinds").value == pytest.approx(0)


def test_a_peer_that_failed_on_one_kind_is_compared_on_the_others() -> None:
    rows = [*rows_of("news", {**alike(), "haystack": (0, 0, 0, 0)}), *rows_of("law", alike())]
    told = checks(rows)
    names = [check.name for check in told if "beyond haystack" in check.name]
    assert names == ["news: bridged beyond haystack [+0.0, +100.0]"]
    assert named(told, "haystack: median ms").value == 10
    lines = table(rows).splitlines()
    assert lines[0].endswith("| `haystack` |")
    assert lines[3] == "| law | 4 | 50.0; 25.0 | 50.0; 25.0 | 50.0; 25.0 | 50.0; 25.0 |  |"


@pytest.mark.parametrize(
    ("times", "target", "reached"),
    [
        ({"bridged": 20.0, "haystack": 30.0, "txtai": 25.0, "linear-rag": 1.0}, 25.0, True),
        ({"bridged": 26.0, "haystack": 30.0, "txtai": 25.0, "linear-rag": 99.0}, 25.0, False),
        ({"bridged": 26.0, "linear-rag": 1.0}, None, True),
        ({"bridged": 26.0}, None, True),
    ],
)
def test_bridged_is_to_be_no_slower_than_the_fastest_hybrid_peer(
    times: dict[str, float], target: float | None, *, reached: bool
) -> None:
    scores = {**alike(), **{name: (0, 0, 0, 0) for name in times if name != "bridged"}}
    told = checks(rows_of("news", scores, times))
    check = named(told, "bridged: median ms")
    assert (check.value, check.target, check.reached) == (times["bridged"], target, reached)
    for name in (*SEARCHERS, *times):
        if name != "bridged":
            assert named(told, f"{name}: median ms").target is None


def test_the_table_has_score_and_rank_of_each_searcher_and_peer() -> None:
    rows = rows_of("news", {**alike(bridged=(1, 1, 1, 1)), "txtai": (0, 0, 0, 1)})
    assert table(rows).splitlines() == [
        "| kind | questions | `dense` | `sparse` | `fused` | `bridged` | `txtai` |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
        "| news | 4 | 50.0; 25.0 | 50.0; 25.0 | 50.0; 25.0 | 100.0; 50.0 | 25.0; 12.5 |",
    ]
