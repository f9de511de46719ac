import asyncio
import shutil
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


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the corpus `people`, some of whose documents came twice, or came and went; its export beside it."""
    folder = tmp_path_factory.mktemp("filled")

    async def fill() -> None:
        house = House(folder / "here")
        corpus = await house.corpus()
        await house.ingest(
            corpus, {"key": "ada", "text": "An earlier text."}, {"key": "gone", "text": "Gone With Wind."}
        )
        await house.ingest(corpus, *PEOPLE)
        await house.delete(corpus, "gone")
        await house.export("people", folder / "people.jsonl")
        await house.close()

    asyncio.run(fill())
    return folder


@pytest.fixture
async def here(make_house: MakeHouse, filled: Path, tmp_path: Path) -> House:
    """A copy of that."""
    await asyncio.to_thread(shutil.copytree, filled / "here", tmp_path / "here")
    return make_house("here")


@pytest.fixture
def file(filled: Path, tmp_path: Path) -> Path:
    """The exported corpus, which a test may change."""
    return Path(shutil.copy(filled / "people.jsonl", tmp_path))


@pytest.fixture
async def there(make_house: MakeHouse) -> House:
    """Empty."""
    return make_house("there")
