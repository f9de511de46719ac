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
_LEFT_OUT = r"/import$|^/api/|^/dify/|^/v1/chat/"
"""Schemathesis makes no JSON lines, and no gzip. The protocols of others have statuses of their own (Dify's 403 without
a key), and fields that are ignored whatever they hold.
"""

NOT_IN_A_SCHEMA = "positive_data_acceptance"
"""A cursor, a filter in a parameter, a strategy's options and a used `Idempotency-Key` are refused for what no schema
can say.
"""


@pytest.mark.slow
async def test_every_route_keeps_its_description(
    people: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keyring = people.app.state.keyring
    monkeypatch.setattr(keyring, "_own", [_KEY.encode()])
    monkeypatch.setattr(keyring, "_own_ids", {keyring.find(_KEY).id})
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
            f"--exclude-path-regex={_LEFT_OUT}",
            f"--exclude-checks={NOT_IN_A_SCHEMA}",
            "--suppress-health-check=all",
            "--no-color",
            cwd=tmp_path,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        told, _ = await process.communicate()
    assert process.returncode == 0, told.decode("utf-8", "replace")[-20_000:]
