"""Years, quarters and versions in names and questions."""

import pytest

from core.text.titles import (
    asks_for_newest,
    asks_for_older,
    compares_with_earlier,
    count_met,
    family_of,
    find_numbered_names,
    find_wanted_marks,
    order_of_marks,
    series_of,
)


@pytest.mark.parametrize(
    ("question", "marks"),
    [
        ("What did Apple spend in the first quarter of 2023?", {"q1", "2023"}),
        ("How do 4.6.1 and v4.6.2 differ?", {"4.6.1", "4.6.2"}),
        ("Sales of FY2023", {"2023"}),
        ("What has changed since 2022, and after version 1.7?", set()),
        ("What is in 2401.18059, IMG_20230405 and iso9001?", set()),
        ("Who wrote section 12?", set()),
        ("What does section 3.1 of version 2.0 say, and § 4.2?", {"2.0"}),
        ("As of v3, and under release 4?", {"v3", "v4"}),
        ("Maı 2024, juın 2023, ſep 2022", {"2024", "m05", "2023", "m06", "2022", "m09"}),
        ("thırd quarter, FİRST QUARTER, ſecond quarter, erſtes Quartal", {"q3", "q1", "q2"}),
        ("Is it in the 2nd edition, or in der 3. Auflage?", {"v2", "v3"}),
        ("How was it done before upgrading to Click 8.0?", set()),
        ("Was galt vor dem Umstieg auf 8.0?", set()),
        ("What had they before Q3 2022, and since FY2023?", set()),
        ("Minutes of March 2024", {"m03", "2024"}),
        ("Le compte rendu de juin 2024, das Protokoll vom Mai 2023", {"m06", "2024", "m05", "2023"}),
        ("She may march in 20 days", set()),
        ("Umsatz im dritten Quartal 2023 und im 4. Quartal", {"q3", "q4", "2023"}),
        ("le premier trimestre 2022", {"q1", "2022"}),
        ("What does the final agreement say beyond the draft?", {"final", "draft"}),
        ("the Amended and Restated Agreement", {"amended"}),
        ("Sales of FY23, report2024 and q3report", {"2023", "2024", "q3"}),
        ("Revision B, rev. C and PumpRevD", {"rev-b", "rev-c", "rev-d"}),
        ("rev2, Revision 3 and Rev04", {"v2", "v3", "v4"}),
        ("How do I issue a refund in the version I use? asked Rev. J. Smith", set()),
        ("apollo13 route66 iphone12 form1040 ISO9001 ISO2024 CR2032", set()),
        ("What is the rent under the second amendment?", {"amendment", "amendment-2"}),
        ("im Nachtrag Nr. 3, selon l'avenant n° 4", {"amendment", "amendment-3", "amendment-4"}),
        ("1.0.2k", {"1.0.2k"}),
        ("Is IPv6 in utf-8 or HTTP/2 in 10.0.0.1?", set()),
    ],
)
def test_marks_of_a_question(question: str, marks: set[str]) -> None:
    assert find_wanted_marks(question) == marks


@pytest.mark.parametrize(
    "question", ["The latest quarter?", "Aus dem neuesten Bericht", "le plus récent rapport", "Was gilt aktuell now?"]
)
def test_the_newest_is_asked_for(question: str) -> None:
    assert asks_for_newest(question)
    assert not asks_for_newest("Later, what was collated? Now it is known.")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("2022 Q3 APL.pdf", "Apple"), ("2023 Q1 APL.pdf", "Something else")),
        (("rules/1.8.md", "Rules"), ("rules/1.9.md", "Rules")),
        (("reports/2022/q3/apl.pdf", ""), ("reports/2023/q1/apl.pdf", "")),
        (("policy-v4.6.1.txt", ""), ("policy-v4.6.2.txt", "")),
        (("17", "1996 Summer Olympics"), ("18", "2000 Summer Olympics")),
        (("click-7.1.2/docs/options.rst", ""), ("click-8.0.4/docs/options.rst", "")),
        (("minutes 2024-03-06.txt", ""), ("minutes 2024-04-03.txt", "")),
        (("Report March 2024.pdf", ""), ("Report April 2024.pdf", "")),
        (("lease draft.docx", ""), ("lease (final).docx", "")),
        (("report2023.pdf", ""), ("report2024.pdf", "")),
        (("manual-rev-a.txt", ""), ("manual-rev-b.txt", "")),
        (("manual-rev1.txt", ""), ("manual-rev2.txt", "")),
        (("1", "Spec Rev A"), ("2", "Spec Rev B")),
        (("lib-1.0.2a.md", ""), ("lib-1.0.2k.md", "")),
        (("Lease.txt", ""), ("First Amendment to the Lease.txt", "")),
        (("Mietvertrag.txt", ""), ("Nachtrag 1 zum Mietvertrag.txt", "")),
        (("contrat.txt", ""), ("avenant n°1 au contrat.txt", "")),
        (("lease.docx", ""), ("lease, amended and restated.docx", "")),
    ],
)
def test_versions_of_a_document_are_a_family(one: tuple[str, str], other: tuple[str, str]) -> None:
    (family, first), (same, second) = family_of(*one), family_of(*other)
    assert family == same != ""
    assert first != second


