"""What the processes of `serve --workers N` are given."""

import os
import pickle
from pathlib import Path

import pytest

from api.serving import _configure
from core.settings import Settings


def test_processes_that_answer_share_the_cores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    cores = len(os.sched_getaffinity(0))
    for processes, environment in ((1, {}), (2 * cores, {"OMP_NUM_THREADS": "1"})):
        config = _configure(Settings(data_dir=tmp_path), processes)
        assert config.workers == processes
        assert pickle.loads(pickle.dumps(config.app)).args == (environment,)  # noqa: S301  # as it is sent to them
