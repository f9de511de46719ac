"""Rare words and frequent names in a corpus of prose: the words lead to their passage, the names do not mislead."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.ports.retrieval import Hit
from core.trace import Trace
from retrieval.bridged.evidence import PoolEvidence, evaluate_pool, gather_stage1
from retrieval.pagerank.personalized import FactsConfig
from testing.indexed_corpus import Passage
from tests.searching import World, open_world

LOCK = "Where a row is held by someone else and the caller would not wait, the statement ends with lock_not_available."
LIMITATION = "Under § 195 the usual period within which a claim has to be raised is three years."
RELEASE = "Since 1.8 the index is written by a single process, and readers map its files."

DATABASE = [
    LOCK,
    "A lock is held until its transaction ends; while it is not available, other writers wait in a queue.",
    "The lock table has no free entry left when too many tables are locked at once.",
    "Readers are not blocked by a lock of a writer, as every row has several versions.",
    "A statement that does not end in time is cancelled, and its error says which.",
    "Deadlocks are found by a graph of waiting transactions, and one of them is rolled back.",
    "An index is available while it is built if it is built concurrently, which takes longer.",
    "What a connection has not committed is not available to others.",
    RELEASE,
    "Since 1.7 the size of a page is chosen when a cluster is made, and 1.9 will keep it.",
    "In 2.8 a vacuum of a table runs on several cores, up to 8 of them.",
    "The manual says in chapter 1 how an index of 8 columns is read.",
]
LAW = [
    LIMITATION,
    "Under § 194 a claim is the right to ask of someone that he do or leave something.",
    "The period of § 199 begins with the end of the year in which the creditor learns of his claim.",
    "Under § 1950 an inheritance is accepted as a whole, and a part of it cannot be declined.",
    "A claim in tort lapses after thirty years whoever knows of it.",
    "Rent is due on the third working day of a month unless the contract says otherwise.",
    "A contract that was signed under threat can be avoided within a year.",
    "Interest on a sum that is overdue is five points above the base rate.",
    "Page 195 of the ledger lists what the tenant has paid for heating.",
    "A notice has to be in writing, with a signature, or it is void.",
]
COUNTRY = [
    "The river freezes in January, and children skate to the island and back.",
    "Storks return in March and mend the nests on the chimneys of the village.",
    "A miller grinds rye in the morning, when the wind comes from the sea.",
    "Bread is baked twice a week in an oven that all families share.",
    "The ferry takes six cars, and waits for a seventh if its driver is known.",
    "In dry summers the wells are locked, and water is brought by train.",
    "Honey from the heath is dark, and keeps for years in a cool cellar.",
    "The school has nine pupils and a teacher who also plays the organ.",
    "Snow closed the pass in April, and letters came over the valley road.",
    "The lighthouse keeper counts ships and writes their names into a book.",
]
APPLE = [
    "Apple reported higher sales of telephones in the second quarter.",
    "In its annual report Apple names the risks of depending on few suppliers.",
    "Apple opened a shop in an old post office and restored its ceiling.",
    "The court held that Apple had to let other shops onto its telephones.",
    "A new chip of Apple needs less current and computes faster.",
    "The designers of Apple left, and founded a studio by the bay.",
    "Dividends of Apple were raised by four percent in May.",
    "Suppliers of Apple agreed to use electricity from wind alone.",
    "Apple recalled chargers that may break and give a shock.",
    "The pension fund sold a third of its shares in Apple.",
    "Analysts expect that Apple will buy back shares again this autumn.",
    "Apple pays a fee to a search engine's rival for being the default, a witness said.",
    "A patent of Apple describes a hinge without a visible screw.",
    "The headquarters of Apple form a ring around an orchard.",
    "Warranty costs of Apple fell, as fewer screens were broken.",
    "Apple trains clerks in a course of two weeks before they meet customers.",
    "Music that was bought from Apple can be kept after an account is closed.",
    "Taxes that Apple owed for ten years were paid into an escrow account.",
    "The keyboard of Apple was blamed for letters that were typed twice.",
    "Apple lowers the price of older telephones each September.",
    "A union of clerks at Apple won its first election in a suburb.",
    "Maps by Apple show bicycle lanes in forty cities.",
    "Apple postponed a car, and its engineers went to other projects.",
    "The watch of Apple measures a pulse, and warns if it is uneven.",
    "Batteries of Apple are glued in, which makes repairs dear.",
    "Apple stores keys on the device and not on its servers.",
    "Programs for devices of Apple are reviewed within two days.",
    "The chief of Apple spoke to students about privacy.",
    "Apple said that its margin in services was twice the one of devices.",
    "Factories of Apple's makers moved to the south, where wages are lower.",
    "An update by Apple slowed old telephones to spare their batteries.",
    "Apple closed an office by the canal after its lease ran out.",
]
DEEDS = {
    "Lisbon": ["{} rents two floors above a bakery", "the tram passes a bakery that is older than the line"],
    "Turin": ["{} teaches how apps are written", "chocolate is sold by weight under the arcades"],
    "Cork": ["{} has answered calls of customers since its early years", "butter was once exchanged under a roof"],
    "Malmö": ["{} repairs glass while one waits", "a bridge of eight kilometres leads to another country"],
    "Leeds": ["{} was fined for a lamp that was too bright", "wool was spun by mills along the canal"],
    "Graz": ["{} bought a maker of thin screens", "the clock on the hill has its hands exchanged"],
    "Lyon": ["{} lost a case about a warranty", "puppets have been carved since the silk weavers struck"],
    "Porto": ["{} sends its lorries by night", "barrels were brought down the river by boats with flat keels"],
    "Ghent": ["{} paid for the lights of a park", "an altar was hidden from thieves in a cellar"],
    "Essen": ["{} cools its computers with water of a mine", "coal was raised until the last shaft closed"],
    "Bergen": ["{} had its antennas tested in the rain", "it rains on two days of three"],
    "Basel": ["{} met its creditors at a fair", "carnival begins at four in the morning"],
    "Aarhus": ["{} stores heat in a pit of sand", "the old town was carried there house by house"],
    "Tartu": ["{} hires those who studied logic", "students are locked up in a garret no more"],
    "Split": ["{} films its advertisements on the quay", "people live within the walls of a palace"],
    "Utrecht": ["{} parks its bicycles below the station", "the nave of the cathedral fell in a storm"],
    "Brno": ["{} had a microscope built", "peas were crossed in the garden of an abbey"],
    "Vigo": ["{} unloads what comes from the east", "mussels grow on ropes below rafts"],
}
"""By city, what a company does there, and what else there is to tell."""
APPLE += [f"In {city}, {deed.format('Apple')}." for city, (deed, _) in DEEDS.items()]
COUNTRY += [f"In {city}, {fact}." for city, (_, fact) in DEEDS.items()]
TITLES = {"database": DATABASE, "law": LAW, "country": COUNTRY, "apple": APPLE}
SEARCHERS = ["bridged", "fused"]
PLAIN = {"plain_cosine", "plain_bm25", "plain_stems", "plain_neighbour", "exact"}


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with open_world(tmp_path) as world:
        await world.put(
            [
                Passage(key=f"{topic} {number}", title="", text=text)
                for topic, texts in TITLES.items()
                for number, text in enumerate(texts)
            ]
        )
        yield world


async def hits(world: World, searcher: str, question: str, k: int = 5) -> list[Hit]:
    return list((await world.searcher(searcher).search(world.query(question, k=k), Trace())).hits)


async def evidence_of(world: World, question: str) -> PoolEvidence:
    query = world.query(question)
    snapshot = await world.backends.snapshots.get(world.corpus.id)
    pool = await gather_stage1(world.backends, query, snapshot, Trace(), FactsConfig())
    return evaluate_pool(pool, query, snapshot)


def test_the_corpus_is_as_the_tests_take_it_to_be() -> None:
    texts = [text for topic in TITLES.values() for text in topic]
    assert len(texts) >= 60
    for word in ("lock_not_available", "§ 195 ", " 1.8 "):
        assert sum(word in text for text in texts) == 1
    assert sum("Apple" in text for text in texts) == len(texts) // 2


RARE = {
    "lock_not_available": LOCK,
    "LOCK_NOT_AVAILABLE": LOCK,
    "§ 195": LIMITATION,
    "§195": LIMITATION,
    "1.8": RELEASE,
    "v1.8": RELEASE,
}
QUESTIONS = {
    "What does lock_not_available mean?": LOCK,
    "What does § 195 say?": LIMITATION,
    "What is new in v1.8?": RELEASE,
    "what changed with 1.8": RELEASE,
}


@pytest.mark.parametrize("searcher", SEARCHERS)
async def test_a_rare_word_leads_to_its_passage_which_is_among_the_first_for_a_question(
    world: World, searcher: str
) -> None:
    for word, text in RARE.items():
        assert (await hits(world, searcher, word))[0].chunk.text == text, word
    for question, text in QUESTIONS.items():
        assert text in [hit.chunk.text for hit in (await hits(world, searcher, question))[:3]], question


async def test_a_name_of_half_of_the_passages_makes_no_order(world: World) -> None:
    """The graph has no share in the score, and other settings of PageRank change neither order nor scores."""
    for question in ("Apple", "What did Apple report?", "Which shares in Apple were sold?"):
        evidence = await evidence_of(world, question)
        assert (evidence.mass > 0).sum() >= 40
        assert evidence.graph_share == 0
        query = world.query(question, k=20, contributions=True)
        found, other = [
            (await world.searcher("bridged", damping=damping).search(query, Trace())).hits for damping in (0.5, 0.9)
        ]
        assert [hit.signals.graph for hit in found] != [hit.signals.graph for hit in other]
        assert [(hit.chunk.id, hit.score) for hit in found] == [(hit.chunk.id, hit.score) for hit in other]
        assert {name for hit in found for name in hit.contributions} == PLAIN


async def test_a_name_of_few_passages_has_its_share(world: World) -> None:
    assert (await evidence_of(world, "Who met creditors in Basel?")).graph_share > 0.9


async def test_a_question_about_half_of_the_passages_finds_the_one_that_answers(world: World) -> None:
    assert "pension fund" in (await hits(world, "bridged", "Who sold shares in Apple?"))[0].chunk.text


@pytest.mark.parametrize("extractor", ["pattern", "llm"])
async def test_names_found_by_capitals_have_no_share_in_a_corpus_in_capitals(tmp_path: Path, extractor: str) -> None:
    """Names that a model found are names in any case."""
    async with open_world(tmp_path) as world:
        texts = [text.upper() for texts in TITLES.values() for text in texts]
        await world.put(
            [
                Passage(key="met", title="", text="ACME STEEL MET ITS CREDITORS AT NOON.", names=("ACME STEEL",)),
                *(Passage(key=str(number), title="", text=text) for number, text in enumerate(texts)),
            ]
        )
        query = world.query("WHERE DID ACME STEEL MEET ITS CREDITORS?")
        corpus = replace(query.corpus, settings=replace(query.corpus.settings, extractor=extractor))
        snapshot = await world.backends.snapshots.get(corpus.id)
        pool = await gather_stage1(world.backends, replace(query, corpus=corpus), snapshot, Trace(), FactsConfig())
        assert pool.graph.any()
        assert (pool.graph_share > 0) is (extractor == "llm")


async def test_a_table_whose_row_the_question_names_goes_before_prose_with_the_same_words(tmp_path: Path) -> None:
    prose = [
        f"In {city}, inventories of goods and levels of stock are counted each month, and the levels are reported."
        for city in DEEDS
    ]
    table = "Balance sheet | 2023 | 2022\nReceivables | 39,186 | 28,184\nInventories | 7,351 | 4,946\nTaxes | 5 | 6"
    async with open_world(tmp_path) as world:
        await world.put([Passage(key=f"prose {n}", title="", text=text) for n, text in enumerate(prose)])
        await world.put([Passage(key="table", title="", text=table)])
        question = "How high are the inventories in 2023?"
        found = await evidence_of(world, question)
        assert np.count_nonzero(found.row_label) == 1
        assert [hit.document.key for hit in await hits(world, "bridged", question, k=1)] == ["table"]
        assert not (await evidence_of(world, "How high are the stocks of goods?")).row_label.any()
