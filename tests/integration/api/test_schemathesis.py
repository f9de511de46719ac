"""The whole OpenAPI against a live server: whatever schemathesis makes of it, valid or not.

By hand and for longer: `hopweave serve`, then `schemathesis run http://127.0.0.1:8000/openapi.json --checks all`.
"""

import asyncio
import sys
from pathlib import Path

import pytest

from tests.integration.api.asking import listening
from tests.integration.api.conftest import Server

_KEY = "a-key-for-everything"

NOT_IN_A_SCHEMA = "positive_data_acceptance"
"""A cursor, a filter in a parameter, a strategy's options and a used `Idempotency-Key` are refused for what no schema
can say.
"""


@pytest.mark.slow
async def test_every_route_keeps_its_description(
    people: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(people.app.state.keyring, "_own", [_KEY.encode()])
    async with listening(people) as address:
        process = await asyncio.create_subprocess_exec(
            Path(sys.executable).with_name("schemathesis"),
            "run",
            f"{address}/openapi.json",
            "--phases=examples,coverage,fuzzing",
            "--max-examples=1",
            "--generation-deterministic",
            "--checks=all",
            f"--header=Authorization: Bearer {_KEY}",
            "--exclude-path-regex=/import$",  # schemathesis makes no JSON lines, and no gzip
            f"--exclude-checks={NOT_IN_A_SCHEMA}",
            "--suppress-health-check=all",
            "--no-color",
            cwd=tmp_path,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        told, _ = await process.communicate()
    assert process.returncode == 0, told.decode("utf-8", "replace")[-20_000:]
