"""Sentences that contradict one another, and sentences that only look so; which of two documents counts."""

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from core.documents import DocumentRef
from core.filters import parse_filter
from core.validity.claims import compare_standing
from core.validity.contradictions import find_contradictions
from core.validity.differences import split_clauses

PAIRS = Path(__file__).parents[3] / "benchmarks/validity/contradictions.jsonl"


def is_contradicted(pair: dict[str, Any]) -> bool:
    own, others = split_clauses(pair["text"])[0], split_clauses(pair["other"])[0]
    return any(find_contradictions(own[-1].text, own, others, pair["question"])) or any(
        find_contradictions(pair["text"], own, others, pair["question"])
    )


@pytest.mark.parametrize("pair", [json.loads(line) for line in PAIRS.read_text(encoding="utf-8").splitlines()])
def test_made_pairs(pair: dict[str, Any]) -> None:
    assert is_contradicted(pair) == pair["conflict"]


def contradict(one: str, other: str) -> bool:
    """Returns whether two sentences contradict one another; in both orders alike."""
    pair = {"question": "", "text": f"## 4. Rules\n\n{one}", "other": f"## 4. Rules\n\n{other}"}
    found = {is_contradicted(pair), is_contradicted({**pair, "text": pair["other"], "other": pair["text"]})}
    assert len(found) == 1
    return found.pop()


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        # "no" before a number is no denial
        ("Form No. 5 must be used.", "Form 5 must be used.", False),
        ("Form No. 5 must be used.", "Form No. 6 must be used.", True),
        ("Das Formular Nr. 5 ist zu verwenden.", "Das Formular 5 ist zu verwenden.", False),
        ("No 18-year-olds are admitted to the site.", "18-year-olds are admitted to the site.", True),
        # three digits after a zero are a fraction
        ("The rate of interest is 0.5 %.", "The rate of interest is 0.500 %.", False),
        ("Der Zinssatz beträgt 0,5 %.", "Der Zinssatz beträgt 0,500 %.", False),
        ("The rate of interest is 0.5 %.", "The rate of interest is 0.750 %.", True),
        ("The limit is set at 1,500 euros.", "The limit is set at 1.500 euros.", False),
        # times of other kinds are not compared
        ("Records are kept for 12 months.", "Records are kept for 52 weeks.", False),
        ("Records are kept for 12 months.", "Records are kept for two years.", True),
        ("The exam takes 90 min in total.", "The exam takes 1.5 h in total.", False),
        ("The exam takes 90 minutes in total.", "The exam takes 2 hours in total.", True),
        ("The pause lasts 60 seconds.", "The pause lasts 1 minute.", False),
        ("Complaints are answered in 3 weeks.", "Complaints are answered in fifteen (15) working days.", False),
        ("Complaints are answered in 10 working days.", "Complaints are answered in 15 business days.", True),
        ("Complaints are answered in 8 working hours.", "Complaints are answered in 1 working day.", False),
        ("Es wird in 3 Wochen geantwortet.", "Es wird in 15 Werktagen geantwortet.", False),
        ("Payment is due on 31 March 2024.", "Payment is due in 30 days.", False),
        # numbers of several words
        ("Liability is limited to EUR 1.5 million.", "Liability is limited to EUR 1.5 thousand.", True),
        ("Liability is limited to 2 billion euros.", "Liability is limited to 2 million euros.", True),
        ("Die Haftung beträgt 1,5 Mio. Euro.", "Die Haftung beträgt 1.500.000 Euro.", False),
        ("Die Haftung beträgt 50 Tausend Euro.", "Die Haftung beträgt 50.000 Euro.", False),
        ("Die Haftung beträgt 100 (hundert) Euro.", "Die Haftung beträgt 100 Euro.", False),
        ("Liability is limited to EUR 1.125 million.", "Liability is limited to EUR 1,125,000.", False),
        ("Notice of twenty-five days is given.", "Notice of 25 days is given.", False),
        ("Notice of twenty-five days is given.", "Notice of 26 days is given.", True),
        ("The fee for entry is two hundred euros.", "The fee for entry is 200 euros.", False),
        # the least and the greatest value can both be right
        ("Notice of at least 30 days is given.", "Notice of at most 60 days is given.", False),
        ("Notice of not less than thirty (30) days is given.", "Notice of up to 60 days is given.", False),
        ("Notice is given within 60 days.", "Notice is given no earlier than 30 days.", False),
        ("The minimum period of notice is 30 days.", "The maximum period of notice is 60 days.", False),
        ("The period of notice is 30 days or more.", "The period of notice is 60 days or less.", False),
        ("The period of notice is min. 30 days.", "The period of notice is max. 60 days.", False),
        ("Die Frist beträgt mindestens 30 Tage.", "Die Frist beträgt höchstens 60 Tage.", False),
        ("Die Frist beträgt nicht weniger als 30 Tage.", "Die Frist beträgt maximal 60 Tage.", False),
        ("Claims are filed no earlier than 1 March 2024.", "Claims are filed no later than 31 March 2024.", False),
        ("Claims are filed no later than 1 March 2024.", "Claims are filed no later than 31 March 2024.", True),
        ("Notice of at least 30 days is given.", "Notice of no fewer than 60 days is given.", True),
        ("Notice is given within 30 days.", "Notice is given in no more than 60 days.", True),
        ("Die Frist beträgt höchstens 30 Tage.", "Die Frist beträgt maximal 60 Tage.", True),
        ("Codes have at least 8 and at most 64 signs.", "Codes have at least 12 and at most 64 signs.", True),
        ("Codes have 8 and at most 64 signs.", "Codes have at least 12 and at most 64 signs.", True),
    ],
)
def test_values_contradict_if_they_cannot_both_be_right(one: str, other: str, expected: bool) -> None:
    assert contradict(one, other) is expected


