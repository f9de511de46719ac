"""Which clauses an amendment changes, a row for each wording; which passages are of them; and what agreements say."""

import pytest

from core.documents import Span
from core.validity.agreements import find_parties, leave_out_parties, share_parties
from core.validity.changes import find_clause_changes, is_changed, says_more
from core.validity.parts import is_placed

CHANGES: list[tuple[str, str, tuple[str, ...], set[str]]] = [
    ('In Section 2.1, the words "three (3) years" are replaced by "five".', "Section 2.1", ("three (3) years",), set()),
    ("Clause 9.2 is amended by deleting “ten” and inserting “twelve”.", "Clause 9.2", ("ten",), set()),
    ('The Lease is amended by replacing "Net 30" with "Net 45" in Section 5.2.', "Section 5.2", ("Net 30",), set()),
    ("Section 7.3 is deleted in its entirety.", "Section 7.3", (), set()),
    ("Ziffer 5 wird wie folgt geändert: Die Frist beträgt 30 Tage.", "Ziffer 5", (), set()),
    ("In § 3 Abs. 2 werden die Wörter „drei Monate“ durch „sechs“ ersetzt.", "§ 3", ("drei Monate",), set()),
    ("§ 4 erhält folgende Fassung: „§ 4 Die Miete beträgt 900 Euro.“", "§ 4", (), set()),
    ("Dans l'article 3, les mots « dix » sont remplacés par « vingt ».", "article 3", (" dix ",), set()),
    ("The annual fee in Section 5 and Schedule C is USD 9.", "Section 5 and Schedule C", (), {"annual", "fee"}),
    ("The monthly rent set out in Section 3 is increased to $4,000.", "Section 3", (), {"month", "rent"}),
    ("With effect from 1 May 2024 the Rent is £9,150 a month in place of £8,400.", "Rent", ("£8,400",), {"rent"}),
    ("The Break Date is deleted, and “25 May 2028” is substituted.", "Break Date", (), {"break", "date"}),
    ("The Deposit is increased by £75 to £875.", "Deposit", (), {"deposit"}),
    ("In the definition of “Break Date”, “A” is replaced by “B”.", "Break Date", ("A",), {"break", "date"}),
]


@pytest.mark.parametrize(("sentence", "part", "words", "subject"), CHANGES)
def test_a_sentence_changes_a_clause(sentence: str, part: str, words: tuple[str, ...], subject: set[str]) -> None:
    (found,) = find_clause_changes(sentence)
    assert (found.part, found.words, set(found.subject), found.text) == (part, words, subject, sentence)


NO_CHANGES = [
    "Section 2 of the Agreement shall not be amended.",
    "Section 4 of this Amendment is deleted.",
    "If Section 4 is deleted, the fee is waived.",
    "The day rates in Section 5 remain unchanged.",
    "A new Section 12 is added.",
    "The Rent is £8,400 a year.",  # a recital
    "If the Rent is increased, notice is given.",
    "The Tenant is permitted to sublet.",
    "Section 5.2 of the Agreement applies to invoices.",
    "§ 4 dieses Nachtrags wird aufgehoben.",
    "Ziffer 5 wird nicht geändert.",
    # no heading, or a condition
    "The fee no longer applies.",
    "3. Fees\nIf it rains, the fee does not apply.",
    "3. Fees\nThe fee is EUR 4.",
    # exceptions and denials
    *(
        f"3. Members\n{sentence}"
        for sentence in (
            "Die Anmeldung entfällt nicht.",
            "Der Beitrag entfällt auf den Gast.",
            "The ban on dogs does not apply to guide dogs.",
            "The due does not apply where the member is a school.",
            "The due does not apply, except to guests.",
            "The membership lapses on the death of the member.",
            "The membership lapses after three months.",
            "The membership never lapses.",
            "The membership may lapse.",
        )
    ),
]


@pytest.mark.parametrize("sentence", NO_CHANGES)
def test_a_sentence_changes_no_clause(sentence: str) -> None:
    assert list(find_clause_changes(sentence)) == []


def test_what_a_change_quotes_is_told_whole() -> None:
    text = (
        "2. Payment. Section 5.2 is deleted and replaced by: “5.2 Invoices are payable within thirty days. A discount"
        " of 1.5% applies.”\n\n3. Fees. The rates are unchanged."
    )
    (found,) = find_clause_changes(text)
    assert found.text == text[12 : text.index("\n\n")]
    assert text[found.start :].startswith(found.text)


CLAUSES = (
    "2.1 The term is three (3) years.\n2.2 It is renewed for three (3) years.\n2.10 The notice is three (3) years."
)


