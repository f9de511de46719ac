"""A container of its own for each test."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.container import Container
from tests.integration.evaluation.workbench import workbench


@pytest.fixture
async def container(tmp_path: Path) -> AsyncIterator[Container]:
    async with workbench(tmp_path) as made:
        yield made
