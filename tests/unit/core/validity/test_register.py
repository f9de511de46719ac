"""Which documents are in force: days, names of documents, circles, and what of a claim counts."""

from collections.abc import Sequence
from datetime import date
from typing import Any

import pytest

from core.documents import DocumentRef, Metadata
from core.errors import InvalidInput
from core.filters import DocumentFilter, parse_filter
from core.validity import NameFinder, Register, mark_writer, parse_as_of
from core.validity.statements import StatementSource, list_marks

TODAY = date(2026, 11, 29)


def ref(key: str, title: str = "", access: tuple[str, ...] | None = None, **metadata: Any) -> DocumentRef:
    return DocumentRef(id=f"id of {key}", key=key, title=title or key, metadata=metadata, access=access)


def said(*statements: tuple[str, str], since: str = "") -> Metadata:
    rows = [
        {"states": states, "value": value, "since": since, "source": "sentence", "text": f"{states} {value}."}
        for states, value in statements
    ]
    return {"valid_statements": rows}


def retired(day: str, *refs: DocumentRef) -> set[str]:
    register = make(*refs)
    return {register.refs[id].key for id in register.find_retired(date.fromisoformat(day), TODAY)}


def make(*refs: DocumentRef, writers: Sequence[DocumentFilter] = ()) -> Register:
    return Register({ref.id: ref for ref in refs}, NameFinder({ref.id: ref for ref in refs}), (), writers)


def test_the_first_and_the_last_day_count() -> None:
    one = ref("a", valid_from="2024-05-01", valid_to="2024-06-30")
    days = ("2024-04-30", "2024-05-01", "2024-06-30", "2024-07-01")
    assert [retired(day, one) for day in days] == [{"a"}, set(), set(), {"a"}]


def agreement(key: str, title: str, *parties: str, **stated: str) -> DocumentRef:
    rows = said(*stated.items())["valid_statements"]
    row = {"states": "parties", "value": list(parties), "source": "sentence"}
    return ref(key, title, valid_statements=[*rows, row])


def list_amended(*refs: DocumentRef, writers: Sequence[DocumentFilter] = ()) -> set[tuple[str, str]]:
    """Returns the keys of documents that are amended, with the problem."""
    register = make(*refs, writers=writers)
    return {
        (register.refs[id].key, relation.problem)
        for id, found in register.validity.items()
        for relation in found.relations
        if relation.kind == "amended_by"
    }


AMENDMENT = agreement("b", "Amendment 1", "oak", "elm", amends="Services Agreement dated March 1, 2023")


def test_an_amendment_names_an_agreement_by_title_and_day() -> None:
    for title in ("Services Agreement", "SERVICES AGREEMENT"):
        assert list_amended(AMENDMENT, agreement("a", title, "elm", "oak", valid_from="2023-03-01")) == {("a", "")}
    assert list_amended(AMENDMENT, agreement("a", "Services Agreement", "elm", "oak", valid_from="2023-03-02")) == set()


def test_an_amendment_names_an_agreement_of_its_parties_in_other_words() -> None:
    assert list_amended(AMENDMENT, agreement("a", "oak-elm msa", "elm", "oak", valid_from="2023-03-01")) == {("a", "")}
    assert list_amended(AMENDMENT, agreement("a", "oak-elm msa", "elm", "oak", valid_from="2023-04-01")) == set()
    assert list_amended(AMENDMENT, ref("a", "oak-elm msa", **said(("valid_from", "2023-03-01")))) == set()


def test_small_words_tell_no_names_apart() -> None:
    deed = ref("deed", **said(("amends", "lease of Unit 7 dated 1 March 2021")))
    lease, other = (
        ref(key, "LEASE", **said(("valid_from", "2021-03-01")))
        for key in ("Lease Unit 7 Elm.pdf", "Lease Unit 8 Elm.pdf")
    )
    assert list_amended(deed, lease, other) == {("Lease Unit 7 Elm.pdf", "")}


