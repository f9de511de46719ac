"""Tells whether the extra `models` is installed: sentence-transformers and torch."""

from importlib.util import find_spec

from core.errors import InvalidSettings


def has_models_extra() -> bool:
    return all(find_spec(name) is not None for name in ("torch", "sentence_transformers"))


def require_models_extra(what: str) -> None:
    """Raises `InvalidSettings`, which begins with `what`, if the extra is not installed."""
    if not has_models_extra():
        raise InvalidSettings(
            f"{what} needs sentence-transformers, which is not installed: "
            'pip install "hopweave[models]" (or uv tool install "hopweave[models]")'
        )
