"""Sixty sentences of contracts and rules with a question and an answer: half of the answers are right, half wrong.

They were written before the code that compares them (`reasoning.citations.polarity`).
"""

__all__ = ["RIGHT", "WRONG"]

Case = tuple[str, str, str]
"""A question, an answer, and the passage that is cited."""

RIGHT: list[Case] = [
    ("May the tenant sublet the flat?", "no", "The tenant shall not sublet the flat."),
    (
        "Is business class on aircraft permitted?",
        "no: business class on aircraft is not permitted",
        "Business class on aircraft is not permitted, whatever the length of the flight.",
    ),
    (
        "Does an assignment need the landlord's consent?",
        "yes",
        "Any assignment needs the prior consent of the landlord, which shall not be unreasonably withheld or delayed.",
    ),
    (
        "May the Receiving Party develop similar products independently?",
        "yes",
        "Nothing in this clause prevents the Receiving Party from independently developing similar products.",
    ),
    (
        "Must the report be delivered within ten days?",
        "yes: no later than ten days after the month ends",
        "The report must be delivered no later than ten days after the month ends.",
    ),
    (
        "Is the supplier liable for indirect damage?",
        "yes",
        "The supplier is liable not only for direct but also for indirect damage.",
    ),
    (
        "Does Confidential Information include customer lists?",
        "yes",
        "Confidential Information includes, without limitation, customer lists and price lists.",
    ),
    (
        "May the licensee copy the software?",
        "yes",
        "The licensee may copy the software for backup, but may not distribute it.",
    ),
    (
        "May the licensee distribute the software?",
        "no: the licensee may not distribute it",
        "The licensee may copy the software for backup, but may not distribute it.",
    ),
    ("May employees smoke in the warehouse?", "no", "Smoking in the warehouse is prohibited."),
    ("Is smoking in the warehouse prohibited?", "yes", "Smoking in the warehouse is prohibited."),
    (
        "May the contractor engage subcontractors?",
        "no: not without the prior written consent of the client",
        "The contractor may not engage subcontractors without the prior written consent of the client.",
    ),
    (
        "May the contractor engage subcontractors with the client's consent?",
        "yes",
        "The contractor may not engage subcontractors without the prior written consent of the client.",
    ),
    (
        "Must the Receiving Party keep the information confidential?",
        "yes",
        "The Receiving Party shall keep the information confidential and shall not disclose it to any third party.",
    ),
    (
        "Does the agreement create a partnership?",
        "no",
        "Nothing in this agreement shall be construed as creating a partnership between the parties.",
    ),
    ("Is the deposit refundable?", "no", "The deposit is non-refundable."),
    ("May the tenant keep a dog?", "yes", "Dogs are allowed. The tenant may not keep more than one cat."),
    (
        "Can the notice be sent by e-mail?",
        "yes",
        "Notices may be sent by post, by courier or by e-mail; notices by fax are not valid.",
    ),
    (
        "Is the Buyer entitled to inspect the goods?",
        "yes",
        "No delay of the Buyer shall limit its rights; the Buyer is entitled to inspect the goods at any time.",
    ),
    ("Will the fee increase during the first year?", "no", "The fee shall not increase during the first year."),
    (
        "May the supplier suspend the service?",
        "yes: if the customer does not pay within 30 days",
        "If the customer does not pay within 30 days, the supplier may suspend the service.",
    ),
    ("Does the warranty cover wear?", "no", "The warranty does not cover wear, corrosion or misuse."),
    (
        "May the Receiving Party disclose the information to its lawyers?",
        "yes",
        "The Receiving Party shall not disclose the information to anyone, except to its lawyers and auditors.",
    ),
    ("Darf der Mieter die Wohnung untervermieten?", "nein", "Der Mieter darf die Wohnung nicht untervermieten."),
    (
        "Ist die Tierhaltung gestattet?",
        "ja",
        "Die Tierhaltung ist nicht nur gestattet, sondern ausdrücklich erwünscht.",
    ),
    (
        "Muss der Mieter die Treppe reinigen?",
        "ja",
        "Der Mieter muss die Treppe einmal in der Woche reinigen, nicht jedoch den Keller.",
    ),
    ("Ist das Rauchen im Keller erlaubt?", "nein", "Das Rauchen im Keller ist untersagt."),
    (
        "Est-ce que le locataire peut sous-louer le logement ?",
        "non",
        "Le locataire ne peut pas sous-louer le logement.",
    ),
    ("Est-ce que le préavis est de trois mois ?", "oui", "Le préavis n'est que de trois mois."),
    (
        "Est-ce que le bailleur peut refuser son accord ?",
        "oui: pour un motif grave",
        "Le bailleur ne peut refuser son accord que pour un motif grave.",
    ),
]