def test_an_amendment_names_no_agreement_of_other_parties() -> None:
    own = agreement("a", "Services Agreement", "elm", "oak", valid_from="2023-03-01")
    others = agreement("c", "Services Agreement", "elm", "birch", valid_from="2023-03-01")
    assert list_amended(AMENDMENT, others) == set()
    assert list_amended(AMENDMENT, own, others) == {("a", "")}


def test_who_may_not_change_an_agreement_only_claims_to_amend_it() -> None:
    own = agreement("a", "Services Agreement", "elm", "oak", valid_from="2023-03-01")
    restricted = parse_filter({"$key": "b"})
    ((key, problem),) = list_amended(AMENDMENT, own, writers=[restricted])
    assert (key, problem) == ("a", "a key may have written it that may not change the document that it names")


def test_a_field_replaces_what_a_sentence_states() -> None:
    statements = said(("valid_to", "2020-01-01"))
    assert retired("2024-01-01", ref("a", **statements)) == {"a"}
    assert retired("2024-01-01", ref("a", **statements, valid_to="2025-01-01")) == set()
    assert retired("2024-01-01", ref("a", **statements, valid_to="")) == set()


@pytest.mark.parametrize("value", [2024, True, None, "soon", "2024-13-01", ["2024-05-01"], {}])
def test_what_is_no_day_retires_nothing(value: object) -> None:
    assert retired("2030-01-01", ref("a", valid_to=value)) == set()


def test_a_date_of_a_file_name_hides_nothing_today() -> None:
    rows = [{"states": "valid_from", "value": "2030-01-01", "source": "file_name", "text": "2030-01-01.md"}]
    assert retired("2026-11-29", ref("a", valid_statements=rows)) == set()
    assert retired("2026-11-28", ref("a", valid_statements=rows)) == {"a"}


def test_what_an_expired_contract_says_is_still_asked() -> None:
    """Its own text hides it on other days, and a field hides it today, too."""
    contract = ref("a", **said(("valid_from", "2018-01-01"), ("valid_to", "2020-12-31")))
    assert retired("2026-11-29", contract) == set()
    assert retired("2026-11-28", contract) == retired("2017-12-31", contract) == {"a"}
    assert retired("2026-11-29", ref("a", valid_to="2020-12-31")) == {"a"}


def test_a_year_far_away_is_no_day() -> None:
    old, new = ref("o.md"), ref("new", supersedes="o.md", valid_from="0001-01-01")
    assert retired("2026-11-29", old, new) == {"o.md"}


def test_a_key_is_meant_before_a_title() -> None:
    old, new = ref("travel/2021.md"), ref("new", supersedes="travel/2021.md")
    assert retired("2026-11-29", old, new, ref("other", "travel/2021.md")) == {"travel/2021.md"}


def test_a_document_is_superseded_from_the_first_day_of_the_newer_one() -> None:
    old, new = ref("old"), ref("new", valid_from="2024-05-01", supersedes=["old"])
    assert retired("2024-04-30", old, new) == {"new"}
    assert retired("2024-05-01", old, new) == {"old"}


def test_a_repeal_without_a_day_holds_from_today_on() -> None:
    old, new = ref("old"), ref("new", supersedes="old")
    assert retired("2026-11-28", old, new) == set()
    assert retired("2026-11-29", old, new) == {"old"}


def test_the_day_of_the_sentence_goes_before_the_first_day_of_its_document() -> None:
    old = ref("old", "Order 1/2015")
    new = ref("new", **said(("supersedes", "Order 1/2015"), since="2024-06-01"), valid_from="2024-05-01")
    assert retired("2024-05-31", old, new) == set()
    assert retired("2024-06-01", old, new) == {"old"}


def test_an_amended_document_stays_in_force() -> None:
    old, new = ref("old", "Lease"), ref("new", valid_from="2024-05-01", **said(("amends", "Lease")))
    assert retired("2025-01-01", old, new) == set()
    validity = make(old, new).validity
    assert [relation.kind for relation in validity[old.id].relations] == ["amended_by"]
    assert [relation.kind for relation in validity[new.id].relations] == ["amends"]


