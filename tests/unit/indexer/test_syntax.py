"""Facts by grammar: every rule by its example, what is no fact, and texts that no grammar fits."""

import asyncio
import importlib
from dataclasses import replace

import pytest

from core.corpora import CorpusSettings, Fine
from core.errors import InvalidStrategy
from core.graph import Extraction
from core.ports.indexing import Block, DraftChunk, LoadedDocument
from indexer.extractors import syntax
from indexer.extractors.syntax.likely import LIKELY_RULES, LikelyRule
from indexer.extractors.syntax.rules import RULES, Rule
from indexer.extractors.syntax.statements import STATEMENT_RULES, StatementRule
from indexer.selection.extractors import has_fine_vectors, make_extractor
from testing.contracts.extractor import all_of


@pytest.fixture(scope="module", autouse=True)
def _spacy() -> None:
    """Imports spaCy before a test does: it imports torch, if that is installed, which asks a process for libraries."""
    importlib.import_module("spacy")


_ENGLISH = "This is what is written in the rest of the document, which is of the same language and was not extracted."


def extract(text: str, title: str = "", rest: str = _ENGLISH, extractor: str = "syntax") -> Extraction:
    document = LoadedDocument(key="k", title=title, blocks=(Block(text=text), Block(text=rest)))
    [extraction] = asyncio.run(all_of(make_extractor(extractor), document, [DraftChunk(text=text, block=0)]))
    return extraction


def facts(text: str, title: str = "", extractor: str = "syntax") -> set[tuple[str, str, str]]:
    return {(t.subject, t.predicate, t.object) for t in extract(text, title, extractor=extractor).triples}


def relations(text: str, title: str = "") -> list[str]:
    return [t.predicate for t in extract(text, title).triples]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_rule_makes_the_facts_of_its_example(rule: Rule) -> None:
    assert set(rule.facts) <= facts(rule.text)


def test_a_rule_is_needed_for_its_example(monkeypatch: pytest.MonkeyPatch) -> None:
    for rule in RULES:
        others = tuple(other for other in RULES if other is not rule)
        monkeypatch.setattr("indexer.extractors.syntax.rules.RULES", others)
        assert not set(rule.facts) <= facts(rule.text), rule.name


_LIKELY = "syntax:facts=likely"
_CLAUSES = "syntax:facts=clauses"


@pytest.mark.parametrize("rule", LIKELY_RULES, ids=lambda rule: rule.name)
def test_a_rule_of_likely_facts_makes_those_of_its_example(rule: LikelyRule, monkeypatch: pytest.MonkeyPatch) -> None:
    assert set(rule.facts) <= facts(rule.text, extractor=_LIKELY)
    others = tuple(other for other in LIKELY_RULES if other is not rule)
    monkeypatch.setattr("indexer.extractors.syntax.likely.LIKELY_RULES", others)
    assert not set(rule.facts) <= facts(rule.text, extractor=_LIKELY)


@pytest.mark.parametrize("rule", STATEMENT_RULES, ids=lambda rule: rule.name)
def test_a_rule_of_clauses_makes_the_statements_of_its_example(
    rule: StatementRule, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = {(subject, relation, " ".join(rest)) for subject, relation, *rest in rule.statements}
    assert wanted <= facts(rule.text, extractor=_CLAUSES)
    others = tuple(other for other in STATEMENT_RULES if other is not rule)
    monkeypatch.setattr("indexer.extractors.syntax.statements.STATEMENT_RULES", others)
    assert not wanted & facts(rule.text, extractor=_CLAUSES)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        # what "and" joins has statements of its own, with the auxiliaries and infinitives of the first verb
        ("It was built and sold in Basel.", {("It", "was sold in", "Basel")}),
        ("They wanted to print and sell books.", {("They", "wanted to sell", "books")}),
        # what is said of a noun in a clause behind it
        ("They met a chemist who liked cats.", {("a chemist", "liked", "cats")}),
        ("They met a chemist employed by the firm.", {("a chemist", "is employed by", "the firm")}),
        # who says it
        ("The firm said that it sold books.", {("The firm", "said", "that it sold books")}),
        # a condition stays
        ("If it rains, they will stay in Basel.", {("they", "will stay in", "Basel If it rains")}),
        ("They never left Basel.", {("They", "never left", "Basel")}),
        ("Neither the firm nor its editor left Basel.", {("Neither the firm nor its editor", "left", "Basel")}),
        ("They will no longer sell books.", {("They", "will no longer sell", "books")}),
    ],
)
def test_a_clause_is_told_in_its_own_words(text: str, found: set[tuple[str, str, str]]) -> None:
    assert found <= facts(text, extractor=_CLAUSES)


