"""Runs of schemathesis over the OpenAPI description of a server, with all of its checks.

The tests make short ones of a server in their process; `python -m tests.integration.api.described` makes long ones.
"""

import asyncio
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import httpx

__all__ = ["Coverage", "Run", "find_names"]

_FOLDER = Path(__file__).parent
_CORPUS = "/v1/corpora/people"
_OTHER = "another"
_DESCRIPTION = "openapi.json"
_REQUEST_SECONDS = 300  # a busy machine is slow, and that is no failure
_REPEATED = r"""
# Bodies and filters that another operation has, too.
[[operations]]
include-path-regex = "^/v1/(ask|search)$|/(delete|estimates|entities|neighbourhood|questions|ways)$|/entities/\\{id\\}$"
phases.coverage.enabled = false
"""


class Coverage(StrEnum):
    """For which operations schemathesis derives requests from their schemas: up to 1,500 for one operation."""

    ALL = "all"
    ONCE = "once"
    """Of operations with the same body or filter, one."""
    NONE = "none"


@dataclass(frozen=True, kw_only=True)
class Run:
    """A run with a fixed seed. `examples` is the number of random requests to each operation."""

    address: str
    key: str = ""
    examples: int
    coverage: Coverage
    seed: int = 1

    async def __call__(self, names: Mapping[str, str], folder: Path) -> tuple[int, str]:
        """Returns the exit status of schemathesis and what it prints. `names` are the ids in `schemathesis.toml`."""
        # Read here: schemathesis itself would wait ten seconds for it, and no longer.
        async with httpx.AsyncClient(timeout=_REQUEST_SECONDS) as client:
            described = await client.get(f"{self.address}/openapi.json")
        (folder / _DESCRIPTION).write_bytes(described.raise_for_status().content)
        phases = ["examples", *([] if self.coverage is Coverage.NONE else ["coverage"]), "fuzzing"]
        settings = (_FOLDER / "schemathesis.toml").read_text("utf-8")
        if self.coverage is Coverage.ONCE:
            settings += _REPEATED
        apart = await self._run(phases, settings, names, folder)
        # Given ids would replace those of what was just created.
        in_sequence = await self._run(["stateful"], "", names, folder)
        return max(apart[0], in_sequence[0]), apart[1] + in_sequence[1]

    async def _run(
        self, phases: Sequence[str], settings: str, names: Mapping[str, str], folder: Path
    ) -> tuple[int, str]:
        config = folder / "schemathesis.toml"
        config.write_text(settings, "utf-8")
        process = await asyncio.create_subprocess_exec(
            Path(sys.executable).with_name("schemathesis"),
            f"--config-file={config}",
            "run",
            _DESCRIPTION,
            f"--url={self.address}",
            "--checks=all",
            f"--phases={','.join(phases)}",
            f"--max-examples={self.examples}",
            f"--seed={self.seed}",
            "--generation-database=none",
            "--continue-on-failure",
            f"--request-timeout={_REQUEST_SECONDS}",
            f"--max-response-time={_REQUEST_SECONDS}",
            *([f"--header=Authorization: Bearer {self.key}"] if self.key else []),
            "--suppress-health-check=all",  # they are about the time that generating takes
            "--no-color",
            cwd=folder,
            env={**os.environ, "SCHEMATHESIS_HOOKS": str(_FOLDER / "hooks.py"), **names},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        output, _ = await process.communicate()
        assert process.returncode is not None
        return process.returncode, output.decode("utf-8", "replace")


async def find_names(client: httpx.AsyncClient, key: str = "") -> dict[str, str]:
    """Returns the ids that `schemathesis.toml` names, of the corpus `people`. Asks a question, and makes a corpus."""
    headers = {"Authorization": f"Bearer {key}"} if key else {}

    async def first(path: str) -> str:
        listed = (await client.get(f"{_CORPUS}/{path}", headers=headers)).json()
        entry = listed["data"][0]
        return str(entry.get("entity", entry)["id"])

    await client.post("/v1/corpora", json={"name": _OTHER}, headers=headers)
    document = await first("documents")
    asked = await client.post(f"{_CORPUS}/questions", json={"question": "Who wrote it?"}, headers=headers)
    question = str(asked.json()["id"])
    await client.get(f"{_CORPUS}/questions/{question}/events", headers=headers)
    return {
        "DOCUMENT": document,
        "CHUNK": await first(f"documents/{document}/chunks"),
        "ENTITY": await first("entities"),
        "QUESTION": question,
    }