@pytest.mark.parametrize(
    ("name", "title", "means"),
    [
        ("Regulation (EC) No 45/2001", "Regulation (EC) No 45/2001 on data", True),
        ("Regulation No 12", "Regulation No 12/2019", False),
        ("Regulation No 12/2019", "Regulation No 12/2019a", False),
        ("Regulation No 12/2019", "Notes on Regulation No 12/2018", False),
        ("Travel Policy", "Travel Policy of the board", False),
        ("Travel Policy of 1 March 2021", "Travel Policy 2021", True),
        ("Travel Policy of 1 March 2021", "Travel Policy 2022", False),
        ("Travel Policy of 1 March 2021", "Travel Policy of 2 March 2021", False),
        ("Satzung vom 3. März 2015", "Satzung vom 3. März 2015", True),
        ("Satzung vom 3. März 2015", "Satzung 2015-03-03", True),
        ("version of 1 March 2021", "New Rules 2021-03-01", True),
        ("version of 1 March 2021", "Other Rules 2021-03-01", False),
    ],
)
def test_which_title_a_name_means(name: str, title: str, *, means: bool) -> None:
    new = ref("new", "New Rules 2024", **said(("supersedes", name)))
    assert (retired("2026-12-01", ref("old", title), new) == {"old"}) is means


@pytest.mark.parametrize(
    ("key", "title", "means"),
    [
        ("it/security-v2.0.md", "Rules", True),
        ("it/security.md", "Rules 2.0", True),
        ("it/archive/old.pdf", "Security Handbook Version 2.0", True),
        ("it/rules.md", "Rules 2.0", False),  # neither the path is the same, nor the title
        ("it/guide.md", "Access Guide Version 2.0", False),
        ("hr/policy.md", "Security Handbook Version 2.0", False),  # a folder beside
        ("notes.md", "Version 2.0", False),
        ("it/security-v2.1.md", "Rules", False),
        ("it/security-v12.0.md", "Rules", False),
    ],
)
def test_a_number_alone_means_a_version_of_the_same_document(key: str, title: str, *, means: bool) -> None:
    for name in ("version 2.0", "v2.0"):
        new = ref("it/security-v3.0.md", "Security Handbook Version 3.0", **said(("supersedes", name)))
        assert (retired("2026-12-01", ref(key, title), new) == {key}) is means
        assert bool(make(ref(key, title), new).validity[new.id].unresolved) is not means


@pytest.mark.parametrize(
    ("name", "key", "title", "means"),
    [
        ("Version 2.0 of the Travel Policy", "a.md", "Travel Policy Version 2.0", True),
        ("version 2.0 of the Travel Policy", "travel-policy-2.0.md", "Travel", True),
        ("the 2.0 version of the Travel Policy", "a.md", "Travel Policy v2.0", True),
        ("Fassung 2.0 der Reiserichtlinie", "a.md", "Reiserichtlinie, Version 2.0", True),
        ("Version 2.0 of the Travel Policy", "a.md", "Travel Policy Version 2.1", False),
        ("Version 2.0 of the Travel Policy", "a.md", "Travel Policy", False),
        ("Version 2.0 of the Travel Policy", "a.md", "Group Travel Policy Version 2.0", False),
        ("Version 2.0 of the Travel Policy", "a.md", "Leave Policy Version 2.0", False),
    ],
)
def test_a_version_may_stand_before_the_name(name: str, key: str, title: str, *, means: bool) -> None:
    new = ref("new.md", title="Travel Policy Version 3.0", valid_from="2024-01-01", **said(("supersedes", name)))
    assert retired("2024-05-01", new, ref(key, title)) == ({key} if means else set())


