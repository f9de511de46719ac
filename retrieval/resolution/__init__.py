"""Who is who: proposals of entities that may be one, with a calibrated probability and its evidence.

`proposals` has what a caller needs. The names of a pair are compared in `name_forms` and `relations`, pairs are found
in `candidates`, and `features` says what the probability of each is computed from.
"""

from retrieval.resolution.proposals import Evidence, Proposal, Proposals, propose

__all__ = ["Evidence", "Proposal", "Proposals", "propose"]
