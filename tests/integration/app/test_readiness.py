"""Parts that hang, and parts that refuse."""

import asyncio
from pathlib import Path

import pytest

from app.composition import choose_composition
from app.container import Container
from app.doctor.readiness import PartState, Readiness, check_at_start
from core.errors import InvalidSettings, Unavailable
from core.settings import BrokerSettings, FilesSettings, Settings, StoreSettings
from stores.files import FolderFileStore


class Hanging(FolderFileStore):
    """Never answers; counts who waits for it."""

    asked = 0

    async def check(self) -> str:
        self.asked += 1
        await asyncio.Event().wait()
        return "never"


class Refusing(FolderFileStore):
    """Says what it was told to."""

    error: Exception

    async def check(self) -> str:
        raise self.error


@pytest.fixture
def container(tmp_path: Path) -> Container:
    return Container(Settings(data_dir=tmp_path))


async def test_a_store_that_hangs_is_down_and_is_asked_once(container: Container, tmp_path: Path) -> None:
    await Readiness(container).look()  # loads what the others need
    hanging = container.files = Hanging(tmp_path)
    readiness = Readiness(container)
    for _ in range(3):
        parts = await readiness.look(0.5)
        assert parts["files"].state is PartState.DOWN
        assert "no answer" in parts["files"].said
    assert hanging.asked == 1
    assert parts["record"].state is PartState.OK
    assert parts["record"].said.startswith("SQLite ")
    await container.close()


async def test_what_is_asked_again_is_asked_anew(container: Container, tmp_path: Path) -> None:
    refusing = container.files = Refusing(tmp_path)
    refusing.error = Unavailable("the bucket is away")
    readiness = Readiness(container)
    assert (await readiness.look())["files"].said == "the bucket is away"
    refusing.error = Unavailable("the bucket is still away")
    assert (await readiness.look())["files"].said == "the bucket is still away"
    await container.close()


async def test_many_look_at_the_same_time(container: Container) -> None:
    """A look that begins while another one ends has checks of its own, which are no reason for the other to wait."""
    readiness = Readiness(container)
    await readiness.look()

    async def look(number: int) -> None:
        for _ in range(number % 7):
            await asyncio.sleep(0)
        for _ in range(10):
            parts = await readiness.look(60)
            assert {name: part.said for name, part in parts.items() if part.state is not PartState.OK} == {}

    async with asyncio.timeout(300):
        await asyncio.gather(*map(look, range(50)))
    await container.close()


async def test_at_the_start_a_refusal_is_an_error_and_an_outage_a_warning(
    container: Container, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    refusing = container.files = Refusing(tmp_path)
    refusing.error = InvalidSettings("the bucket refuses us")
    await check_at_start(container)  # embedded, a store says so when it is used
    on_servers = container.settings.model_copy(
        update={
            "store": StoreSettings(record="neo4j", text="neo4j", vectors="milvus"),
            "broker": BrokerSettings(url="redis://127.0.0.1:1/0"),
            "files": FilesSettings(url=str(tmp_path)),
        }
    )
    container.composition = choose_composition(on_servers)
    # made before, so that only what is refused and the broker, which is away, are looked at over servers
    embedded = Container(Settings(data_dir=tmp_path))
    container.record, container.vectors, container.text = embedded.record, embedded.vectors, embedded.text
    with pytest.raises(InvalidSettings, match="the bucket refuses us"):
        await check_at_start(container)
    refusing.error = Unavailable("the bucket is away")
    caplog.clear()
    await check_at_start(container)
    said = [record.getMessage() for record in caplog.records]
    assert [line.split(":")[0] for line in said] == ["files", "broker"]
    await embedded.close()
    await container.close()
