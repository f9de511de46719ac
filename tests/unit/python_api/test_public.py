"""What is public, and what importing it does not do."""

import importlib.metadata
import inspect

import pytest

import hopweave


def test_what_is_public_is_there() -> None:
    assert sorted(set(hopweave.__all__)) == sorted(hopweave.__all__)
    assert all(hasattr(hopweave, name) for name in hopweave.__all__)
    assert {*hopweave.__all__, "__version__"} == set(dir(hopweave))
    with pytest.raises(AttributeError, match="'hopweave' has no attribute 'close'"):
        _ = hopweave.close  # type: ignore[attr-defined] # that it is not there is the point


def test_the_version_is_that_of_the_package() -> None:
    assert hopweave.__version__ == importlib.metadata.version("hopweave")


def test_both_clients_have_the_same_methods() -> None:
    blocking, asynchronous = (_methods(kind) for kind in (hopweave.Client, hopweave.AsyncClient))
    assert blocking.keys() - asynchronous.keys() == {"close"}
    assert asynchronous.keys() - blocking.keys() == {"aclose"}
    for name in blocking.keys() & asynchronous.keys():
        assert inspect.getdoc(getattr(hopweave.Client, name)), name
        assert blocking[name].parameters == asynchronous[name].parameters, name
        assert str(blocking[name].return_annotation).removeprefix("collections.abc.") == str(
            asynchronous[name].return_annotation
        ).removeprefix("collections.abc.Async"), name


def _methods(kind: type) -> dict[str, inspect.Signature]:
    return {name: inspect.signature(value) for name, value in vars(kind).items() if not name.startswith("_")}
