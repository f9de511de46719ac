"""Drawing pages of PDF files: sizes, what is highlighted, and files that cannot be drawn."""

import struct
import zlib

import pytest
from fpdf import FPDF

from core.errors import LoadFailed
from indexer.loading.pdf.drawing import Letters, draw_page, find_pieces
from tests.documents import make_long_pdf, make_pdf, make_scan
from tests.images_of_pages import highlighted, open_png, points_of

BUILT = "The committee met in Hamburg on a cold morning. It was never built, the office said."


def draw(content: bytes, number: int = 1, *, width: int = 300, mark: str = "") -> tuple[bytes, int]:
    drawn = draw_page("a/the file.pdf", content, number, width=width, mark=mark)
    return drawn.png, drawn.marked


@pytest.mark.parametrize("width", [100, 900, 2000])
def test_it_is_as_wide_as_wanted(width: int) -> None:
    png, marked = draw(make_pdf([("p", BUILT)]), width=width)
    image = open_png(png)
    assert image.width == width
    assert image.height == pytest.approx(width * 297 / 210, abs=2)
    assert image.getpixel((2, 2)) == (255, 255, 255)
    assert min(map(max, points_of(image))) < 180, "there is text"
    assert marked == 0


def _sized(across: str, down: str) -> bytes:
    return make_long_pdf([[BUILT]]).replace(b"[0 0 595 842]", f"[0 0 {across} {down}]".encode())


@pytest.mark.parametrize(
    ("across", "down"), [("14400", "14400"), ("1", "14400"), ("14400", "1"), ("0.001", "100000"), ("9e9", "3")]
)
def test_the_pixels_of_a_page_are_bounded(across: str, down: str) -> None:
    image = open_png(draw(_sized(across, down), width=2000)[0])
    assert image.width * image.height <= 8_100_000
    assert max(image.size) <= 8_000


def test_a_long_page_is_narrower() -> None:
    image = open_png(draw(_sized("500", "5000"), width=2000)[0])
    assert image.width < 1000
    assert image.height / image.width == pytest.approx(10, rel=0.01)


def test_there_are_so_many_pages() -> None:
    content = make_long_pdf([[f"Page {n}."] for n in range(1, 11)])
    drawn = draw_page("k", content, 10, width=200, mark="Page 10")
    assert (drawn.pages, drawn.marked) == (10, 7)
    for missing in (0, 11, 10**12):
        assert draw_page("k", content, missing, width=200, mark="").png == b""


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "is empty"),
        (b"%PDF-1.4 nothing", "is no PDF file, or it is damaged"),
        (make_pdf([("p", "secret")], is_encrypted=True), "is encrypted: it needs a password"),
    ],
)
def test_what_cannot_be_drawn_is_told(content: bytes, why: str) -> None:
    with pytest.raises(LoadFailed, match=f"^'a/the file.pdf' {why}"):
        draw(content)


def test_a_scan_is_drawn_and_has_no_words() -> None:
    png, marked = draw(make_scan(), mark="a word")
    assert (highlighted(png), marked) == (None, 0)


def test_words_are_highlighted_where_they_stand() -> None:
    content = make_pdf([("h1", "Harbour"), ("p", BUILT), ("p", "Another paragraph stands below.")])
    png, marked = draw(content, width=900, mark="the office said.")
    assert marked == len("the office said.")
    box = highlighted(png)
    assert box is not None
    left, top, right, bottom = box
    assert (bottom - top) < 0.02, "one line"
    assert left > 0.4
    assert right - left < 0.2
    image = open_png(png)
    inside = image.crop(tuple(round(part * image.size[n % 2]) for n, part in enumerate(box)))
    assert min(map(max, points_of(inside))) < 60, "the characters are as dark as before"
    below = highlighted(draw(content, width=900, mark="Another paragraph stands below.")[0])
    assert below is not None
    assert below[1] > bottom - 0.01


def test_the_mark_that_ends_a_sentence_is_highlighted_with_it() -> None:
    content = make_pdf([("p", BUILT)])
    boxes = [highlighted(draw(content, width=1000, mark=mark)[0]) for mark in ("the office said", "the office said.")]
    assert boxes[0] is not None
    assert boxes[0] == boxes[1]
    letters = highlighted(draw(make_pdf([("p", BUILT.removesuffix("."))]), width=1000, mark="the office said")[0])
    assert letters is not None
    assert boxes[0][2] > letters[2] + 0.001
    number = make_pdf([("p", "It is 3.5 metres high")])
    whole, half = (highlighted(draw(number, width=1000, mark=mark)[0]) for mark in ("It is 3", "It is 3.5"))
    assert whole != half


