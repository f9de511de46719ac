"""Which passages of reports say nothing of the business."""

import numpy as np
import pytest

from retrieval.bridged.report_forms import weigh_report_forms
from tests.unit.retrieval.bridged.builders import Said, corpus

TEXTS = (
    "I, Ada Okeke, certify that I have reviewed this report of Okeke Ferries; the registrant's other officer and I are",
    "Table of contents. Items. Legal proceedings. Unregistered sales. Defaults. Mine safety. Exhibits. Signatures.",
    "We are certified by the port: an officer certifies the hull of each ferry once a year.",
    "Legal proceedings: a supplier sued Okeke Ferries in May. Item 4. Mine safety: not applicable.",
)


@pytest.mark.parametrize(
    ("question", "lost"),
    [
        ("What does the report of Okeke Ferries say of legal proceedings?", [True, True, False, False]),
        ("Who certifies the report of Okeke Ferries?", [False, True, False, False]),
        ("Which sections has the table of contents?", [True, False, False, False]),
    ],
)
def test_certificates_and_lists_of_contents_lose_unless_they_are_asked_for(question: str, lost: list[bool]) -> None:
    snapshot = corpus(*(Said(document=str(number), text=text) for number, text in enumerate(TEXTS)))
    added = weigh_report_forms(np.arange(len(TEXTS)), np.array([9.0, 8.0, 7.0, 6.0]), question, snapshot)
    assert (added < 0).tolist() == lost
    assert not added[np.logical_not(lost)].any()
