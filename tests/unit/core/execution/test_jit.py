"""Loops are compiled once, whoever asks first, and compute what Python does."""

import threading
from typing import Any

import numpy as np
import pytest

from core.execution.jit import JitFunction


def add_squares(values: Any, out: Any) -> None:
    for i in range(values.shape[0]):
        out[0] += values[i] * values[i]


def signature(types: Any) -> Any:
    floats = types.Array(types.float64, 1, "C")
    return types.void(floats, floats)


def squares(function: Any) -> float:
    out = np.zeros(1)
    function(np.array([1.0, 2.0, 3.0]), out)
    return float(out[0])


def test_it_is_compiled_once_and_does_what_the_function_does() -> None:
    from numba.core.registry import CPUDispatcher

    kernel = JitFunction(add_squares, signature)
    assert isinstance(kernel(), CPUDispatcher)
    assert squares(kernel()) == squares(add_squares) == 14
    assert kernel() is kernel()


def test_threads_that_come_at_once_share_one_compilation() -> None:
    asked: list[int] = []

    def counted(types: Any) -> Any:
        asked.append(1)
        return signature(types)

    kernel = JitFunction(add_squares, counted)
    gate = threading.Barrier(4)
    got: list[Any] = []

    def ask() -> None:
        gate.wait()
        got.append(kernel())

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(asked) == 1
    assert len(got) == 4
    assert len({id(one) for one in got}) == 1


def test_arrays_of_another_kind_are_refused_not_compiled_for() -> None:
    with pytest.raises(TypeError, match="No matching definition"):
        JitFunction(add_squares, signature)()(np.zeros(2, np.int32), np.zeros(1))


def test_it_compiles_where_nothing_can_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in an install that is read only: numba then finds no folder for its cache."""
    from numba.core import caching

    monkeypatch.setattr(caching.CacheImpl, "_locator_classes", [])
    assert squares(JitFunction(add_squares, signature)()) == 14