@pytest.mark.parametrize(
    ("name", "means"),
    [
        ("version 1.0 of the Travel Policy", "a.md"),
        ("version 2.0 of the Travel Policy", "b.md"),
        ("version 3.0 of the Travel Policy", ""),
        ("version 1.0 of the Leave Policy", ""),
        ("version 1.0 of the Travel Policy of 1 May 2021", "a.md"),
        ("version 2.0 of the Travel Policy of 1 May 2021", ""),
    ],
)
def test_a_version_may_stand_in_the_text(name: str, means: str) -> None:
    old = [
        ref(key, "Travel Policy", valid_statements=[*said(("valid_from", day))["valid_statements"], row])
        for key, day, version in (("a.md", "2021-05-01", "1.0"), ("b.md", "2022-05-01", "2.0"))
        for row in [{"states": "version", "value": version, "source": "sentence"}]
    ]
    new = ref("new.md", "Travel Policy", **said(("valid_from", "2024-01-01"), ("supersedes", name)))
    assert retired("2026-12-01", *old, new) == {means} - {""}


def test_a_day_tells_one_of_several_versions() -> None:
    old = [ref(f"{year}.md", "Travel Policy", valid_from=f"{year}-05-01") for year in (2021, 2022)]
    name = "version 1.0 of the Travel Policy of 1 May 2021"
    new = ref("new.md", "Travel Policy", **said(("valid_from", "2024-01-01"), ("supersedes", name)))
    assert retired("2026-12-01", *old, new) == {"2021.md"}


def test_a_version_in_a_name_counts_before_that_in_the_text() -> None:
    row = {"states": "version", "value": "2.0", "source": "sentence"}
    old = ref("travel-policy-v1.0.md", "Travel Policy", valid_statements=[row])
    new = ref(
        "new.md", "Travel Policy", valid_from="2024-01-01", **said(("supersedes", "version 2.0 of Travel Policy"))
    )
    assert retired("2026-12-01", old, new) == set()


@pytest.mark.parametrize("name", ["version 2.0 of [●]", "version 2.0 of ***", "version 2.0 of _____"])
def test_a_version_of_a_document_whose_name_is_not_filled_in_means_none(name: str) -> None:
    old, new = ref("policy-1.txt"), ref("policy-2.txt", **said(("supersedes", name)))
    assert retired("2024-01-01", old, new) == set()


def test_a_number_that_two_versions_have_means_neither() -> None:
    old = [ref("rules-2.0.md", "Rules"), ref("old/x.md", "Rules 2.0")]
    assert retired("2026-12-01", *old, ref("rules-3.0.md", "Rules 3.0", **said(("supersedes", "version 2.0")))) == set()


def test_a_number_of_a_regulation_is_not_the_one_of_an_order() -> None:
    states = said(("supersedes", "Regulation No 5/2018"), ("supersedes", "6/2018"))
    new = ref("n", "Regulation No 9/2020 on levies", **states)
    named = [ref("a", "Regulation No 5/2018 on tolls"), ref("b", "Order No 6/2018 on fish")]
    levies = ref("c", "Regulation No 6/2018 on levies")
    assert retired("2026-12-01", *named, new) == {"a"}
    assert retired("2026-12-01", *named, levies, ref("d", "Regulation No 7/2018 on levies"), new) == {"a", "c"}


def test_a_name_that_fits_two_documents_retires_neither() -> None:
    both, new = [ref(key, "Order 1/2015") for key in "ab"], ref("new", **said(("supersedes", "Order 1/2015")))
    assert retired("2026-12-01", *both, new) == set()
    assert make(*both, new).validity[new.id].unresolved == ("Order 1/2015",)


@pytest.mark.parametrize(
    ("of_new", "of_old", "counts"),
    [
        (None, None, True),
        (None, ("group:a",), False),
        (("group:a",), ("group:a",), True),
        (("group:a",), ("group:a", "group:b"), True),
        (("group:a", "group:b"), ("group:a",), False),
        (("group:b",), ("group:a",), False),
        ((), ("group:a",), True),
        (("group:a",), (), False),
    ],
)
def test_who_sees_a_document_decides_what_its_claim_is_worth(
    of_new: tuple[str, ...] | None, of_old: tuple[str, ...] | None, *, counts: bool
) -> None:
    new = ref("new", access=of_new, supersedes="old")
    assert (retired("2026-12-01", ref("old", access=of_old), new) == {"old"}) is counts


