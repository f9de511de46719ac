"""What the page does with attacks: policy and headers, hostile contents, the session, foreign pages."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from urllib.parse import quote
from xml.etree import ElementTree as ET

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.page.conftest import KEY, LIBRARY, OpenPage
from tests.e2e.page.foreign import ForeignSite
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
VIEWS = (
    "/",
    "/sign-in",
    "/help",
    "/c/library",
    "/c/library/questions",
    "/c/library/questions/none",
    "/c/library/search?q=Mallory",
    "/c/library/documents",
    "/c/library/documents/none",
    "/c/library/graph",
    "/c/library/jobs",
    "/c/library/jobs/none",
    "/c/library/there/is/no/such/view",
    f"/c/{quote('<script>owned=1</script>', safe='')}",
)
UNAUTHORIZED = r"status of 401 .*/v1/"


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


@pytest.mark.parametrize("path", VIEWS)
def test_every_view_has_the_strict_policy_and_nothing_inline(live: Live, path: str) -> None:
    answer = live.client.get(path)
    assert answer.status_code == 200
    policy = dict(one.strip().split(" ", 1) for one in answer.headers["content-security-policy"].split(";"))
    assert policy == POLICY
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cache-control"] == "no-cache"
    assert _Elements(answer.text).inline == []


def test_files_of_the_page_have_the_policy_too(live: Live) -> None:
    """A file that is opened by itself, such as a picture with a script in it, may do nothing either."""
    index = live.client.get("/").text
    for path in set(re.findall(r'"(/page/[^"]+)"', index)):
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


def test_the_address_itself_is_text(open_page: OpenPage, watch: Watch) -> None:
    watch.allow("status of 404 .*/v1/(corpora|jobs)")
    page = open_page(f"/c/{quote('<script>owned=1</script>', safe='')}/documents")
    expect(page.locator("body")).to_contain_text("<script>owned=1</script>")


# --- hostile contents: the watch of each page fails for what is executed or becomes an element ---

SCRIPT = "<script>owned=1</script>"


def test_hostile_documents_in_the_list(open_page: OpenPage) -> None:
    page = open_page(f"/c/{LIBRARY}/documents?key=hostile/*")
    expect(page.get_by_role("main")).to_contain_text(f"Note {HOSTILE_NAME}")
    expect(page.get_by_role("main")).to_contain_text(f"hostile/{HOSTILE_NAME}.html")


@pytest.mark.parametrize("key", [f"hostile/{HOSTILE_NAME}.html", "hostile/markdown.md"])
def test_a_hostile_document(open_page: OpenPage, live: Live, key: str) -> None:
    page = open_page(f"/c/{LIBRARY}/documents/{live.ids[key]}")
    expect(page.get_by_role("region", name="Source")).to_contain_text(SCRIPT)
    expect(page.get_by_role("heading", level=1)).to_contain_text(HOSTILE_NAME)
    page.locator("summary").first.click()
    if "html" in key:
        expect(page.locator("dl").first).to_contain_text("javascript:owned=1")
    page.get_by_role("button", name="Delete…").click()
    expect(page.get_by_role("dialog")).to_contain_text(HOSTILE_NAME)


def test_hostile_hits(open_page: OpenPage) -> None:
    page = open_page(f"/c/{LIBRARY}/search?q=What+does+the+hostile+note+of+Mallory+say")
    main = page.get_by_role("main")
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
    _assert_harmless(saved.value.path().read_text("utf-8"))
    page.get_by_role("button", name="List", exact=True).click()
    expect(page.get_by_role("navigation", name="The drawn nodes as a list")).to_contain_text(HOSTILE_NAME)


def test_a_hostile_answer(open_page: OpenPage) -> None:
    """The markers of an answer are buttons; everything else that a model writes is text, or Markdown without images."""
    page = open_page(f"/c/{LIBRARY}")
    page.get_by_role("textbox", name="Question").fill(ATTACK)
    page.keyboard.press("Enter")
    answer = page.get_by_role("region", name=re.compile("^Answer"))
    expect(answer).to_contain_text(SCRIPT)
    expect(answer.locator("img, script, iframe, [onclick], [onerror]")).to_have_count(0)
    answer.get_by_role("button", name=re.compile("^Source 1")).first.click()
    expect(page.get_by_role("complementary")).to_contain_text(SCRIPT)
    trail = page.get_by_role("group", name=re.compile("^The trail"))
    expect(trail).to_contain_text("Mallory")
    with page.expect_download() as saved:
        page.get_by_role("button", name="SVG").click()
    _assert_harmless(saved.value.path().read_text("utf-8"))
    page.goto(f"/c/{LIBRARY}/questions")
    expect(page.get_by_role("main")).to_contain_text(ATTACK)


def test_a_hostile_question(open_page: OpenPage) -> None:
    page = open_page(f"/c/{LIBRARY}")
    page.get_by_role("textbox", name="Question").fill(f"Who is {HOSTILE}?")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text(SCRIPT)
    expect(page.get_by_role("region", name=re.compile("^Answer"))).to_be_visible()
    page.goto(f"/c/{LIBRARY}/questions")
    expect(page.get_by_role("main")).to_contain_text(SCRIPT)


def test_hostile_names_of_files(open_page: OpenPage, own_corpus: str) -> None:
    page = open_page(f"/c/{own_corpus}/documents")
    with page.expect_file_chooser() as chosen:
        page.get_by_role("button", name="Files…").click()
    name = "<img src=x onerror=owned=1>.md"
    chosen.value.set_files([{"name": name, "mimeType": "text/markdown", "buffer": b"Mallory wrote it."}])
    expect(page.get_by_role("main")).to_contain_text(name)
    page.get_by_role("button", name="Add 1 file").click()
    expect(page.get_by_role("list", name="Documents")).to_contain_text("<img src=x onerror=owned=1>")


def _assert_harmless(svg: str) -> None:
    """A picture that is opened by itself in a browser runs nothing and loads nothing."""
    root = ET.fromstring(svg)  # noqa: S314 - written by the page of this test
    for element in root.iter():
        assert element.tag.rpartition("}")[2] not in {"script", "foreignObject", "image", "use", "a"}
        assert not [one for one in element.attrib if one.lower().startswith("on") or one.endswith("href")]


# --- the session ---


@pytest.fixture
def signed_in(open_page: OpenPage, locked: Live, watch: Watch) -> Page:
    """A page whose reader typed the key."""
    watch.allow(UNAUTHORIZED)
    page = open_page(f"/c/{LIBRARY}", server=locked)
    _sign_in(page, KEY)
    expect(page).to_have_url(f"{locked.origin}/c/{LIBRARY}")
    return page


def _sign_in(page: Page, key: str) -> None:
    page.get_by_label("Key").fill(key)
    page.get_by_role("button", name="Sign in").click()


def _kept_by(page: Page) -> str:
    """All that the browser keeps and scripts may read."""
    kept: str = page.evaluate(
        """async () => JSON.stringify([
            {...localStorage}, {...sessionStorage}, document.cookie, location.href, history.state, document.referrer,
            (await indexedDB.databases()).map(one => one.name), await caches.keys(), window.name,
        ])"""
    )
    return kept


def test_a_key_becomes_a_session_that_scripts_cannot_read(signed_in: Page, locked: Live, watch: Watch) -> None:
    (cookie,) = [one for one in signed_in.context.cookies() if "session" in one["name"]]
    assert cookie["httpOnly"]
    assert cookie["sameSite"] == "Strict"
    assert cookie["path"] == "/"
    assert KEY not in cookie["value"]
    assert cookie["value"] not in _kept_by(signed_in)
    assert KEY not in _kept_by(signed_in)
    assert not [one for one in watch.addresses if KEY in one]
    assert KEY not in locked.log
    assert signed_in.evaluate("() => Object.keys(localStorage)") == []


def test_a_wrong_key_is_refused_in_words(open_page: OpenPage, locked: Live, watch: Watch) -> None:
    watch.allow(UNAUTHORIZED)
    page = open_page("/", server=locked)
    expect(page).to_have_url(re.compile("/sign-in"))
    expect(page.get_by_label("Key")).to_be_focused()
    _sign_in(page, "hw_" + "0" * 40)
    expect(page.get_by_role("alert")).to_contain_text("key")
    assert page.context.cookies() == []
    expect(page.get_by_label("Key")).to_be_visible()


def test_sign_in_goes_to_addresses_of_this_page_only(open_page: OpenPage, locked: Live, watch: Watch) -> None:
    watch.allow(UNAUTHORIZED)
    for next in ("https://evil.invalid/", "//evil.invalid/", "/\\evil.invalid", "javascript:owned=1"):
        page = open_page(f"/sign-in?next={quote(next, safe='')}", server=locked)
        _sign_in(page, KEY)
        expect(page).to_have_url(f"{locked.origin}/")


def test_after_sign_out_nothing_is_shown(signed_in: Page) -> None:
    signed_in.get_by_role("button", name="Sign out").click()
    expect(signed_in.get_by_label("Key")).to_be_visible()
    assert signed_in.context.cookies() == []
    signed_in.go_back()
    expect(signed_in.get_by_label("Key")).to_be_visible()
    signed_in.goto(f"/c/{LIBRARY}/documents")
    expect(signed_in.get_by_label("Key")).to_be_visible()


def test_a_revoked_key_ends_an_open_page(open_page: OpenPage, locked: Live, watch: Watch) -> None:
    watch.allow(UNAUTHORIZED, "ERR_INCOMPLETE_CHUNKED", "ERR_ABORTED")
    created = locked.run("keys", "create", "of a guest", "--scope", "read")
    key = created.stdout.split()[0]
    page = open_page(f"/c/{LIBRARY}/documents", server=locked)
    _sign_in(page, key)
    expect(page.locator("main")).to_contain_text("Teachers")
    locked.run("keys", "revoke", key.removeprefix("hw_")[:12])
    locked.wait_until_refused(key)
    page.get_by_role("link", name="Jobs").click()
    expect(page.get_by_label("Key")).to_be_visible()
    expect(page.locator("body")).not_to_contain_text("Teachers")


# --- foreign pages ---


@pytest.fixture
def foreign() -> Iterator[ForeignSite]:
    with ForeignSite() as site:
        yield site


def test_a_link_of_a_foreign_page_opens_the_page(
    signed_in: Page, locked: Live, foreign: ForeignSite, watch: Watch
) -> None:
    """As from a mail or a wiki: the document comes without the cookie, and its own requests with it."""
    watch.allow(f"another host: {re.escape(foreign.origin)}")
    foreign.html = f'<a href="{locked.origin}/c/{LIBRARY}/documents">documents</a>'
    signed_in.goto(foreign.origin)
    signed_in.get_by_role("link", name="documents").click()
    expect(signed_in).to_have_url(f"{locked.origin}/c/{LIBRARY}/documents")
    expect(signed_in.locator("main")).to_contain_text("Teachers")


def test_a_link_of_a_foreign_page_opens_a_server_without_keys(
    open_page: OpenPage, live: Live, foreign: ForeignSite, watch: Watch
) -> None:
    watch.allow(f"another host: {re.escape(foreign.origin)}")
    foreign.html = f'<a href="{live.origin}/c/{LIBRARY}/documents">documents</a>'
    page = open_page("/")
    page.goto(foreign.origin)
    page.get_by_role("link", name="documents").click()
    expect(page.locator("main")).to_contain_text("Teachers")


@pytest.mark.parametrize("with_key", [True, False], ids=["with a key", "without keys"])
def test_a_foreign_page_can_do_nothing_with_the_session(
    request: pytest.FixtureRequest, open_page: OpenPage, foreign: ForeignSite, watch: Watch, with_key: bool
) -> None:
    """Reads, writes, forms and frames: the answers are refusals, and nothing has changed."""
    server: Live = request.getfixturevalue("locked" if with_key else "live")
    page: Page = request.getfixturevalue("signed_in") if with_key else open_page("/")
    watch.allow(
        re.escape(foreign.origin),
        r"CORS policy",
        "net::ERR_FAILED",
        r"status of 40[13]",
        "frame-ancestors",
        "ERR_BLOCKED",
    )
    before = server.get("/v1/corpora")
    foreign.html = f"""
        <form method=post action="{server.origin}/v1/corpora" enctype="text/plain">
          <input name='{{"name": "foreign", "x": "' value='"}}'><button>send</button>
        </form>
        <iframe src="{server.origin}/"></iframe>"""
    page.goto(foreign.origin)
    told = page.evaluate(
        """async origin => {
            const said = [];
            for (const [path, options] of [
                ['/v1/corpora', {}],
                ['/v1/session', {}],
                ['/v1/corpora', {method: 'POST', body: '{"name": "foreign"}'}],
                ['/v1/corpora/library', {method: 'DELETE'}],
                ['/v1/session', {method: 'DELETE'}],
            ]) {
                try {
                    const response = await fetch(origin + path, {credentials: 'include', ...options});
                    said.push(await response.text());
                } catch {
                    said.push('refused');
                }
            }
            return said;
        }""",
        server.origin,
    )
    assert told == ["refused"] * 5
    assert page.frame_locator("iframe").get_by_role("heading").count() == 0
    page.get_by_role("button", name="send").click()
    expect(page.locator("body")).to_contain_text(re.compile("40[13]"))
    assert server.get("/v1/corpora") == before
    page.goto(f"{server.origin}/c/{LIBRARY}/documents")
    expect(page.locator("main")).to_contain_text("Teachers")
