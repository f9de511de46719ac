"""2WikiMultiHopQA (Ho et al. 2020): the form of HotpotQA, with evidence triples that are not used."""

from evaluation.importers.hotpotqa import read

__all__ = ["read"]
