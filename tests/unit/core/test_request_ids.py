"""The ids of requests and of the jobs that they make."""

import pytest

from core.telemetry.logs import choose_request_id, new_job_id, request_id_of_job, set_request_id


@pytest.mark.parametrize("given", ["abc", "a.b_c-1", "0" * 64])
def test_a_sane_id_is_kept(given: str) -> None:
    assert choose_request_id(given) == given


@pytest.mark.parametrize("given", [None, "", "-a", "a b", "a\nb", "x" * 65, "ä", "a;b", '{"a":1}'])
def test_another_is_replaced(given: str | None) -> None:
    made = choose_request_id(given)
    assert made != given
    assert choose_request_id(made) == made


@pytest.mark.parametrize("request_id", ["abc", "a-b-c", "0123456789abcdef-0123456789abcdef"])
def test_a_job_names_its_request(request_id: str) -> None:
    set_request_id(request_id)
    try:
        first, second = new_job_id(), new_job_id()
    finally:
        set_request_id("")
    assert first != second
    assert request_id_of_job(first) == request_id


def test_a_job_without_a_request_names_none() -> None:
    assert request_id_of_job(new_job_id()) == ""