@pytest.mark.parametrize(
    ("of_new", "of_old", "counts"),
    [
        ("", "", True),
        ("clerk", "", True),
        ("", "board", False),
        ("board", "board", True),
        ("clerk", "board", False),
        (3, 2, True),
        (2, 2, True),
        (2, 3, False),
        ("nan", 3, False),
        (True, 1, False),
    ],
)
def test_authority_decides_what_a_claim_is_worth(of_new: object, of_old: object, *, counts: bool) -> None:
    new = ref("new", authority=of_new, supersedes="old")
    assert (retired("2026-12-01", ref("old", authority=of_old), new) == {"old"}) is counts


def test_a_circle_retires_nothing() -> None:
    refs = [ref(key, supersedes=other) for key, other in (("a", "b"), ("b", "c"), ("c", "a"))]
    assert retired("2026-12-01", *refs) == set()
    assert retired("2026-12-01", *refs, ref("d", supersedes="a")) == {"a"}
    assert retired("2026-12-01", ref("a", supersedes="a")) == set()


def test_circles_are_conflicts_and_harm_nothing_else() -> None:
    pairs = [("a", "b"), ("b", "a"), ("c", "d"), ("d", "c")]
    register = make(*(ref(key, supersedes=[other, *(["c"] if key == "a" else [])]) for key, other in pairs))
    problems = {
        (key, relation.kind, relation.document.key): relation.problem
        for key in "abcd"
        for relation in register.validity[f"id of {key}"].relations
    }
    assert problems.pop(("a", "supersedes", "c")) == problems.pop(("c", "superseded_by", "a")) == ""
    assert set(problems.values()) == {"a conflict: the documents claim to supersede one another"}
    assert register.find_retired(TODAY, TODAY) == {"id of c"}


def test_claims_that_only_names_could_settle_are_a_conflict() -> None:
    pairs = [ref("a", "Policy 2020", supersedes="b"), ref("b", "Policy 2024", supersedes="a")]
    dated = [ref("a", supersedes="b"), ref("b", valid_from="2024-01-01", supersedes="a")]
    for refs in (pairs, dated):
        assert retired("2026-12-01", *refs) == set()
        problems = {found.problem for validity in make(*refs).validity.values() for found in validity.relations}
        assert problems == {"a conflict: the documents claim to supersede one another"}
    two_days = [ref("a", valid_from="2020-01-01", supersedes="b"), ref("b", valid_from="2024-01-01", supersedes="a")]
    assert retired("2026-12-01", *two_days) == {"a"}


@pytest.mark.parametrize(
    ("new", "old", "problem"),
    [
        (ref("h", valid_from="2023-01-01", supersedes="p"), ref("p", valid_from="2024-01-01"), "it begins no later"),
        (ref("book", **said(("supersedes", "policy"))), ref("policy", valid_from="2024-01-01"), "it has no day"),
        (ref("book", supersedes="policy"), ref("policy", valid_from="2024-01-01"), ""),
        (ref("h", "Handbook 2019", supersedes="policy"), ref("policy", valid_from="2024-01-01"), "of an earlier year"),
        (ref("h", "Book 2024", **said(("supersedes", "p"))), ref("p", valid_from="2024-03-01"), "it has no day"),
        (ref("h", "Book 2024", supersedes="p"), ref("p", valid_from="2024-03-01"), ""),
        (ref("h", "Handbook 2019", supersedes="p"), ref("p", "Policy 2024"), "of an earlier year"),
        (ref("h", valid_from="2019-03-01", supersedes="p"), ref("p", "Policy 2024"), "of an earlier year"),
        (ref("h", "Handbook 2025", supersedes="policy"), ref("policy", valid_from="2024-01-01"), ""),
        (ref("h", supersedes="p"), ref("p", "Policy 2024"), ""),
        (ref("h", supersedes="p"), ref("p"), ""),
        (ref("h"), ref("p", valid_from="2024-01-01", superseded_by="h"), ""),
    ],
)
def test_what_may_be_older_supersedes_nothing(new: DocumentRef, old: DocumentRef, problem: str) -> None:
    register = make(new, old)
    (relation,) = register.validity[old.id].relations
    assert problem in relation.problem
    assert bool(relation.problem) is bool(problem)
    assert register.find_retired(TODAY, TODAY) == (set() if problem else {old.id})


