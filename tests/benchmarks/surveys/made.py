"""Made contracts, incident reports, invoices and mails, and questions whose answers follow from how they are made.

Each fact has several wordings. Some documents have the words of a question in another sense: a party under Delaware
law, a pump that ran while a valve failed. Some contracts stand there twice.
"""

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["QUESTIONS", "Made", "make_documents", "write_documents"]

_FIRMS = ["Norwind GmbH", "Halden Works", "Torre Bianca", "Quist Pumps", "Ostara Foods", "Berg and Sons", "Lumen Labs"]
_LAWS = {"Delaware": "the State of Delaware", "New York": "the State of New York", "Texas": "the State of Texas",
         "England": "England and Wales", "Germany": "the Federal Republic of Germany"}  # fmt: skip
_YEARS = ["one", "two", "three", "four", "five"]


@dataclass(frozen=True, kw_only=True)
class Made:
    """A document, and what is true of it. A copy has the name of its original."""

    key: str
    text: str
    facts: Mapping[str, object] = field(default_factory=dict)
    copy_of: str = ""

    @property
    def kind(self) -> str:
        return self.key.partition("/")[0]


QUESTIONS: tuple[tuple[str, Callable[[Made], bool]], ...] = (
    ("How many contracts are governed by Delaware law?", lambda made: made.facts.get("law") == "Delaware"),
    (
        "Which contracts may be assigned without the consent of the other party?",
        lambda made: made.facts.get("assign") == "free",
    ),
    (
        "Which contracts may not be assigned without the consent of the other party?",
        lambda made: made.facts.get("assign") == "consent",
    ),
    ("List every incident in which a pump failed", lambda made: made.facts.get("failed") == "pump"),
    ("How many incident reports mention valve V-3?", lambda made: "V-3" in made.text and made.kind == "incidents"),
    ("Which invoices are unpaid?", lambda made: made.facts.get("paid") is False),
    ("Which invoices exceed 10,000 EUR?", lambda made: int(str(made.facts.get("total", 0))) > 10_000),
    ("Which contracts do not mention arbitration?", lambda made: made.facts.get("arbitration") is False),
    ("Which contracts continue for more than three years?", lambda made: int(str(made.facts.get("years", 0))) > 3),
    ("How many contracts are there with Norwind GmbH?", lambda made: made.facts.get("firm") == "Norwind GmbH"),
)


def make_documents(number: int, seed: int = 37) -> Iterator[Made]:
    """Yields documents: of ten four are contracts, three are incidents, two are invoices, and one is a mail. Of a
    hundred contracts, five are copies.
    """
    chance = random.Random(seed)
    last: Made | None = None
    for n in range(number):
        makes = _MAKERS["ccciciimvv"[n % 10]]
        if n % 200 == 0 and last is not None:
            yield Made(key=f"contracts/copy-{n}.txt", text=last.text, facts=last.facts, copy_of=last.key)
            continue
        made = makes(n, chance)
        last = made if made.kind == "contracts" else last
        yield made


def write_documents(folder: Path, documents: Iterator[Made]) -> list[Made]:
    written = []
    for made in documents:
        path = folder / made.key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(made.text, "utf-8")
        written.append(made)
    return written


def _make_contract(n: int, chance: random.Random) -> Made:
    firm, other = chance.sample(_FIRMS, 2)
    law = chance.choice(list(_LAWS))
    years = chance.randint(1, 5)
    assign = chance.choice(["free", "consent", "none"])
    arbitration = chance.random() < 0.5
    governed = chance.choice(
        [
            f"This Agreement shall be governed by and construed in accordance with the laws of {_LAWS[law]}.",
            f"The laws of {_LAWS[law]} govern this contract.",
            f"This contract is subject to {_LAWS[law]} law, by which it is governed.",
        ]
    )
    parts = [
        f"SUPPLY AGREEMENT {n}",
        f"This agreement is made between {firm} and {other}.",
        f"{other} is a corporation organised under the law of Delaware." if chance.random() < 0.2 else "",
        chance.choice(
            [
                f"It continues for {_YEARS[years - 1]} ({years}) years from the date of signature.",
                f"The term of this Agreement continues for {years} years.",
            ]
        ).replace("1 years", "1 year"),
        {
            "free": "Either party may assign this Agreement without the consent of the other party.",
            "consent": chance.choice(
                [
                    "Neither party may assign this Agreement without the prior written consent of the other party.",
                    "This Agreement may not be assigned in whole or in part without the other party's consent.",
                ]
            ),
            "none": "",
        }[assign],
        "Disputes are settled by binding arbitration in Zurich." if arbitration else "Disputes go to the courts.",
        governed,
    ]
    facts = {"law": law, "years": years, "assign": assign, "arbitration": arbitration, "firm": firm}
    if "Norwind GmbH" in (firm, other):
        facts["firm"] = "Norwind GmbH"
    return Made(key=f"contracts/supply-{n}.txt", text="\n".join(filter(None, parts)), facts=facts)


def _make_incident(n: int, chance: random.Random) -> Made:
    pump, valve = f"P-{chance.randint(1, 9)}", f"V-{chance.randint(1, 9)}"
    failed = chance.choice(["pump", "valve", "neither"])
    said = {
        "pump": [f"At 6:40 pump {pump} failed and was replaced.", f"The cause was a failure of pump {pump}."],
        "valve": [
            f"Valve {valve} failed during the test.",
            f"The pump {pump} ran normally. Valve {valve} failed in the morning.",
        ],
        "neither": [f"Pump {pump} did not fail, and valve {valve} was dirty.", f"A cable near valve {valve} was cut."],
    }[failed]
    text = f"Incident report {n}\nLine {n % 7} stood still for {chance.randint(2, 90)} minutes. {chance.choice(said)}"
    return Made(key=f"incidents/report-{n}.txt", text=text, facts={"failed": failed})


def _make_invoice(n: int, chance: random.Random) -> Made:
    total = chance.randint(200, 30_000)
    paid = chance.random() < 0.7
    text = (
        f"Invoice {n}\nFrom {chance.choice(_FIRMS)}.\nThe total of this invoice is {total:,} EUR.\n"
        f"{'It was paid by transfer.' if paid else 'The invoice is still unpaid.'}"
    )
    return Made(key=f"invoices/invoice-{n}.txt", text=text, facts={"total": total, "paid": paid})


def _make_mail(n: int, chance: random.Random) -> Made:
    said = chance.choice(
        [
            "Please check whether the contract is governed by Delaware law.",
            "The pump failed again, says the night shift.",
            "Which invoices are unpaid?",
            f"Lunch with {chance.choice(_FIRMS)} is on Monday.",
        ]
    )
    return Made(key=f"mails/mail-{n}.txt", text=f"Mail {n}\n{said}")


_MAKERS: Mapping[str, Callable[[int, random.Random], Made]] = {
    "c": _make_contract,
    "i": _make_incident,
    "v": _make_invoice,
    "m": _make_mail,
}
