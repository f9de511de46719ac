"""`CallAllowance`: how many calls of a model are left to a question of `level`, or to a part of its work.

`CommonAllowance` is one for all parts of the work.
"""

from collections.abc import Iterable

__all__ = ["CallAllowance", "CommonAllowance"]


class CallAllowance:
    """`left` calls may still be made. `refused` tells whether one was asked for that was not left.

    A call that is repeated, since its reply could not be read, counts once. Work that runs at the same time gets
    shares of its own, so that the same question always makes the same calls.
    """

    def __init__(self, calls: int) -> None:
        self.left = calls
        self.refused = False

    def take(self, calls: int = 1) -> bool:
        """Takes so many calls and returns True, or takes none and returns False if there are fewer."""
        if self.left < calls:
            self.refused = True
            return False
        self.left -= calls
        return True

    def give_back(self, calls: int = 1) -> None:
        """Returns calls that were taken and not made."""
        self.left += calls

    def share_out(self, calls: int, parts: int) -> list["CallAllowance"]:
        """Takes so many calls and returns them in shares, which differ by one at most; the first are the greater."""
        self.left -= calls
        return [CallAllowance(calls // parts + (part < calls % parts)) for part in range(parts)]

    def collect(self, shares: Iterable["CallAllowance"]) -> None:
        """Takes back what is left of the shares."""
        for share in shares:
            self.left += share.left
            share.left = 0


class CommonAllowance(CallAllowance):
    """All work takes from the same calls, so that no part is refused any while some are left.

    If they run out while work runs at the same time, which part gets the last ones may differ from run to run.
    """

    def share_out(self, calls: int, parts: int) -> list[CallAllowance]:  # noqa: ARG002  # nothing is set apart
        """Returns this allowance for each part."""
        return [self] * parts

    def collect(self, shares: Iterable[CallAllowance]) -> None:
        """Does nothing, since all work took from here."""