def reaches(sentence: str, words: str, heading: str = "2. Term", replaced: str = "") -> bool:
    (change,) = find_clause_changes(sentence)
    start = CLAUSES.index(words)
    return is_changed(change, heading, CLAUSES, Span(start=start, end=start + len(words)), replaced)


def test_only_the_clause_that_is_named_is_changed() -> None:
    sentence = "In Section 2.1, “three (3) years” is replaced by “five years”."
    assert reaches(sentence, "The term is three (3) years.")
    assert not reaches(sentence, "It is renewed for three (3) years.")
    assert not reaches(sentence, "The notice is three (3) years.")
    assert reaches("Section 2 is deleted.", "It is renewed for three (3) years.")
    assert not reaches("Section 3 is deleted.", "It is renewed for three (3) years.")


def test_a_clause_may_begin_with_a_sign() -> None:
    text = "§ 3 Ort. Die Arbeit ist in Lindau.\n§ 4 Entgelt. Das Entgelt beträgt 900 Euro."
    (change,) = find_clause_changes("In § 4 wird der Betrag „900 Euro“ durch „950 Euro“ ersetzt.")
    assert is_changed(change, "", text, Span(start=text.index("Das"), end=len(text)))
    assert not is_changed(change, "", text, Span(start=0, end=5))


def test_a_clause_without_the_words_is_not_changed() -> None:
    assert not reaches("In Section 2.1, “four years” is replaced by “five years”.", "The term is three (3) years.")
    assert not reaches("The annual fee in Section 2.1 is USD 5.", "The term is three (3) years.")
    assert reaches("The term in Section 2.1 is five years.", "The term is three (3) years.")


def test_a_later_amendment_changes_the_words_of_an_earlier_one() -> None:
    later = "In Section 2.1, “five years” is replaced by “nine years”."
    assert not reaches(later, "The term is three (3) years.")
    assert reaches(later, "The term is three (3) years.", replaced="… is replaced by “five years”.")


def test_what_announces_changes_is_none_of_them() -> None:
    text = "Die Parteien vereinbaren folgende Änderungen:\n\n1. In § 4 wird „900 Euro“ durch „950 Euro“ ersetzt."
    (found,) = find_clause_changes(text)
    assert (found.part, found.words) == ("§ 4", ("900 Euro",))


def test_parties_are_named_behind_between() -> None:
    lease = "Lease\n\nbetween Oak Street Partners, LP, of Ohio (“Landlord”), and Delmar Foods, Inc. (“Tenant”)."
    amendment = "Entered into by and between Delmar Foods Inc. and Oak Street Partners LP."
    other = "Lease between Birch Street Partners LP and Delmar Foods, Inc."
    assert find_parties(lease)[0] == "oak street partners"
    assert share_parties(find_parties(lease), find_parties(amendment))
    assert not share_parties(find_parties(other), find_parties(amendment))
    assert find_parties("The pause is between nine and ten.") == ()
    assert not share_parties((), ())


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("the Lease between A Ltd and B AG dated 1 March 2021 (the “Lease”)", "the Lease dated 1 March 2021"),
        ("the Lease of 1 March 2021 between A and B", "the Lease of 1 March 2021"),
        ("den Mietvertrag zwischen den Parteien vom 3. März 2020", "den Mietvertrag dated 3. März 2020"),
        ("Regulation (EC) No 45/2001", "Regulation (EC) No 45/2001"),
    ],
)
def test_parties_are_no_part_of_a_name(text: str, name: str) -> None:
    assert leave_out_parties(text) == name


ENDED = (
    "4. Harvest festival\nThe festival of 3 June 2030 does not take place. The festival is held on 9 June 2030 instead."
)
GARDEN = (
    "2. Water\nWater is free on 3 June 2030, the day of the festival.\n"
    "3. Harvest festival\nThe festival is on 3 June 2030.\nThe members bring cake."
)


def test_a_clause_may_be_named_by_its_heading() -> None:
    (change,) = find_clause_changes(ENDED)
    assert (change.part, change.is_title) == ("Harvest festival", True)
    assert change.text == ENDED[ENDED.index("The festival") :]

    def is_of(words: str, text: str = GARDEN) -> bool:
        start = text.index(words)
        return is_changed(change, "", text, Span(start=start, end=start + len(words)))

    assert is_of("The festival is on 3 June 2030.")
    assert not is_of("Water is free on 3 June 2030, the day of the festival.")
    assert not is_of("The members bring cake.")
    assert not is_of("The festival is on 3 June 2030.", GARDEN.replace("3. Harvest festival", "3. Fees"))


