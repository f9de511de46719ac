"""What the page does with attacks: policy and headers, and hostile contents."""

import re
from html.parser import HTMLParser
from urllib.parse import quote
from xml.etree import ElementTree as ET

from playwright.sync_api import expect

from tests.e2e.page.conftest import LIBRARY, OpenPage, open_part
from tests.e2e.page.library import ATTACK, HOSTILE, HOSTILE_NAME
from tests.e2e.page.live import Live
from tests.e2e.page.watch import Watch

POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self' blob: data:",
    "connect-src": "'self'",
    "base-uri": "'none'",
    "form-action": "'self'",
    "frame-ancestors": "'none'",
    "require-trusted-types-for": "'script'",
    "trusted-types": "'none'",
}
_UNKNOWN = ("questions/none", "documents/none", "jobs/none", "there/is/no/such/view")
VIEWS = (
    *("/", "/sign-in", "/help", "/c/library", f"/c/{quote('<script>owned=1</script>', safe='')}"),
    *(f"/c/library/{name}" for name in ("questions", "documents", "certificates", "graph", "jobs", *_UNKNOWN)),
    "/c/library/search?q=Mallory",
)


class _Elements(HTMLParser):
    """Scripts and styles that stand in the document itself, and attributes that are scripts or styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.inline: list[str] = []
        self._within = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self._within = tag if tag in {"script", "style"} else ""
        self.inline += [f"{tag} {name}" for name, _ in attributes if name == "style" or name.startswith("on")]

    def handle_data(self, data: str) -> None:
        if self._within and data.strip():
            self.inline.append(f"{self._within}: {data}")

    def handle_endtag(self, tag: str) -> None:
        self._within = ""


def test_every_view_and_file_has_the_strict_policy_and_nothing_inline(live: Live) -> None:
    """A file that is opened by itself, such as a picture with a script in it, may do nothing either."""
    for path in VIEWS:
        answer = live.client.get(path)
        assert answer.status_code == 200, path
        policy = dict(one.strip().split(" ", 1) for one in answer.headers["content-security-policy"].split(";"))
        assert policy == POLICY
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-cache"
        assert _Elements(answer.text).inline == []
    for path in set(re.findall(r'"(/page/[^"]+)"', live.client.get("/").text)):
        answer = live.client.get(path)
        assert answer.status_code == 200, path
        assert "'none'" in answer.headers["content-security-policy"]
        assert answer.headers["x-content-type-options"] == "nosniff"


def test_the_policy_stops_what_a_script_would_do(open_page: OpenPage, watch: Watch) -> None:
    """If text became a script in spite of all, it could neither make HTML of a string nor run one."""
    page = open_page()
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    refused = page.evaluate(
        """() => {
            const tried = {
                html: () => { document.createElement('p').innerHTML = '<b>x</b>' },
                policy: () => trustedTypes.createPolicy('own', {createHTML: text => text}),
                script: () => { document.createElement('script').src = 'https://evil.invalid/a.js' },
            };
            return Object.entries(tried).filter(([, act]) => {
                try { act(); return false } catch (error) { return error instanceof TypeError }
            }).map(([name]) => name);
        }"""
    )
    assert refused == ["html", "policy", "script"]
    watch.allow("TrustedHTML", "TrustedScriptURL", "trusted-types", "Trusted Type")


# --- hostile contents: the watch of each page fails for what is executed or becomes an element ---

SCRIPT = "<script>owned=1</script>"


def test_the_address_itself_is_text(open_page: OpenPage, watch: Watch) -> None:
    watch.allow("status of 404 .*/v1/(corpora|jobs)")
    page = open_page(f"/c/{quote(SCRIPT, safe='')}/documents")
    expect(page.locator("body")).to_contain_text(SCRIPT)


def test_hostile_documents_and_hits(open_page: OpenPage, live: Live) -> None:
    page = open_page(f"/c/{LIBRARY}/documents?key=hostile/*")
    main, html = page.get_by_role("main"), f"hostile/{HOSTILE_NAME}.html"
    expect(main).to_contain_text(f"Note {HOSTILE_NAME}")
    expect(main).to_contain_text(html)
    for key in (html, "hostile/markdown.md"):
        page.goto(f"/c/{LIBRARY}/documents/{live.ids[key]}")
        expect(page.get_by_role("region", name="Source")).to_contain_text(SCRIPT)
        expect(page.get_by_role("heading", level=1)).to_contain_text(HOSTILE_NAME)
        page.locator("summary").first.click()
        if key == html:
            expect(page.locator("dl").first).to_contain_text("javascript:owned=1")
        page.get_by_role("button", name="Delete…").click()
        expect(page.get_by_role("dialog")).to_contain_text(HOSTILE_NAME)
    page.goto(f"/c/{LIBRARY}/search?q=What+does+the+hostile+note+of+Mallory+say&k=20&context=1")
    expect(main.get_by_role("heading", level=3).first).to_contain_text(HOSTILE_NAME)
    for summary in main.locator("summary").all():
        summary.click()
    expect(main).to_contain_text(SCRIPT)


def test_a_hostile_entity(open_page: OpenPage) -> None:
    page = open_page(f"/c/{LIBRARY}/graph?name={quote(HOSTILE_NAME)}")
    expect(page.get_by_role("heading", name=HOSTILE_NAME)).to_be_visible()
    expect(page.get_by_role("main")).to_contain_text(f"knows {HOSTILE_NAME}")
    page.get_by_role("combobox", name="Find an entity").fill("Mallory")
    expect(page.get_by_role("listbox").get_by_role("option").first).to_contain_text("Mallory")
    page.keyboard.press("Escape")
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save as SVG").click()
    drawn = _assert_harmless(saved.value.path().read_text("utf-8"))
    assert HOSTILE_NAME in {one.text for one in drawn.iter() if one.tag.endswith("}title")}
    assert {one.tag.rpartition("}")[2] for one in drawn.iter()} <= {"svg", "title", "rect", "line", "circle", "text"}
    page.get_by_role("button", name="List", exact=True).click()
    expect(page.get_by_role("navigation", name="The drawn nodes as a list")).to_contain_text(HOSTILE_NAME)


def test_a_hostile_question_and_a_hostile_answer(open_page: OpenPage) -> None:
    """The markers of an answer are buttons; everything else that a model writes is text, or Markdown without images."""
    page = open_page(f"/c/{LIBRARY}")
    page.get_by_role("textbox", name="Question").fill(ATTACK)
    page.keyboard.press("Enter")
    answer = page.get_by_role("region", name=re.compile("^Answer"))
    expect(answer).to_contain_text(SCRIPT)
    expect(answer).to_contain_text("![picture](http://evil.invalid/b.png)")
    expect(answer.locator("img, script, iframe, [onclick], [onerror]")).to_have_count(0)
    expect(answer.locator(".answer-text a")).to_have_count(0)
    answer.get_by_role("button", name=re.compile("^Source 1")).first.click()
    expect(page.get_by_role("complementary")).to_contain_text(SCRIPT)
    open_part(page, "Trail")
    trail = page.get_by_role("group", name=re.compile("^The trail"))
    expect(trail).to_contain_text("Mallory")
    with page.expect_download() as saved:
        page.get_by_role("button", name="SVG").click()
    root = _assert_harmless(saved.value.path().read_text("utf-8"))
    names = {one.tag.rpartition("}")[2] for one in root.iter()}
    assert names == {"svg", "title", "g", "rect", "path", "text"}
    assert {name for one in root.iter() for name in one.attrib}.isdisjoint({"class", "style"}), "a file of its own"
    rects = [one for one in root.iter() if one.tag.endswith("rect")]
    assert all(one.get("fill", "").startswith(("rgb", "color(")) for one in rects)
    assert ATTACK in "".join(root.itertext())
    page.goto(f"/c/{LIBRARY}")
    page.get_by_role("textbox", name="Question").fill(f"Who is {HOSTILE}?")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text(SCRIPT)
    expect(answer).to_be_visible()
    page.goto(f"/c/{LIBRARY}/questions")
    expect(page.get_by_role("main")).to_contain_text(SCRIPT)
    expect(page.get_by_role("main")).to_contain_text(ATTACK)


def test_hostile_names_of_files(open_page: OpenPage, own_corpus: str) -> None:
    page = open_page(f"/c/{own_corpus}/documents")
    with page.expect_file_chooser() as chosen:
        page.get_by_role("button", name="Files…").click()
    name = "<img src=x onerror=owned=1>.md"
    chosen.value.set_files([{"name": name, "mimeType": "text/markdown", "buffer": b"Mallory wrote it."}])
    expect(page.get_by_role("main")).to_contain_text(name)
    page.get_by_role("button", name="Add 1 file").click()
    expect(page.get_by_role("list", name="Documents")).to_contain_text("<img src=x onerror=owned=1>")


def _assert_harmless(svg: str) -> ET.Element:
    """A picture that is opened by itself in a browser runs nothing and loads nothing. Returns its root."""
    root = ET.fromstring(svg)  # noqa: S314 - written by the page of this test
    for element in root.iter():
        assert element.tag.rpartition("}")[2] not in {"script", "foreignObject", "image", "use", "a"}
        assert not [one for one in element.attrib if one.lower().startswith("on") or one.endswith("href")]
    return root
