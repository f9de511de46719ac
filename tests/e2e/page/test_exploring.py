"""The views of search and of the entity graph, used with pointer and keyboard."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.page.conftest import LIBRARY, OpenPage
from tests.e2e.page.library import TITLED
from tests.e2e.page.live import Live
from tests.e2e.page.watch import Watch, assert_accessible

SEARCH = f"/c/{LIBRARY}/search"
GRAPH = f"/c/{LIBRARY}/graph"
QUESTION = "Where was the teacher of Ada Lovelace born?"
UNKNOWN_OPERATOR = quote('{"a": {"$near": 1}}')
NO_DOCUMENT = quote('{"year": 1}')
LARGE = "large"
SVG = "{http://www.w3.org/2000/svg}"
_GUILDS, _PARTS, _MEMBERS = 12, 10, 10


@pytest.fixture(scope="module")
def large(live: Live) -> Iterator[str]:
    """A corpus with more nodes near its hub than are drawn: the hub has guilds, which have members."""
    chunks = [
        {
            "text": f"The Hub founded Guild {guild}, part {part}.",
            "entities": [f"Guild {guild}", *(names := [f"Member {n} of {guild}, {part}" for n in range(_MEMBERS)])],
            "triples": [["The Hub", "founded", f"Guild {guild}"], *([f"Guild {guild}", "has", one] for one in names)],
        }
        for guild in range(_GUILDS)
        for part in range(_PARTS)
    ]
    live.client.post("/v1/corpora", json={"name": LARGE, "extractor": "given", "fine": "off"}).raise_for_status()
    live.add(LARGE, [{"key": "guilds", "title": "Guilds", "chunks": chunks}])
    yield LARGE
    live.client.delete(f"/v1/corpora/{LARGE}")


def hits(page: Page) -> Locator:
    return page.locator(".hit")


def parameter(page: Page, name: str) -> str:
    return parse_qs(urlsplit(page.url).query).get(name, [""])[0]


def is_drawn(page: Page) -> Locator:
    """Waits until the drawing is calm, and returns its canvas."""
    page.wait_for_selector(".drawing [data-calm=true]", state="attached")
    return page.locator(".drawing canvas")


def _save_svg(page: Page, folder: Path) -> ET.Element:
    with page.expect_download() as started:
        page.get_by_role("button", name="Save as SVG").click()
    started.value.save_as(folder / "graph.svg")
    return ET.parse(folder / "graph.svg").getroot()  # noqa: S314 - made by the page under test


def _names_in_svg(page: Page, folder: Path) -> set[str]:
    return {one.text or "" for one in _save_svg(page, folder).iter(f"{SVG}title")}


def find(page: Page, box: str, text: str, name: str) -> None:
    """Types a name into a combobox, and takes the entity by keys."""
    field = page.get_by_role("combobox", name=box)
    field.fill(text)
    option = page.get_by_role("option").filter(has_text=name).first
    expect(option).to_be_visible()
    for _ in range(12):
        field.press("ArrowDown")
        if option.get_attribute("aria-selected") == "true":
            break
    expect(option).to_have_attribute("aria-selected", "true")
    field.press("Enter")


def test_a_hit_shows_its_signals_and_its_path(open_page: OpenPage) -> None:
    page = open_page(SEARCH, width=360, colours="dark")
    page.get_by_role("searchbox").fill(QUESTION)
    page.keyboard.press("Enter")
    teachers = hits(page).filter(has=page.get_by_role("link", name="Teachers", exact=True))
    expect(teachers).to_be_visible()
    assert parameter(page, "q") == QUESTION
    for name in ("cosine", "BM25", "PageRank"):
        expect(teachers.locator("dt", has_text=name)).to_be_visible()
    path = teachers.get_by_role("img", name="How the question leads to this passage")
    expect(path).to_have_accessible_name(re.compile("Ada Lovelace"))
    teachers.get_by_text("In words, with what states each step").click()
    teachers.get_by_role("button", name="Show the passage").first.click()
    expect(teachers.locator(".path-words mark").first).to_have_text("Ada Lovelace")
    assert_accessible(page)
    expect(page.get_by_role("link", name="Ask this")).to_have_attribute(
        "href", re.compile(rf"^/c/{LIBRARY}\?question=Where\+was")
    )
    address = str(hits(page).first.get_by_role("link").first.get_attribute("href"))
    assert re.match(rf"/c/{LIBRARY}/documents/\w+\?chunk=\w+&quote=", address)


def test_the_address_has_the_whole_search(open_page: OpenPage) -> None:
    page = open_page(f"{SEARCH}?q={quote(QUESTION)}")
    page.get_by_text("Options").click()
    page.get_by_label("Searcher", exact=True).select_option("sparse")
    page.get_by_label("Hits", exact=True).fill("2")
    page.locator("summary", has_text="As JSON").click()
    page.get_by_label("Filter of documents as JSON").fill('{"year": {"$gte": 1800}')
    page.get_by_role("button", name="Search").click()
    told = "The filter is not JSON. At character 24, a comma or } is needed, but the text ends."
    expect(page.get_by_role("alert")).to_contain_text(told)
    expect(page.get_by_label("Filter of documents as JSON")).to_be_focused()
    page.get_by_label("Filter of documents as JSON").fill('{"year": {"$gte": 1800}}')
    page.get_by_role("button", name="Search").click()
    expect(page).to_have_url(re.compile("filter="))
    expect(hits(page)).to_have_count(2)
    titles = hits(page).locator("h3").all_inner_texts()
    assert set(titles) == {"Teachers", "Facts of the engine"}
    assert (parameter(page, "searcher"), parameter(page, "k")) == ("sparse", "2")
    page.reload()
    expect(hits(page).locator("h3").first).to_have_text(titles[0])
    page.get_by_text("Options").click()
    expect(page.get_by_label("Searcher", exact=True)).to_have_value("sparse")
    expect(page.get_by_label("Hits", exact=True)).to_have_value("2")
    page.goto(f"{SEARCH}?q=Ada&searcher=graph:damping=0.5,facts=0")  # the command line's way of options
    expect(hits(page).first).to_be_visible()
    page.get_by_text("Options").click()
    expect(page.get_by_label("Searcher", exact=True)).to_have_value("graph")
    expect(page.get_by_label("damping")).to_have_value("0.5")


def test_a_filter_is_made_of_conditions_and_a_search_is_of_a_day(open_page: OpenPage) -> None:
    page = open_page(f"{SEARCH}?q={quote(QUESTION)}")
    page.get_by_text("Options").click()
    page.get_by_role("button", name="Add a condition").click()
    page.get_by_label("Field").fill("year")
    page.get_by_label("Condition", exact=True).select_option("is at least")
    page.get_by_label("Value").fill("1800")
    page.get_by_role("button", name="Search", exact=True).click()
    expect(page).to_have_url(re.compile("filter="))
    assert parameter(page, "filter") == '{"year":{"$gte":1800}}'
    expect(hits(page)).to_have_count(2)
    page.reload()
    page.get_by_text("Options").click()
    expect(page.get_by_label("Value")).to_have_value("1800")
    page.get_by_label("In force on").fill("2020-01-31")
    page.get_by_role("button", name="Remove the condition").click()
    page.get_by_role("button", name="Search", exact=True).click()
    expect(hits(page)).to_have_count(5)
    expect(page).to_have_url(re.compile("as_of=2020-01-31"))
    page.reload()
    page.get_by_text("Options").click()
    expect(page.get_by_label("In force on")).to_have_value("2020-01-31")


def test_the_servers_words_are_shown_and_nothing_found_says_why(open_page: OpenPage, watch: Watch) -> None:
    watch.allow("status of 4(22|04)")
    page = open_page(f"{SEARCH}?q=Ada&filter={UNKNOWN_OPERATOR}")
    expect(page.get_by_role("alert")).to_contain_text("unknown operator $near")
    expect(page.get_by_label("Filter of documents as JSON")).to_be_visible()
    assert_accessible(page)
    page.goto(f"{SEARCH}?q=Ada&filter={NO_DOCUMENT}")
    expect(page.get_by_role("heading", name="Nothing was found")).to_be_visible()
    page.get_by_role("button", name="Search without the filter").click()
    expect(hits(page).first).to_be_visible()
    for view in ("search?q=x", "graph"):
        page.goto(f"/c/nowhere/{view}")
        expect(page.get_by_role("alert").first).to_contain_text("nowhere")


def test_two_searchers_side_by_side_and_hits_in_the_order_of_a_signal(open_page: OpenPage) -> None:
    page = open_page(f"{SEARCH}?q={quote(QUESTION)}&searcher=graph&with=dense&k=3")
    expect(page.get_by_role("heading", name=re.compile("in common|the same passages"))).to_be_visible()
    first, second = (page.get_by_role("region", name=name, exact=True).locator(".hit") for name in ("graph", "dense"))
    expect(first).to_have_count(3)
    expect(second).to_have_count(3)
    names = [set(one.locator("h3").all_inner_texts()) for one in (first, second)]
    both = page.get_by_text(re.compile("^also rank "))
    expect(both).to_have_count(2 * len(names[0] & names[1]))
    assert page.locator(".overview tbody tr").count() == len(names[0] | names[1])
    assert_accessible(page)
    page.goto(f"{SEARCH}?q={quote(QUESTION)}&k=6")
    expect(hits(page)).to_have_count(6)
    page.get_by_label("Order").select_option("dense")
    expect(page).to_have_url(re.compile("sort=dense"))
    values = [float(one) for one in page.locator(".signal.dense dd").all_inner_texts()]
    assert values == sorted(values, reverse=True)
    ranks = [int(one) for one in page.locator(".rank").all_inner_texts()]
    assert sorted(ranks) == [1, 2, 3, 4, 5, 6]


def test_an_empty_corpus(open_page: OpenPage, own_corpus: str) -> None:
    page = open_page(f"/c/{own_corpus}/search")
    link = page.get_by_role("link", name="Add documents")
    expect(link).to_have_attribute("href", f"/c/{own_corpus}/documents")
    page.goto(f"/c/{own_corpus}/graph")
    expect(link).to_have_attribute("href", f"/c/{own_corpus}/documents")


def test_the_graph_opens_with_the_most_mentioned(open_page: OpenPage) -> None:
    page = open_page(GRAPH, width=360, colours="dark")
    canvas = is_drawn(page)
    assert parameter(page, "entity")
    expect(canvas).to_have_accessible_name(re.compile("and what is near it"))
    expect(page.get_by_text("Facts").first).to_be_visible()
    assert_accessible(page)
    page.get_by_role("button", name="List").click()
    expect(page.get_by_role("navigation", name="The drawn nodes as a list")).to_be_visible()


def test_entities_are_found_by_keys_in_any_script(open_page: OpenPage) -> None:
    page = open_page(GRAPH)
    for typed, name in (("خوارزم", "الخوارزمي"), ("北京大", "北京大学"), ("ada lovlace", "Ada Lovelace")):
        find(page, "Find an entity", typed, name)
        expect(page.get_by_role("heading", name=name, exact=True)).to_be_visible()
        is_drawn(page)
    page.get_by_role("combobox", name="Find an entity").fill("qqqqzzzz")
    expect(page.get_by_text("No entity has a name like")).to_be_visible()
    page.goto(f"{GRAPH}?name=qqqqzzzz")
    expect(page.get_by_role("heading", name="There is no entity of this name")).to_be_visible()


def test_the_drawing_is_walked_by_keys(open_page: OpenPage) -> None:
    page = open_page(f"{GRAPH}?name=Ada%20Lovelace&depth=1")
    canvas = is_drawn(page)
    canvas.focus()
    canvas.press("Home")
    said = page.get_by_role("status").first
    expect(said).to_contain_text("Ada Lovelace, person in")
    heard = set()
    for key in ("ArrowRight", "Home", "ArrowLeft", "Home", "ArrowUp", "Home", "ArrowDown"):
        canvas.press(key)
        page.wait_for_timeout(100)
        heard.add(said.inner_text())
    assert len(heard) > 1  # there is a neighbour in some direction
    canvas.press("Home")
    canvas.press("n")
    expect(said).to_have_text(re.compile(r"neighbours?\..*Ada Lovelace"))
    canvas.press("Enter")
    expect(page).to_have_url(re.compile("at="))
    canvas.press("+")
    canvas.press("0")


def test_entities_of_one_type_are_shown_alone_and_have_a_colour(open_page: OpenPage, tmp_path: Path) -> None:
    page = open_page(f"{GRAPH}?name=Ada%20Lovelace&view=list", width=360, colours="dark")
    outline = page.get_by_role("navigation", name="The drawn nodes as a list")
    types = page.get_by_role("group", name="Only entities of a type")
    names = ("Charles Babbage", "Analytical Engine")
    person, engine = (outline.get_by_role("button", name=name, exact=True) for name in names)
    expect(person.first).to_be_visible()
    outline.get_by_role("button", name=re.compile("^Show the .* of Charles Babbage")).first.click()
    expect(engine.first).to_be_visible()
    types.get_by_role("button", name=re.compile("^person")).press("Enter")
    expect(types.get_by_role("button", pressed=True)).to_have_text(re.compile("person"))
    assert parameter(page, "type") == "person"
    expect(person.first).to_be_visible()
    expect(engine).to_have_count(0)
    assert_accessible(page)
    page.get_by_role("button", name="Drawing", exact=True).click()
    is_drawn(page)
    alone = {"Charles Babbage, person"}
    assert _names_in_svg(page, tmp_path) & {*alone, "Analytical Engine"} == alone
    types.get_by_role("button", pressed=True).click()
    is_drawn(page)
    assert "Analytical Engine" in _names_in_svg(page, tmp_path)
    assert len({one.get("stroke") for one in _save_svg(page, tmp_path).iter(f"{SVG}circle")}) > 1


def test_a_chosen_node_adds_its_neighbours(open_page: OpenPage) -> None:
    page = open_page(f"{GRAPH}?name=Madurai&depth=1")
    is_drawn(page)
    before = page.locator(".drawn").inner_text()
    page.get_by_role("button", name="List").click()
    outline = page.get_by_role("navigation", name="The drawn nodes as a list")
    outline.get_by_role("button", name="Augustus De Morgan", exact=True).click()
    expect(page.get_by_role("heading", name="Augustus De Morgan")).to_be_visible()
    page.get_by_role("button", name="Add its neighbours").click()
    expect(page.locator(".drawn")).not_to_have_text(before)
    assert parameter(page, "more") == parameter(page, "at")
    first = parameter(page, "more")
    outline.get_by_role("button", name="Madurai", exact=True).click()
    expect(page.get_by_role("heading", name="Madurai", exact=True)).to_be_visible()
    page.get_by_role("button", name="Add its neighbours").click()
    expect(page).to_have_url(re.compile(f"more={first}%2C"))
    page.reload()  # the address has what was added
    expect(page.get_by_role("heading", name="Madurai", exact=True)).to_be_visible()
    expect(page.locator(".drawn")).not_to_have_text(before)


def test_a_fact_shows_the_passage_that_states_it_and_ways_join_two(open_page: OpenPage) -> None:
    page = open_page(f"{GRAPH}?name=Madurai")
    panel = page.get_by_role("region", name="The chosen entity")
    panel.get_by_role("button", name="Show 1 passage that states it").first.click()
    expect(panel.locator("mark", has_text="Madurai").first).to_be_visible()
    expect(panel.get_by_role("link", name="Teachers")).to_be_visible()
    panel.get_by_role("button", name="Augustus De Morgan").first.click()
    expect(panel.get_by_role("heading", name="Augustus De Morgan")).to_be_visible()
    page.goto(f"{GRAPH}?name=Charles%20Babbage")
    find(page, "Ways from Charles Babbage to", "madurai", "Madurai")
    way = page.get_by_role("img", name=re.compile("^Way 1 to Madurai: "))
    expect(way).to_be_visible()
    nodes = way.locator(".path-node title").all_text_contents()
    assert (nodes[0], nodes[-1]) == ("Charles Babbage", "Madurai")
    assert_accessible(page)


def test_two_entities_are_merged_and_the_merge_is_undone(open_page: OpenPage, live: Live, own_corpus: str) -> None:
    triples = [["Clemens", "wrote", "Huck"], ["Twain", "wrote", "Tom"]]
    live.add(own_corpus, [{"key": "one", "text": "Clemens wrote Huck. Twain wrote Tom.", "triples": triples}])
    page = open_page(f"/c/{own_corpus}/graph?name=Clemens")
    page.get_by_role("button", name="It is the same as another entity…").click()
    find(page, "The entity that it is", "twain", "Twain")
    page.get_by_role("button", name="Merge them").click()
    expect(page.get_by_role("heading", name="Twain", exact=True)).to_be_visible()
    page.get_by_role("button", name="Undo the merge of Clemens").click()
    page.get_by_role("button", name="Undo the merge", exact=True).click()
    expect(page.get_by_role("button", name="Undo the merge of Clemens")).to_have_count(0)
    found = live.get(f"/v1/corpora/{own_corpus}/entities?query=Clemens")["data"][0]["entity"]
    assert found["name"] == "Clemens"


def test_who_is_who_is_decided_and_undone_by_keys(open_page: OpenPage, live: Live, own_corpus: str) -> None:
    live.add(own_corpus, [TITLED])
    page = open_page(f"/c/{own_corpus}/graph", width=375)
    page.get_by_role("button", name="Who is who").press("Enter")
    shown = page.get_by_role("region", name="Entities that may be one")
    pair = shown.get_by_role("listitem").filter(has=page.get_by_role("heading", name=re.compile("Ada Lund")))
    expect(pair).to_contain_text("One entity with a probability of")
    expect(pair.get_by_role("heading", name="Against")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    at = f"/v1/corpora/{own_corpus}"
    one, two = (pair.get_by_role("button", name=re.compile(f"^{word}: .*Ada Lund")) for word in ("One", "Two"))
    undo = pair.get_by_role("button", name=re.compile("^Undo: .*Ada Lund"))
    one.press("Enter")
    expect(undo).to_be_focused()
    assert len(live.get(f"{at}/merges")["data"]) == 1
    undo.press("Enter")
    expect(one).to_be_focused()
    assert live.get(f"{at}/merges")["data"] == []
    two.press("Enter")
    expect(undo).to_be_focused()
    assert len(live.get(f"{at}/rejections")["data"]) == 1
    page.reload()
    expect(one).to_have_count(0)
    shown.get_by_text("Pairs that are two").click()
    shown.get_by_role("button", name=re.compile("^Undo: .* is not .*")).press("Enter")
    expect(shown.get_by_text("No pair was rejected.")).to_be_visible()
    assert live.get(f"{at}/rejections")["data"] == []


def test_colours_follow_the_theme(open_page: OpenPage, watch: Watch) -> None:
    watch.allow("willReadFrequently")  # the test reads the canvas
    page = open_page(GRAPH, reduced_motion="reduce")
    is_drawn(page)
    corner = "() => [...document.querySelector('.drawing canvas').getContext('2d').getImageData(2, 2, 1, 1).data]"
    assert min(page.evaluate(corner)[:3]) > 200
    page.get_by_role("button", name=re.compile("Change to light")).click()
    page.get_by_role("button", name=re.compile("Change to dark")).click()
    page.wait_for_function(f"() => Math.max(...({corner})().slice(0, 3)) < 80")


def test_a_full_drawing_makes_room(open_page: OpenPage, large: str) -> None:
    page = open_page(f"/c/{large}/graph?name=The%20Hub&limit=1000&depth=4&view=list", reduced_motion="reduce")
    expect(page.locator(".drawn")).to_contain_text("There is more")
    expect(page.locator(".drawn")).not_to_contain_text("Draw up to")
    full = page.get_by_text("The drawing is full.")
    outline = page.get_by_role("navigation", name="The drawn nodes as a list")
    for guild in range(_GUILDS):  # one of them has members that are not drawn
        outline.get_by_role("button", name=f"Guild {guild}", exact=True).click()
        expect(page.get_by_role("heading", name=f"Guild {guild}", exact=True)).to_be_visible()
        page.get_by_role("button", name="Add its neighbours").click()
        expect(page.get_by_role("status").first).to_contain_text(f"Guild {guild}")
        if full.is_visible():
            break
    expect(full).to_be_visible()
    assert_accessible(page)
    page.get_by_role("button", name="Drop the 200 farthest").click()
    expect(full).to_have_count(0)
    expect(page.get_by_role("status").first).to_contain_text(re.compile("^Added|^All"))


def test_it_is_left_while_it_moves(open_page: OpenPage) -> None:
    page = open_page(GRAPH)
    page.wait_for_selector(".drawing canvas")
    page.get_by_role("button", name="List").click()
    page.get_by_role("button", name="Drawing").click()
    page.wait_for_selector(".drawing canvas")
    page.get_by_role("link", name="Search", exact=True).first.click()
    expect(page.get_by_role("heading", name="Search", exact=True)).to_be_visible()
    page.set_viewport_size({"width": 700, "height": 600})
    page.wait_for_timeout(300)
