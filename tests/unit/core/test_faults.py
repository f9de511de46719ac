"""Messages of what pydantic refuses."""

import pytest
from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from core.faults import describe_faults


class _Given(BaseModel):
    model_config = ConfigDict(extra="forbid")

    count: int = 0

    @model_validator(mode="after")
    def _check(self) -> "_Given":
        if self.count < 0:
            raise ValueError("give a `count` of at least 0")
        return self


def _describe(given: object) -> str:
    with pytest.raises(ValidationError) as refused:
        _Given.model_validate(given)
    return describe_faults(refused.value, field="option")


def test_the_terms_of_the_library_are_left_out() -> None:
    assert _describe({"count": -1}).endswith(": give a `count` of at least 0")
    assert _describe({"counts": 1}) == "counts: unknown option"
    assert "Value error" not in _describe({"count": -1})