WRONG: list[Case] = [
    (
        "Is business class on aircraft permitted?",
        "yes",
        "Business class on aircraft is not permitted, whatever the length of the flight.",
    ),
    (
        "May the tenant sublet the harbour shed?",
        "Yes",
        "The tenant shall not sublet the shed without the written consent of the landlord.",
    ),
    (
        "May the licensee reverse engineer the software?",
        "yes",
        "Under no circumstances may the licensee reverse engineer the software.",
    ),
    (
        "May the Receiving Party make copies of the documents?",
        "yes: the Receiving Party may make copies of the documents",
        "No Receiving Party may make copies of the documents.",
    ),
    (
        "May visitors take photographs in the plant?",
        "yes",
        "Visitors are prohibited from taking photographs in the plant.",
    ),
    ("Is the deposit refundable?", "yes", "The deposit is not refundable under any circumstances."),
    (
        "Can either party terminate the agreement before 2027?",
        "yes",
        "Neither party can terminate the agreement before 2027.",
    ),
    ("Does the warranty cover corrosion?", "yes", "The warranty does not cover corrosion."),
    (
        "Is the supplier liable for loss of profit?",
        "yes",
        "The supplier shall in no event be liable for loss of profit.",
    ),
    (
        "May employees accept gifts from suppliers?",
        "Yes, employees may accept gifts from suppliers",
        "Employees must never accept gifts from suppliers.",
    ),
    (
        "May the tenant install a satellite dish?",
        "yes",
        "The tenant must refrain from installing a satellite dish.",
    ),
    ("Is assignment of the contract allowed?", "yes", "Assignment of the contract is forbidden."),
    ("Does the licence permit commercial use?", "yes", "The licence does not permit commercial use."),
    (
        "May the Receiving Party disclose the terms to its auditors?",
        "no",
        "The Receiving Party may disclose the terms to its auditors.",
    ),
    ("Is overtime paid?", "no", "Overtime is paid at 150 percent of the hourly rate."),
    (
        "May the buyer return unused parts?",
        "no: the buyer may not return unused parts",
        "The buyer may return unused parts within 14 days.",
    ),
    (
        "Does the insurance cover vandalism?",
        "yes",
        "The insurance covers theft of tools, but does not cover vandalism.",
    ),
    (
        "Does the insurance cover theft?",
        "no",
        "The insurance covers theft of tools, but does not cover vandalism.",
    ),
    (
        "Is the use of open flames permitted in the hall?",
        "yes",
        "The use of open flames in the hall is strictly prohibited.",
    ),
    (
        "Are pets allowed in the building?",
        "yes: pets are allowed in the building",
        "Pets are not allowed in the building.",
    ),
    (
        "Will the fee increase during the first year?",
        "yes",
        "The fee shall not increase during the first year.",
    ),
    (
        "Is the contractor prevented from working for competitors?",
        "yes",
        "Nothing in this contract prevents the contractor from working for competitors.",
    ),
    (
        "May the licensee distribute the software?",
        "yes",
        "The licensee may copy the software for backup, but may not distribute it.",
    ),
    ("Darf der Mieter Haustiere halten?", "ja", "Der Mieter darf keine Haustiere halten."),
    ("Ist die Untervermietung gestattet?", "ja", "Die Untervermietung ist nicht gestattet."),
    (
        "Darf der Auftragnehmer Unterlagen kopieren?",
        "ja",
        "Dem Auftragnehmer ist es untersagt, Unterlagen zu kopieren.",
    ),
    (
        "Kann der Vertrag vor 2027 gekündigt werden?",
        "ja: der Vertrag kann vor 2027 gekündigt werden",
        "Der Vertrag kann vor 2027 nicht gekündigt werden.",
    ),
    (
        "Est-ce que le locataire peut sous-louer le logement ?",
        "oui",
        "Le locataire ne peut en aucun cas sous-louer le logement.",
    ),
    (
        "Est-ce que les animaux sont autorisés dans l'immeuble ?",
        "oui",
        "Les animaux ne sont pas autorisés dans l'immeuble.",
    ),
    ("Est-ce que la sous-location est permise ?", "oui", "La sous-location est interdite."),
]
