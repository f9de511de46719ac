"""How a process shares its time."""

import gc
import sys
from collections.abc import Iterator

import pytest

from core.processes import favour_event_loop, freeze_objects


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