def test_words_on_a_dark_page_are_highlighted() -> None:
    document = FPDF()
    document.add_page()
    document.set_fill_color(0, 0, 0)
    document.rect(0, 0, 210, 297, style="F")
    document.set_text_color(255, 255, 255)
    document.set_font("Helvetica", size=14)
    document.text(20, 40, "White words on a black page")
    png, marked = draw(bytes(document.output()), width=800, mark="words on a black page")
    assert marked == 21
    assert highlighted(png) is not None
    assert max(map(min, points_of(open_png(png)))) == 255, "the characters stay white"


@pytest.mark.parametrize("turn", [0, 90, 180, 270])
def test_a_turned_page_is_highlighted_in_its_place(turn: int) -> None:
    """The line is near the upper left corner of the page, which a turn moves to another one."""
    straight = make_long_pdf([["A short line stands here."]])
    content = straight.replace(b"/Type/Page/Parent", b"/Type/Page/Rotate %d/Parent" % turn)
    png, marked = draw(content, width=600, mark="A short line stands here.")
    assert marked == 25
    box = highlighted(png)
    assert box is not None
    corner = {0: (0, 0), 90: (1, 0), 180: (1, 1), 270: (0, 1)}[turn]
    middle = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
    assert [part > 0.5 for part in middle] == [bool(one) for one in corner]
    across, down = (box[2] - box[0]) * open_png(png).width, (box[3] - box[1]) * open_png(png).height
    assert (across > 5 * down) == (turn in (0, 180)), "one box, along the line"


def test_overlapping_marks_look_like_one() -> None:
    lines = ["The same words come again and again."] * 2
    content = make_long_pdf([lines]).replace(b"0 -14 Td", b"0 -4 Td")
    colours = set(points_of(open_png(draw(content, width=900, mark=" ".join(lines))[0])))
    assert not [one for one in colours if one[2] < 90 < one[0]], "no part is darker than one mark"


def pieces(mark: str, page: str) -> list[tuple[str, str]]:
    wanted, present = Letters.of(enumerate(mark)), Letters.of(enumerate(page))
    found = []
    for piece in find_pieces(wanted, present):
        last = piece.place + piece.end - piece.start - 1
        of_mark = mark[wanted.places[piece.start] : wanted.places[piece.end - 1] + 1]
        found.append((of_mark, page[present.places[piece.place] : present.places[last] + 1]))
    return found


@pytest.mark.parametrize(
    ("mark", "page"),
    [
        ("the office said so", "the o\ufb03ce\r\nsaid  so"),
        ("an extraordinary case", "an extraordi\x02\r\nnary case"),
        ("an extra-ordinary case", "an extra\u2010ordinary case"),
        ("«Ça coûte» déjà", "\u00abC\u0327a cou\u0302te\u00bb de\u0301ja\u0300"),
        ("STRASSE in Köln", "straße in KÖLN"),
        ("Charles Babbage | 1837", "Charles Babbage\r\n1837"),
        ("北京大学位于北京。", "北京大学\r\n位于北京。"),
        ("كتب الرجل كتاباً", "\ufedb\ufe98\ufe90 الرجل كتابا"),
        ("Ada", "by Ada, of London"),
    ],
)
def test_the_same_words_are_found_in_other_characters(mark: str, page: str) -> None:
    [(found, _)] = pieces(mark, page)
    assert Letters.of(enumerate(found)).text == Letters.of(enumerate(mark)).text


def test_pieces_are_found_in_another_order() -> None:
    page = "The left column says this.   The right column says that. It goes on to the left.  And to the right, too."
    mark = "The left column says this. It goes on to the left. The right column says that."
    columns = ["The left column says this", "It goes on to the left", "The right column says that"]
    assert [there for _, there in pieces(mark, page)] == columns


def test_words_that_stand_elsewhere_by_chance_are_not_found() -> None:
    assert pieces("and it was the end of all of it", "the cat and the dog of all it is") == []
    assert pieces("art", "the party started") == []
    assert pieces("ada", "armada of Canada") == []
    assert pieces("", "anything") == []
    assert pieces("— … !", "anything — … !") == []


def test_a_long_mark_and_a_long_page_take_little_time() -> None:
    page = "ab" * 100_000
    mark = " ".join(["abababababc"] * 400)[:4000]
    assert pieces(mark, page) == []


def test_the_file_is_a_png() -> None:
    png, _ = draw(make_pdf([("p", BUILT)]), width=100)
    kinds, at = [], 8
    while at < len(png):
        [length] = struct.unpack_from(">I", png, at)
        body = png[at + 4 : at + 8 + length]
        assert struct.unpack_from(">I", png, at + 8 + length)[0] == zlib.crc32(body)
        kinds.append(body[:4])
        at += 12 + length
    assert kinds == [b"IHDR", b"IDAT", b"IEND"]
