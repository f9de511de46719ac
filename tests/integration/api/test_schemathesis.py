"""The whole OpenAPI against a live server: whatever schemathesis makes of it, valid or not.

By hand and for longer: `hopweave serve`, then `schemathesis run http://127.0.0.1:8000/openapi.json --checks all`.
`schemathesis.toml` says which checks are left out for which routes.
"""

import asyncio
import os
import sys
from pathlib import Path

import pytest

import app.services.scope
from tests.integration.api.asking import listening
from tests.integration.api.conftest import Server

_KEY = "a-key-for-everything"
_FOLDER = Path(__file__).parent


@pytest.mark.slow
async def test_every_route_keeps_its_description(
    people: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keyring = people.app.state.keyring
    monkeypatch.setattr(keyring, "_own", [_KEY.encode()])
    monkeypatch.setattr(keyring, "_own_ids", {keyring.find(_KEY).id})
    monkeypatch.setattr(app.services.scope, "_WAIT_SECONDS", 0.2)  # for generations that do not come
    names = await _find_names(people)
    async with listening(people) as address:
        process = await asyncio.create_subprocess_exec(
            Path(sys.executable).with_name("schemathesis"),
            f"--config-file={_FOLDER / 'schemathesis.toml'}",
            "run",
            f"{address}/openapi.json",
            "--phases=examples,coverage,fuzzing",
            "--max-examples=1",
            "--generation-deterministic",
            f"--header=Authorization: Bearer {_KEY}",
            "--suppress-health-check=all",
            "--no-color",
            cwd=tmp_path,
            env={**os.environ, "SCHEMATHESIS_HOOKS": str(_FOLDER / "schemathesis_hooks.py"), **names},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        told, _ = await process.communicate()
    assert process.returncode == 0, told.decode("utf-8", "replace")[-20_000:]


async def _find_names(people: Server) -> dict[str, str]:
    """Returns the ids that `schemathesis.toml` names: a document, a passage of it, an entity, and a question."""
    corpus = "/v1/corpora/people"
    headers = {"Authorization": f"Bearer {_KEY}"}

    async def first(path: str) -> str:
        listed = (await people.client.get(f"{corpus}/{path}", headers=headers)).json()
        one = listed["data"][0]
        return str(one.get("entity", one)["id"])

    document = await first("documents")
    asked = await people.client.post(f"{corpus}/questions", json={"question": "Who wrote it?"}, headers=headers)
    question = str(asked.json()["id"])
    await people.client.get(f"{corpus}/questions/{question}/events", headers=headers)
    return {
        "DOCUMENT": document,
        "CHUNK": await first(f"documents/{document}/chunks"),
        "ENTITY": await first("entities"),
        "QUESTION": question,
    }