def test_the_end_of_the_newer_document_does_not_bring_the_older_one_back() -> None:
    old, new = ref("old"), ref("new", valid_from="2024-01-01", valid_to="2024-12-31", supersedes="old")
    assert retired("2023-12-31", old, new) == {"new"}
    assert retired("2024-12-31", old, new) == {"old"}
    assert retired("2025-01-01", old, new) == {"old", "new"}
    register = make(old, new)
    ends = [register.count_not_revived(register.find_retired(day, TODAY), day) for day in (date(2024, 12, 31), TODAY)]
    assert ends == [0, 1]
    assert retired("2025-01-01", old) == set()  # the newer one is deleted
    assert retired("2026-12-01", old, new, ref("newest", valid_from="2025-01-01", supersedes="new")) == {"old", "new"}


def test_what_was_withdrawn_before_it_began_supersedes_nothing() -> None:
    old, new = ref("old"), ref("new", valid_from="2024-05-01", valid_to="2024-04-30", supersedes="old")
    assert retired("2025-01-01", old, new) == {"new"}
    assert "never in force" in make(old, new).validity[old.id].relations[0].problem


def test_the_older_document_may_say_by_what_it_is_superseded() -> None:
    old = ref("old", access=("group:a",), superseded_by="new")
    assert retired("2025-01-01", old, ref("new", valid_from="2024-05-01")) == {"old"}


def test_a_day_is_read() -> None:
    assert parse_as_of("2024-05-01") == date(2024, 5, 1)
    assert parse_as_of("any") is None
    assert parse_as_of(None) is not None
    for text in ("2024-02-30", "today", ""):
        with pytest.raises(InvalidInput, match="as_of"):
            parse_as_of(text)


OPEN = parse_filter({"team": "open"})


def problems(writers: Sequence[DocumentFilter], *refs: DocumentRef) -> set[str]:
    register = make(*refs, writers=writers)
    return {relation.problem for found in register.validity.values() for relation in found.relations}


def test_a_document_without_a_mark_retires_what_each_key_that_may_have_written_it_may_change() -> None:
    """It may be older than the marks."""
    new = ref("new", supersedes="o.md", team="open")
    hidden, other = ref("o.md", team="hidden"), ref("o.md", team="open")
    assert problems([], new, hidden) == problems([OPEN], new, other) == {""}
    assert problems([OPEN], new, hidden) != {""}
    assert problems([OPEN], ref("new", supersedes="o.md", team="board"), hidden) == {""}


def test_a_document_that_was_changed_by_others_is_not_retired_by_a_key() -> None:
    new = ref("new", **mark_writer({"supersedes": "o.md"}, OPEN.digest))
    mine = mark_writer({"team": "open"}, OPEN.digest)
    assert problems([], new, ref("o.md", **mine)) == {""}
    moved = mark_writer({**mine, "team": "hidden"}, None, mine)
    assert problems([], new, ref("o.md", **moved)) != {""}


