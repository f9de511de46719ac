"""2WikiMultiHopQA (Ho et al. 2020): HotpotQA's form, with the evidence as triples beside it, which are not needed."""

from evaluation.importers.hotpotqa import read

__all__ = ["read"]