def test_a_pronoun_stands_for_what_is_known_and_else_for_itself() -> None:
    assert ("Quartz", "appears in", "Basel") in facts(JOURNAL, "Quartz", extractor=_CLAUSES)
    assert ("It", "appears in", "Basel") in facts("It appears in Basel.", extractor=_CLAUSES)


def test_they_and_a_part_of_the_title_are_probably_the_topic() -> None:
    found = facts("Popper was a philosopher. They sold cats.", "Karl Popper", extractor=_LIKELY)
    assert found >= {("Karl Popper", "was", "philosopher"), ("Karl Popper", "sold", "cats")}


def test_facts_below_the_least_probability_are_left_out() -> None:
    text = "Ada Lund, a chemist, founded Orell Press in a house of the old town near Basel."
    found = [facts(text, extractor=f"{_LIKELY},least={least}") for least in (0, 0.5, 0.8, 1)]
    assert found[0] > found[1] > found[2] > found[3] == set()
    assert ("Ada Lund", "founded", "Orell Press") in found[2]


def test_an_option_makes_a_corpus_stale() -> None:
    names = ["syntax", _LIKELY, _CLAUSES, f"{_LIKELY},least=0.5"]
    assert len({make_extractor(name).fingerprint for name in names}) == len(names)


# --- whose fact it is ------------------------------------------------------------------------------------------------


CORVO = "Rolf Ebert met Ines Corvo. He left Orell Press."
JOURNAL = "Quartz is a journal. It appears in Basel. The journal won the Tern Prize."
JOINED = "Ada Lund and Rolf Ebert founded Orell Press and sold Quartz."


@pytest.mark.parametrize(
    ("text", "title", "found"),
    [
        # a participle is about the subject of the copula
        ("Quartz is a monthly journal published by Orell Press.", "", [("Quartz", "published by", "Orell Press")]),
        # "it" and "the journal" are what the passage is about, and "he" is the last who did something
        (JOURNAL, "Quartz", [("Quartz", "appears in", "Basel"), ("Quartz", "won", "Tern Prize")]),
        (CORVO, "Report 7", [("Rolf Ebert", "left", "Orell Press")]),
        # what is joined has its own facts
        (JOINED, "", [("Ada Lund", "founded", "Orell Press"), ("Ada Lund", "sold", "Quartz")]),
        (JOINED, "", [("Rolf Ebert", "founded", "Orell Press"), ("Rolf Ebert", "sold", "Quartz")]),
        # a place within a place
        ("Ada Lund was born in Basel, Switzerland.", "", [("Ada Lund", "was born in", "Basel")]),
        ("Ada Lund was born in Basel, Switzerland.", "", [("Ada Lund", "was born in", "Switzerland")]),
    ],
)
def test_whose_fact_it_is(text: str, title: str, found: list[tuple[str, str, str]]) -> None:
    assert set(found) <= facts(text, title)


def test_who_is_not_the_place_before_it() -> None:
    found = facts("Ada Lund is a runner from Cuba, who won the Tern Prize.")
    assert ("Ada Lund", "won", "Tern Prize") in found
    assert not any(subject == "Cuba" for subject, _, _ in found)


# --- what the text does not say --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "relation"),
    [
        ("Orell Press did not acquire Quartz.", "did not acquire"),
        ("Orell Press never acquired Quartz.", "never acquired"),
        ("Orell Press may acquire Quartz.", "may acquire"),
        ("The Supplier shall deliver the Goods.", "shall deliver"),
        ("Orell Press refused to sell Quartz.", "refused to sell"),
        ("Orell Press refused to print or sell Quartz.", "refused to sell"),
    ],
)
def test_a_relation_says_what_is_denied_or_only_possible(text: str, relation: str) -> None:
    assert relation in relations(text)
    assert all(found.startswith(relation.split(maxsplit=1)[0]) for found in relations(text))


