"""Which revisions one claim takes, and which fail."""

import pytest

from core.record_policy.claims import CLAIMED_ALONE_AFTER, FAILED_AFTER, failure_reason, fit_batch, is_suspect, split


def rows(*sizes: int, attempts: tuple[int, ...] = ()) -> list[dict[str, int]]:
    counts = attempts or (0,) * len(sizes)
    return [
        {"seq": n, "size": size, "attempts": count} for n, (size, count) in enumerate(zip(sizes, counts, strict=True))
    ]


@pytest.mark.parametrize(
    ("queue", "max_bytes", "taken"),
    [
        (rows(), 10, []),
        (rows(5, 5, 5), 10, [0, 1]),
        (rows(5, 5), 100, [0, 1]),
        (rows(50, 5), 10, [0]),
        (rows(5, 50, 5), 10, [0]),
        (rows(0, 0, 0), 0, [0, 1, 2]),
        (rows(1, 1, attempts=(0, CLAIMED_ALONE_AFTER)), 10, [0]),
        (rows(1, 1, attempts=(CLAIMED_ALONE_AFTER, CLAIMED_ALONE_AFTER)), 10, [0]),
        (rows(1, 1, attempts=(CLAIMED_ALONE_AFTER - 1, 0)), 10, [0, 1]),
    ],
)
def test_a_batch_fits_its_bytes_and_suspects_come_alone(
    queue: list[dict[str, int]], max_bytes: int, taken: list[int]
) -> None:
    assert [row["seq"] for row in fit_batch(queue, max_bytes)] == taken


@pytest.mark.parametrize(
    ("attempts", "suspect", "hopeless"),
    [(0, False, False), (3, False, False), (4, True, False), (7, True, False), (8, True, True), (9, True, True)],
)
def test_attempts_decide_who_is_suspect_and_who_fails(attempts: int, suspect: bool, hopeless: bool) -> None:
    [row] = rows(1, attempts=(attempts,))
    assert is_suspect(row) is suspect
    assert split([row]) == (([], [row]) if hopeless else ([row], []))
    assert (attempts >= FAILED_AFTER) is hopeless


def test_the_reason_tells_how_often() -> None:
    assert failure_reason(8) == "the worker died or lost its lease 8 times on this document"