def test_who_changes_a_document_vouches_for_its_claims_only_by_saying_them() -> None:
    attack = mark_writer({"supersedes": "o.md"}, OPEN.digest)
    tagged = mark_writer({**attack, "tag": "x"}, None, attack)
    again = mark_writer({**tagged, "tag": "y"}, None, tagged)
    for metadata in (attack, tagged, again):
        assert problems([], ref("new", **metadata), ref("o.md")) != {""}
    said = mark_writer({**again, "supersedes": ["o.md"]}, None, again)
    assert problems([], ref("new", **said), ref("o.md")) == {""}
    assert mark_writer(attack | {"team": "open"}, OPEN.digest, attack) == attack | {"team": "open"}


@pytest.mark.parametrize("mark", [["a"], {"a": 1}, 7])
def test_what_is_no_text_is_no_mark(mark: object) -> None:
    """As an archive may have it that somebody wrote by hand."""
    old = ref("o.md", written_within=mark)
    new = ref("new", supersedes="o.md", written_within=mark, stated_within=mark)
    assert retired("2026-11-29", old, new) == {"o.md"}
    assert mark_writer({"tag": "x"}, None, new.metadata) == {"tag": "x"}


@pytest.mark.parametrize("content", [said(("supersedes", "o.md")), {"supersedes": "o.md"}])
def test_setting_and_clearing_a_field_makes_no_claim_of_the_content_count(content: Metadata) -> None:
    """What a sentence or front matter says is found again at each commit, under fields that are set."""
    key = mark_writer({}, OPEN.digest)
    empty = mark_writer({**key, "supersedes": ""}, None, key)
    tagged = mark_writer({**empty, "tag": "x"}, None, empty)
    cleared = mark_writer({}, None, tagged)
    for metadata in (key, cleared, mark_writer({"tag": "y"}, None, cleared)):
        assert problems([], ref("new", **content, **metadata), ref("o.md")) != {""}
    assert make(ref("new", **{**content, **tagged}), ref("o.md")).validity["id of o.md"].relations == ()
    own = mark_writer({**cleared, "supersedes": "o.md"}, None, cleared)
    for metadata in (own, mark_writer({**own, "tag": "z"}, None, own)):
        assert problems([], ref("new", **{**content, **metadata}), ref("o.md")) == {""}


def test_the_mark_of_a_field_is_its_setters() -> None:
    """Also where somebody else wrote the content, and keys with other filters changed the document meanwhile."""
    other = parse_filter({"team": "other"}).digest
    content = mark_writer({}, OPEN.digest)
    named = mark_writer({"supersedes": "o.md"}, other, content)
    assert list_marks(named, StatementSource.FIELD) == {other}
    assert list_marks(named, StatementSource.SENTENCE) == {OPEN.digest, other}
    tagged = mark_writer({**named, "tag": "x"}, OPEN.digest, named)
    assert list_marks(tagged, StatementSource.FIELD) == {OPEN.digest, other}
    after = mark_writer({**tagged, "tag": "y"}, None, tagged)
    assert list_marks(after, StatementSource.FIELD) == {other}
    assert list_marks(after, StatementSource.FILE_NAME) == {OPEN.digest}
    assert list_marks(mark_writer({}, None, after), StatementSource.FIELD) == {OPEN.digest}


@pytest.mark.parametrize(
    ("name", "key", "means"),
    [
        ("2616", "rfc/rfc2616.txt", True),
        ("RFC 2616", "rfc/rfc2616.txt", True),
        ("RFC 2616", "rfc2616", True),
        ("2616", "rfc/rfc02616.txt", True),
        ("2616", "orders/rfc2616.txt", False),
        ("2616", "rfc/order2616.txt", False),
        ("261", "rfc/rfc2616.txt", False),
        ("RFC 261", "rfc/rfc2616.txt", False),
    ],
)
def test_a_plain_number_means_a_file_of_the_same_series(name: str, key: str, *, means: bool) -> None:
    new = ref("rfc/rfc7230.txt", title="rfc7230", valid_from="2014-06-01", **said(("supersedes", name)))
    assert retired("2020-05-01", new, ref(key, title="Hypertext")) == ({key} if means else set())
