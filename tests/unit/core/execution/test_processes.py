"""How a process shares its time."""

import gc
import os
import sys
from collections.abc import Iterator

import pytest

from core.execution.processes import count_cores, favour_event_loop, freeze_objects, share_cores


@pytest.fixture(autouse=True)
def _restored() -> Iterator[None]:
    interval, thresholds = sys.getswitchinterval(), gc.get_threshold()
    yield
    sys.setswitchinterval(interval)
    gc.set_threshold(*thresholds)
    gc.unfreeze()


def test_threads_leave_the_interpreter_sooner_and_collections_are_rarer() -> None:
    favour_event_loop()
    assert sys.getswitchinterval() == pytest.approx(0.001)
    assert gc.get_threshold()[0] > 700


def test_what_is_loaded_is_left_out_of_collections() -> None:
    freeze_objects()
    assert gc.get_freeze_count() > 1000


@pytest.fixture
def _unlimited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)


@pytest.mark.usefixtures("_unlimited")
def test_models_use_all_cores_that_the_process_has_or_fewer(monkeypatch: pytest.MonkeyPatch) -> None:
    cores = len(os.sched_getaffinity(0))
    assert count_cores() == cores
    for limit, used in (("1", 1), (str(cores + 1), cores), ("0", cores), ("two", cores), ("", cores)):
        monkeypatch.setenv("OMP_NUM_THREADS", limit)
        assert count_cores() == used


@pytest.mark.usefixtures("_unlimited")
def test_processes_share_the_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    assert share_cores(1) == {}
    assert share_cores(1000) == {"OMP_NUM_THREADS": "1"}
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert share_cores(2) == {}
