"""The size of a language model, read from its name."""

import re

__all__ = ["find_size"]

_SIZE = re.compile(r"(?<![a-z0-9.])(?:(\d{1,2})x)?e?(\d{1,4}(?:[.]\d{1,3})?)(b|m)(?![a-z0-9])", re.IGNORECASE)
_BILLIONS = {"b": 1.0, "m": 0.001}


def find_size(name: str) -> float | None:
    """Returns the parameters of a model in billions, by a name such as `qwen2.5:1.5b-instruct` or `gemma3-270m`.

    Of several sizes the greatest counts: `qwen3-30b-a3b` has 30, of which 3 are active. None if the name tells nothing.
    """
    sizes = [int(times or 1) * float(count) * _BILLIONS[unit.lower()] for times, count, unit in _SIZE.findall(name)]
    return max(sizes, default=None)
