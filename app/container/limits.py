"""`RequestLimits`: the largest values of one request that an installation permits."""

from dataclasses import dataclass

from core.errors import InvalidInput

__all__ = ["RequestLimits"]


@dataclass(frozen=True, kw_only=True)
class RequestLimits:
    """None: no limit but that of the field itself. Each is a setting `HOPWEAVE_API__MAX_…`."""

    k: int | None = None
    depth: int | None = None
    history: int | None = None

    def check(self, *, k: int | None = None, depth: int | None = None, history: int | None = None) -> None:
        """Raises `InvalidInput`, naming the field and the setting, for a value that is above its limit."""
        for name, value, most in (("k", k, self.k), ("depth", depth, self.depth), ("history", history, self.history)):
            if value is not None and most is not None and value > most:
                what = f"`history` has {value} messages" if name == "history" else f"`{name}` is {value}"
                raise InvalidInput(
                    f"{what}, and this server allows {most} (HOPWEAVE_API__MAX_{name.upper()}); ask for less"
                )
