"""`hopweave train-ranker` as it is installed: the built-in model, a worker of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.integration.evaluation.townsfolk import write_townsfolk

pytestmark = pytest.mark.slow

_HOPWEAVE = Path(sys.executable).with_name("hopweave")


def run(folder: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [_HOPWEAVE, *map(str, arguments)],
        env={**os.environ, "HOPWEAVE_DATA_DIR": str(folder / "data"), "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


def test_no_gain_is_refused_unless_forced_and_what_was_written_can_be_used(tmp_path: Path) -> None:
    """Stage 1 finds both passages of every question already, so that nothing can do better."""
    towns, mine = tmp_path / "towns", tmp_path / "mine.json"
    write_townsfolk(towns, people=20)
    refused = run(tmp_path, "train-ranker", towns, "-o", mine, "--recipe", "six")
    assert refused.returncode == 1, refused.stderr
    assert "does not beat stage 1" in refused.stderr
    assert "towns" in refused.stdout
    assert sorted(found.name for found in tmp_path.iterdir()) == ["data", "towns"]
    forced = run(tmp_path, "train-ranker", towns, "-o", mine, "--recipe", "six", "--force")
    assert forced.returncode == 0, forced.stderr
    assert "does not beat stage 1" in forced.stderr
    assert json.loads(mine.read_text())["provenance"]["command"].endswith("--force")
    used = run(tmp_path, "eval", towns, "--searcher", f"bridged:ranker={mine}", "--limit", "3", "--json", "-")
    assert used.returncode == 0, used.stderr
    (scores,) = json.loads(used.stdout)["searchers"].values()
    assert (scores["failed"], scores["recall@5"] > 0.8) == (0, True)
