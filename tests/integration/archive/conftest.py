from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from tests.integration.archive.house import PEOPLE, House

MakeHouse = Callable[..., House]


@pytest.fixture
async def make_house(tmp_path: Path) -> AsyncIterator[MakeHouse]:
    houses: list[House] = []

    def make(name: str, **more: Any) -> House:
        houses.append(House(tmp_path / name, **more))
        return houses[-1]

    yield make
    for house in houses:
        await house.close()


@pytest.fixture
async def here(make_house: MakeHouse) -> House:
    """With the corpus `people`, some of whose documents came twice, or came and went."""
    house = make_house("here")
    corpus = await house.corpus()
    await house.ingest(corpus, {"key": "ada", "text": "An earlier text."}, {"key": "gone", "text": "Gone With Wind."})
    await house.ingest(corpus, *PEOPLE)
    await house.delete(corpus, "gone")
    return house


@pytest.fixture
async def there(make_house: MakeHouse) -> House:
    """Empty."""
    return make_house("there")