def test_other_documents_are_no_family() -> None:
    assert family_of("constitution/amendment-1.txt", "First Amendment")[0] == ""
    assert family_of("nimbus/amendment-1.txt", "First Amendment to the Lease")[0] == "nimbus lease"
    assert not any(family_of(f"{name}.txt", "")[1] for name in ("apollo13", "annex-a", "iphone12", "chapter-2"))
    assert family_of("2022 Q3 APL.pdf", "")[0] != family_of("2022 Q3 NVD.pdf", "")[0]
    assert family_of("1996.md", "")[0] == family_of("12", "1996")[0] == ""
    assert not family_of("doc-2.md", "")[1]
    assert not family_of("12", "Chapter 12")[1]


@pytest.mark.parametrize(
    ("wanted", "met"),
    [
        ("8.0", "8.0.4"),
        ("8.0.2", "8.0.4"),
        ("8.1", "8.1"),
        ("8.1.7", "8.1"),
        ("v7", "7.1.2"),
        ("8.10", ""),
        ("7.2", ""),
        ("v1", ""),
    ],
)
def test_a_version_is_met_by_the_nearest_of_its_releases(wanted: str, met: str) -> None:
    versions = ["7.1.2", "8.0.4", "8.1", "10.9"]
    counts = count_met(frozenset({wanted}), [frozenset({version}) for version in versions])
    assert [version for version, count in zip(versions, counts, strict=True) if count] == ([met] if met else [])


def test_one_number_is_met_by_all_of_its_releases() -> None:
    versions = [frozenset({"8.0.4"}), frozenset({"8.1"}), frozenset({"q1"})]
    assert count_met(frozenset({"v8", "2023", "q1"}), versions) == [1, 1, 1]


def test_numbers_behind_a_word_may_be_versions_of_what_it_names() -> None:
    assert find_numbered_names("Does npm 8 need Node-16? See section 4.") == {("npm", "v8"), ("node", "v16")}


@pytest.mark.parametrize(
    ("key", "series"),
    [
        ("docs/1.7/setup.md", "docs/"),
        ("npm/v6/a/ci.md", "npm/"),
        ("click-8.0.4/docs/options.rst", "click/"),
        ("1.7/setup.md", "/"),
        ("reports/2022/q3/apl.pdf", ""),
        ("manual-4.6.2.txt", ""),
        ("docs/1.7/17", ""),
    ],
)
def test_documents_below_a_version_are_a_series(key: str, series: str) -> None:
    assert series_of(key) == series


def test_what_was_before_a_version_is_asked_for() -> None:
    assert asks_for_older("How was it before upgrading from 7.1 to Click 8.0?")
    assert asks_for_older("bis 2022")
    assert asks_for_older("What is the rent in the original lease?")
    assert not asks_for_older("What happened since 2022, before noon?")


def test_versions_are_ordered_by_year_quarter_and_numbers() -> None:
    ordered = [{"2022", "q4"}, {"2023", "q1"}, {"2023", "q3"}]
    assert sorted(map(frozenset, reversed(ordered)), key=order_of_marks) == ordered
    assert order_of_marks(frozenset({"4.10.1"})) > order_of_marks(frozenset({"4.9.2"})) > order_of_marks(frozenset())


@pytest.mark.parametrize(
    "names",
    [
        ("v6", "v8", "v10.9", "v11"),
        ("2023-12-24", "January 2024", "Q1 2024", "2024-11"),
        ("lease draft", "lease", "lease final", "lease amended"),
        ("lease 2021", "First Amendment to lease", "lease, Amendment No. 2", "3rd Amendment to lease"),
        ("spec rev A", "spec rev B", "spec Rev. C"),
        ("lib 1.0.2", "lib 1.0.2a", "lib 1.0.2k", "lib 1.0.3"),
    ],
)
def test_names_are_ordered_from_the_oldest(names: tuple[str, ...]) -> None:
    orders = [order_of_marks(family_of("1", name)[1]) for name in names]
    assert orders == sorted(orders)
    assert len(set(orders)) == len(orders)


def test_pages_of_different_hosts_are_no_family() -> None:
    own, other = family_of("https://one.example/policy", "Policy v2"), family_of("https://two.example/p", "Policy v99")
    assert own[0] != other[0]
    assert own[0] == family_of("https://one.example/new", "Policy v3")[0]


def test_a_pasted_list_of_versions_asks_for_none() -> None:
    assert find_wanted_marks("in 4.6.1 and 4.6.2") == {"4.6.1", "4.6.2"}
    assert not find_wanted_marks(" ".join(f"{n}.{n}.{n}" for n in range(90)))


def test_a_long_title_is_read_for_versions_at_its_beginning() -> None:
    filler = "word " * 80
    assert family_of("a.pdf", f"Manual 4.6.2 {filler}")[1] == {"4.6.2"}
    assert not family_of("a.pdf", f"Manual {filler} 4.6.2")[1]
    assert len(family_of("a.pdf", " ".join(f"{n % 90}.{n}" for n in range(900)))[1]) < 100


@pytest.mark.parametrize(
    ("question", "compares"),
    [
        ("How does R&D in the most recent quarter compare to previous quarters?", True),
        ("Comparing the latest quarter to the previous two quarters, how has R&D changed?", True),
        ("What changed in the latest report against the prior report?", False),
        ("Which bugs of previous versions does version 2.3 fix?", False),
        ("Ignore previous versions: what is the limit in v6?", False),
        ("Was hat sich gegenüber früheren Quartalen geändert?", True),
        ("Qu'est-ce qui a changé par rapport aux versions précédentes ?", True),
        ("What was the revenue in the latest quarter?", False),
        ("What happened in the previous period?", False),
    ],
)
def test_a_comparison_with_earlier_versions_wants_these_too(question: str, compares: bool) -> None:
    assert compares_with_earlier(question) is compares
