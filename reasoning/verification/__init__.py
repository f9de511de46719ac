"""Load-bearing evidence: which documents an answer hangs on, found by masking each of them and asking again."""

from reasoning.verification.given import GivenAnswer, estimate_cost, read_answer
from reasoning.verification.verifier import Compare, make_comparison, verify_answer

__all__ = ["Compare", "GivenAnswer", "estimate_cost", "make_comparison", "read_answer", "verify_answer"]