@pytest.mark.parametrize(
    ("text", "title", "said"),
    [
        ("7. Parking. The fee for a space no longer applies.", "Parking", "The fee for a space no longer applies."),
        ("§ 5 Heizung\nDie Pauschale entfällt.", "Heizung", "Die Pauschale entfällt."),
        ("3. Fees\nA fee of EUR 5 is due instead of EUR 4.", "Fees", "A fee of EUR 5 is due instead of EUR 4."),
        *(
            (f"3. Members\n{sentence}", "Members", sentence)
            for sentence in (
                "The due no longer applies from 1 May 2030.",
                "The due does not apply any more.",
                "Der Beitrag entfällt ab dem 1. Mai 2030 ersatzlos.",
                "The membership lapses on 2030-05-01.",
            )
        ),
    ],
)
def test_what_ends_is_read_under_its_heading(text: str, title: str, said: str) -> None:
    (change,) = find_clause_changes(text)
    assert (change.part, change.text) == (title, said)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("2. Dues\n\nThe yearly due in Section 5.1 is set at EUR 50 instead of EUR 40.", "Section 5.1"),
        ("2. Beiträge\n\nDer Beitrag in § 5 beträgt 50 Euro statt 40 Euro.", "§ 5"),
        ("2. Terms\n\nThe pause in clause 9 is a week; the former pause shall no longer apply.", "clause 9"),
        ("2. Terms\n\nClause 9 is replaced as follows; the former clause shall no longer apply.", "Clause 9"),
    ],
)
def test_a_change_that_names_its_clause_is_of_it_under_any_heading(text: str, part: str) -> None:
    (change,) = find_clause_changes(text)
    assert (change.part, change.is_title) == (part, False)


def test_what_replaces_an_ending_may_be_of_another_clause() -> None:
    text = "4. Festival\nThe festival of 3 June 2030 does not take place. The due in Section 7 is EUR 9 instead."
    assert [change.part for change in find_clause_changes(text)] == ["Festival", "Section 7"]
    assert list(find_clause_changes("4. Festival\nThe festival in Section 7 does not take place.")) == []


WHOLE = (
    "# Amendment No. 1\n\nThis Amendment No. 1 is entered into as of 3 June 2030 between Ash Club and Fir Club.\n\n"
    "1. Term. Section 6.1 is deleted.\n\n2. Festival\nThe festival of 3 June 2030 does not take place.\n\n"
    "Except as amended above, the Agreement shall remain in full force and effect."
)


@pytest.mark.parametrize("text", [WHOLE, "Section 4 is deleted.\nIm Übrigen bleibt der Vertrag unverändert."])
def test_an_amendment_may_be_read_whole(text: str) -> None:
    assert not says_more(text, list(find_clause_changes(text)))


@pytest.mark.parametrize(
    "sentence",
    [
        "The clubs have agreed that Fir Club pays EUR 50 a year from now on.",
        "- Fee: EUR 50",
        "4. No dogs\n\n5. Music",
        "4. The keys stay with Ash Club",
        "All other dues are halved and the Agreement remains in force.",
        "This Amendment between Ash Club and Fir Club sets the due at 50 euros.",
    ],
)
def test_any_other_sentence_may_be_a_change(sentence: str) -> None:
    for text in (f"{sentence}\n\n{WHOLE}", f"{WHOLE}\n\n{sentence}"):
        assert says_more(text, list(find_clause_changes(text)))


def test_the_clause_of_a_place_is_known_by_a_heading_above_it() -> None:
    assert is_placed("", "3. Fees\nThe fee is EUR 4.")
    assert is_placed("Garden › 3. Fees", "The fee is EUR 4.")
    assert not is_placed("", "20 April is a holiday\nThe fee is EUR 4.")


def test_a_term_is_changed_where_it_is_defined_or_has_the_words_that_go() -> None:
    (rent,) = find_clause_changes("With effect from 1 May 2024 the Rent is £900 instead of £840.")
    (date,) = find_clause_changes("The Break Date is deleted, and “1 May 2028” is substituted.")

    def changes(line: str) -> list[str]:
        span = Span(start=0, end=len(line))
        return [change.part for change in (rent, date) if is_changed(change, "", line, span)]

    assert changes("THE RENT: £840 a month") == changes("The Tenant pays a rent of £840.") == ["Rent"]
    assert changes("| Break Date | 1 May 2026 |") == changes("“Break Date” means 1 May 2026.") == ["Break Date"]
    assert not changes("The Tenant may end this Lease on the Break Date.")
    assert not changes("THE RENT: £700 a month")
    assert not changes("THE RENT COMMENCEMENT DATE: 24 June 2022")
