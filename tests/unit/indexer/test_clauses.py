"""How statements of a small model are cut into triples."""

import pytest

from indexer.extractors._statements import split_statement


@pytest.mark.parametrize(
    ("relation", "object_", "triples"),
    [
        ("was born in", "1911", ["was born in | 1911"]),
        ("connects to", "Tamm River in the city of Veld", ["connects to | Tamm River", "connects in | city of Veld"]),
        ("was shown at the Orle show in May 1982", "", ["was shown at | Orle show", "was shown in | May 1982"]),
        ("is a river in the state of Veld", "", ["is | river", "is a river in | state of Veld"]),
        ("offers Courses in Law, Music and Art", "", ["offers | Courses", "offers Courses in | Law"]),
        ("declared a Historic Site in", "1981", ["declared | Historic Site", "declared a Historic Site in | 1981"]),
        ("is a common name for motors", "VT", ["is | common name", "is a common name for | motors"]),
        ("teaches", "Law, Music and Art", ["teaches | Law", "teaches | Music", "teaches | Art"]),
        ("is near", "Veld, Orle", ["is near | Veld, Orle"]),
        ("was a potter and she taught at Orle", "", ["was | potter"]),  # a clause of its own
        ("Potter of the Orle School", "", []),  # no verb
        ("was founded", "", []),
        ("is", "a tributary of", []),
        ("borders with Veld in the east", "", ["borders with | Veld"]),
        ("was directed by Gilbert M. Orle", "", ["was directed by | Gilbert M. Orle"]),
        ("位于", "北京市海淀区", ["位于 | 北京市海淀区"]),
        ("in", "", []),
        ("and", "but", ["and | but"]),
    ],
)
def test_a_statement_is_cut_into_triples(relation: str, object_: str, triples: list[str]) -> None:
    cut = split_statement("Ofra Tamm", relation, object_)
    assert {triple.subject for triple in cut} <= {"Ofra Tamm"}
    assert [f"{triple.predicate} | {triple.object}" for triple in cut] == triples