@pytest.mark.parametrize(
    "text",
    [
        "Orell Press denied that it had acquired Quartz.",
        "Rolf Ebert believed that Orell Press owned Quartz.",
        "Rolf Ebert did not say that Orell Press owned Quartz.",
        "If Orell Press acquires Quartz, nothing changes.",
        "Did Orell Press acquire Quartz?",
        "Orell Press acquired no shares of Quartz.",
        "Orell Press acquired only a part of Quartz.",
        "☒ Orell Press acquired Quartz. ☐",
        "Neither Orell Press nor Tern Group acquired Quartz.",
        "Orell Press took Ada Lund to court in order to acquire Quartz.",
        "Orell Press grew without acquiring Quartz.",
        "Orell Press was accused of acquiring Quartz.",
        "Orell Press did not print or acquire Quartz.",
        "Orell Press or Tern Group acquired Quartz.",
        "Rolf Ebert planned to have Orell Press acquire Quartz.",
        "Orell Press acquires Quartz unless Tern Group buys Basel.",
    ],
)
@pytest.mark.parametrize("extractor", ["syntax", _LIKELY, _CLAUSES])
def test_what_is_not_asserted_is_no_fact(text: str, extractor: str) -> None:
    """Whole clauses keep "no", "or" and "unless" among their words."""
    told = [fact for fact in facts(text, extractor=extractor) if not _KEPT & set(" ".join(fact).split())]
    assert not {"acquired", "acquires", "acquire", "acquiring", "is acquiring", "owned"} & {fact[1] for fact in told}


_KEPT = {"no", "only", "or", "Neither", "unless"}


@pytest.mark.parametrize("text", ["Orell Press acquired no shares of Quartz.", "Orell Press acquired Quartz only."])
def test_of_what_is_denied_no_part_is_told(text: str) -> None:
    assert not any("Quartz" in fact for fact in facts(text))


def test_a_hedge_stays_in_the_relation() -> None:
    assert relations("Orell Press was allegedly sold by Ada Lund.") == ["was allegedly sold by"]


def test_the_first_of_some_is_not_the_first_of_all() -> None:
    found = facts("Quartz was the first newspaper in Asia.")
    assert found == {("Quartz", "was first newspaper in", "Asia")}


def test_a_part_of_a_name_is_not_the_name() -> None:
    assert not any(subject == "Cash" for subject, _, _ in facts("Cash used in investing activities rose in 2022."))


# --- texts that no grammar fits --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "Contents and Index of the Second Part",
        "1,204 | 3,310 | 12.4 | 7 | 1,204 | 3,310 | 12.4 | 7 | 8 | 22,910",
        "for (int i = 0; i < n; i++) { sum += values[i]; } return sum;",
        "我用C++写程序。居里夫人在巴黎工作。",
        "สวัสดีครับ ผมชื่อสมชาย",
        "\x00\x01 \ufffd\ufffd \u202e",
        "",
    ],
)
def test_a_text_without_sentences_has_no_facts(text: str) -> None:
    assert extract(text).triples == ()


def test_a_sentence_without_an_end_is_read_in_part() -> None:
    text = "Ada Lund founded Orell Press, " + "and the press of Basel sold a book to a reader, " * 3_000
    assert len(extract(text).triples) <= 100
    assert ("Ada Lund", "founded", "Orell Press") in facts("Ada Lund founded Orell Press. Then " + text)


def test_nested_clauses_do_not_exhaust_the_stack() -> None:
    assert extract("The man who knew " * 2_000 + "sold Quartz.").triples is not None
    assert extract("(" * 5_000 + "Ada Lund founded Quartz." + ")" * 5_000).triples is not None


def test_a_language_without_a_pipeline_has_names_only() -> None:
    text = "Die Firma Orell wurde von Ada Lund in Basel gegründet, und sie hat den Verlag an die Bank verkauft."
    found = extract(text, rest=text)
    assert found.triples == ()
    assert "Ada Lund" in {surface.form for surface in found.entities}


def test_without_spacy_the_message_names_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(syntax, "has_parser", lambda: False)
    with pytest.raises(InvalidStrategy, match=r"hopweave\[syntax\].*'pattern'"):
        make_extractor("syntax")


def test_its_facts_have_vectors_only_if_they_are_wanted() -> None:
    settings = CorpusSettings(
        chunker="sentences", extractor="pattern+syntax", embedding_model="gt", dimension=384, fine=Fine.AUTO
    )
    assert not has_fine_vectors(settings)
    assert has_fine_vectors(replace(settings, fine=Fine.ON))
    assert has_fine_vectors(replace(settings, extractor="given+syntax"))
