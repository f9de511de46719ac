"""Pages of PDF files drawn in a parser process: limits, many calls at once, and calls that are given up."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from core.errors import LoadFailed, NotFound, RateLimited
from indexer.isolation.lane import PageImages, has_page_images
from tests.documents import make_long_pdf, make_pdf
from tests.images_of_pages import highlighted, open_png

PDF = make_pdf([("p", "It was never built, the office said."), ("page", ""), ("p", "The second page.")])


@pytest.fixture
async def images() -> AsyncIterator[PageImages]:
    images = PageImages(seconds=120)
    yield images
    await images.close()


async def test_a_page_is_drawn_in_another_process(images: PageImages) -> None:
    drawn = await images.draw("a.pdf", PDF, 2, width=300, mark="second page")
    assert (drawn.pages, drawn.marked, open_png(drawn.png).width) == (2, 11, 300)
    assert highlighted(drawn.png) is not None


async def test_a_page_that_does_not_exist_is_told_with_their_number(images: PageImages) -> None:
    with pytest.raises(NotFound, match=r"^document 'a.pdf' has no page 3; it has 2 pages$"):
        await images.draw("a.pdf", PDF, 3, width=300)
    with pytest.raises(NotFound, match=r"it has 1 page$"):
        await images.draw("a.pdf", make_pdf([("p", "One.")]), 2**70, width=300)


async def test_a_damaged_file_is_named_and_the_next_one_is_drawn(images: PageImages) -> None:
    with pytest.raises(LoadFailed, match=r"'b.pdf' is no PDF file, or it is damaged"):
        await images.draw("b.pdf", b"nothing", 1, width=300)
    assert (await images.draw("a.pdf", PDF, 1, width=300)).pages == 2


async def test_ten_thousand_pages(images: PageImages) -> None:
    content = make_long_pdf([[f"This is page {number}."] for number in range(1, 10_001)])
    for number in (1, 5_000, 10_000):
        drawn = await images.draw("long.pdf", content, number, width=200, mark=f"This is page {number}.")
        assert (drawn.pages, drawn.marked) == (10_000, len(f"This is page {number}."))


async def test_a_page_that_takes_too_long_is_named_with_the_setting() -> None:
    images = PageImages(seconds=0.001)
    with pytest.raises(LoadFailed, match=r"'a.pdf' .* more than 0.001 seconds \(HOPWEAVE_PARSER__IMAGE_SECONDS\)"):
        await images.draw("a.pdf", make_long_pdf([["A line."] * 20_000]), 1, width=2000)
    await images.close()


async def test_too_many_calls_are_refused_and_the_others_are_answered(images: PageImages) -> None:
    calls = [images.draw("a.pdf", PDF, 1 + n % 2, width=100 + n) for n in range(20)]
    results = await asyncio.gather(*calls, return_exceptions=True)
    refused = [one for one in results if isinstance(one, RateLimited)]
    assert len(refused) == 4
    assert "ask for fewer at a time" in str(refused[0])
    widths = [open_png(one.png).width for one in results if not isinstance(one, BaseException)]
    assert widths == [100 + n for n in range(16)]
    assert (await images.draw("a.pdf", PDF, 1, width=100)).pages == 2, "there is room again"


async def test_the_file_of_a_refused_call_is_not_read(images: PageImages) -> None:
    reads = 0

    async def read() -> bytes:
        nonlocal reads
        reads += 1
        await asyncio.sleep(0)
        return PDF

    calls = [images.draw("a.pdf", read, 1, width=100) for _ in range(20)]
    results = await asyncio.gather(*calls, return_exceptions=True)
    assert (len([one for one in results if isinstance(one, RateLimited)]), reads) == (4, 16)

    async def fail() -> bytes:
        raise NotFound("the original is gone")

    for _ in range(20):
        with pytest.raises(NotFound, match="the original is gone"):
            await images.draw("a.pdf", fail, 1, width=100)
    assert (await images.draw("a.pdf", PDF, 1, width=100)).pages == 2, "there is room again"


async def test_calls_that_are_given_up_make_room(images: PageImages) -> None:
    for _ in range(3):
        calls = [asyncio.create_task(images.draw("a.pdf", PDF, 1, width=2000)) for _ in range(16)]
        await asyncio.sleep(0)
        for call in calls:
            call.cancel()
        ended = await asyncio.gather(*calls, return_exceptions=True)
        assert all(isinstance(one, asyncio.CancelledError) for one in ended)
        assert (await images.draw("a.pdf", PDF, 1, width=100)).pages == 2


def test_only_pdf_files_have_images() -> None:
    assert has_page_images("application/pdf")
    assert has_page_images("Application/PDF; version=1.7")
    assert not has_page_images("text/plain")