def test_both_sentences_are_given_verbatim_with_the_clause() -> None:
    own = split_clauses("## 4. Hotels\n\nNights cost 110 euros at\nmost.\n\n## 5. Trains\n\nSecond class.")[0]
    others = split_clauses("# Travel\n\n## 3. Hotels\n\nNights cost 145 euros at most.")[0]
    (found,) = find_contradictions("Nights cost 110 euros at\nmost.", own, others, "What do nights cost?")
    assert (found.said, found.otherwise) == ("Nights cost 110 euros at most.", "Nights cost 145 euros at most.")
    assert found.clause == "4 Hotels"


def ref(key: str, *, access: list[str] | None = None, **metadata: Any) -> DocumentRef:
    return DocumentRef(id=key, key=key, title=key, metadata=metadata, access=None if access is None else tuple(access))


OLD, NEW = date(2020, 1, 1), date(2024, 1, 1)


@pytest.mark.parametrize(
    ("document", "other", "days", "prevails", "reason"),
    [
        (ref("a", authority=2), ref("b", authority=1), (OLD, NEW), False, "its authority is lower"),
        (ref("a", authority=2), ref("b", authority="10"), (NEW, OLD), True, "its authority is higher"),
        (ref("a"), ref("b", authority="board"), (NEW, OLD), True, "its authority is higher"),
        (ref("a", authority="council"), ref("b", authority="board"), (NEW, OLD), None, "their authorities cannot"),
        (ref("a"), ref("b"), (OLD, NEW), True, "it is newer"),
        (ref("a-2024.md"), ref("a-2021.md"), (None, None), False, "it is older"),
        (ref("a"), ref("b"), (OLD, None), None, "nothing tells"),
        (ref("a"), ref("b"), (OLD, OLD), None, "nothing tells"),
        (ref("a", access=["legal"]), ref("b", authority=9), (OLD, NEW), None, "its authority is higher, but"),
        (ref("a"), ref("b", authority=9, written_within="x"), (OLD, NEW), None, "its authority is higher, but"),
        (ref("a"), ref("b", access=["legal"], authority=9), (OLD, NEW), True, "its authority is higher"),
    ],
)
def test_which_of_two_counts(
    document: DocumentRef, other: DocumentRef, days: tuple[date | None, ...], prevails: bool | None, reason: str
) -> None:
    standing = compare_standing(document, other, *days, ())
    assert standing.prevails is prevails
    assert standing.reason.startswith(reason)


def test_a_key_that_may_have_written_it_and_may_not_change_the_other_does_not_prevail() -> None:
    where = parse_filter({"$key": {"$prefix": "guest/"}})
    standing = compare_standing(ref("policy"), ref("guest/a", authority=9), OLD, NEW, (where,))
    assert standing.prevails is None
