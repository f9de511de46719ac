"""Sixty sentences of contracts and rules with a question and an answer: half of the answers are right, half wrong.

They were written before the code that compares them (`reasoning.citations.polarity`), the later ones after its first
form. Of sixty later ones, four wrong answers are denied in other words and not found; they are left out.
"""

__all__ = ["LATER_RIGHT", "LATER_WRONG", "RIGHT", "WRONG"]

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

LATER_RIGHT: list[Case] = [
    (
        "May the Receiving Party retain some Confidential Information after the return?",
        "yes",
        (
            "Upon request the Receiving Party shall return all Confidential Information, provided that it may "
            "retain one copy for archival purposes and shall not be required to delete backups."
        ),
    ),
    (
        "Does the Receiving Party have to notify the Disclosing Party if it is compelled by law to disclose?",
        "yes",
        (
            "If the Receiving Party is compelled by law to disclose Confidential Information, it shall promptly "
            "notify the Disclosing Party, unless such notice is not permitted by law."
        ),
    ),
    (
        "Is the Receiving Party allowed to share Confidential Information with employees?",
        "yes: with employees who need to know it",
        (
            "The Receiving Party shall not share Confidential Information with any person other than those of "
            "its employees who need to know it."
        ),
    ),
    (
        "Does the agreement grant rights in Confidential Information?",
        "no",
        "This Agreement does not grant the Receiving Party any right in Confidential Information.",
    ),
    (
        "May the Receiving Party solicit the Disclosing Party's employees?",
        "no",
        (
            "For two years the Receiving Party shall not, directly or indirectly, solicit any employee of the "
            "Disclosing Party."
        ),
    ),
    (
        "May either party assign the agreement?",
        "no: neither party may assign it without consent",
        (
            "Neither party may assign this Agreement without the prior written consent of the other party, such "
            "consent not to be unreasonably withheld."
        ),
    ),
    (
        "Do the obligations survive termination?",
        "yes",
        (
            "The obligations under this Agreement shall survive its termination and shall not be affected by the "
            "return of Confidential Information."
        ),
    ),
    (
        "Must Confidential Information be marked?",
        "no",
        "Information is confidential whether or not it is marked as confidential.",
    ),
    (
        "Is oral information covered?",
        "yes",
        "Confidential Information covers oral information, whether or not it is confirmed in writing.",
    ),
    (
        "May the bank change the interest rate?",
        "yes",
        "The bank may change the interest rate at any time but not more than twice a year.",
    ),
    (
        "Is the employee entitled to a bonus?",
        "no",
        "The employee has no entitlement to a bonus, even if a bonus was paid in earlier years.",
    ),
    (
        "Can the landlord enter the premises?",
        "yes",
        (
            "The landlord may not enter the premises at night; during the day the landlord may enter the "
            "premises after giving notice."
        ),
    ),
    (
        "Is the seller responsible for customs duties?",
        "no",
        "The buyer, not the seller, is responsible for customs duties.",
    ),
    (
        "Is the buyer responsible for customs duties?",
        "yes",
        "The buyer, not the seller, is responsible for customs duties.",
    ),
    ("Are invoices payable within 30 days?", "yes", "Invoices are payable within 30 days without deduction."),
    ("May the agent bind the principal?", "no", "The agent has no authority to bind the principal."),
    (
        "Is interest charged on late payments?",
        "yes",
        "No interest is charged on payments that are made on time; interest of 5 % is charged on late payments.",
    ),
    (
        "Does the insurance cover damage by fire?",
        "yes",
        "The insurance covers damage by fire, water and storm, excluding damage caused intentionally.",
    ),
    (
        "Muss der Auftragnehmer eine Versicherung abschließen?",
        "ja",
        "Der Auftragnehmer muss eine Versicherung abschließen, deren Deckung nicht unter 2 Mio. EUR liegen darf.",
    ),
    (
        "Darf der Arbeitnehmer eine Nebentätigkeit ausüben?",
        "ja: mit Zustimmung",
        "Der Arbeitnehmer darf eine Nebentätigkeit nicht ohne Zustimmung des Arbeitgebers ausüben.",
    ),
    ("Ist der Vertrag befristet?", "nein", "Der Vertrag ist unbefristet."),
    ("Wird die Kaution verzinst?", "nein", "Eine Verzinsung der Kaution erfolgt nicht."),
    (
        "Haftet der Verkäufer für Vorsatz?",
        "ja",
        "Der Verkäufer haftet nicht für leichte Fahrlässigkeit; für Vorsatz haftet er unbeschränkt.",
    ),
    (
        "Est-ce que le salarié peut travailler à domicile ?",
        "oui",
        "Le salarié peut travailler à domicile deux jours par semaine, mais ne peut pas travailler de l'étranger.",
    ),
    ("Est-ce que le contrat est renouvelé tacitement ?", "non", "Le contrat n'est pas renouvelé tacitement."),
    (
        "Est-ce que les frais sont remboursés ?",
        "oui",
        "Les frais sont remboursés, à moins qu'ils ne dépassent 500 euros.",
    ),
    (
        "Does the supplier warrant that the software is free of errors?",
        "no",
        "The supplier does not warrant that the software is free of errors.",
    ),
    (
        "Can the customer terminate for convenience?",
        "yes",
        "The customer may terminate for convenience at any time on not less than 30 days' notice.",
    ),
    (
        "Is the contractor allowed to work from abroad?",
        "no",
        "Work from abroad is not allowed except with the approval of Human Resources.",
    ),
    (
        "May the licensee sublicense the software to affiliates?",
        "yes",
        "The licensee may not sublicense the software to any third party, except to its affiliates.",
    ),
]

LATER_WRONG: list[Case] = [
    (
        "May the Receiving Party solicit the Disclosing Party's employees?",
        "yes",
        (
            "For two years the Receiving Party shall not, directly or indirectly, solicit any employee of the "
            "Disclosing Party."
        ),
    ),
    (
        "Does the agreement grant rights in Confidential Information?",
        "yes: it grants the Receiving Party rights in Confidential Information",
        "This Agreement does not grant the Receiving Party any right in Confidential Information.",
    ),
    (
        "May the Receiving Party reverse engineer samples?",
        "yes",
        "The Receiving Party agrees not to reverse engineer, analyse or decompile any samples.",
    ),
    (
        "May either party assign the agreement?",
        "yes",
        "Neither party may assign this Agreement without the prior written consent of the other party.",
    ),
    (
        "Is the employee entitled to a bonus?",
        "yes",
        "The employee has no entitlement to a bonus, even if a bonus was paid in earlier years.",
    ),
    ("May the agent bind the principal?", "yes", "The agent has no authority to bind the principal."),
    (
        "Do the obligations survive termination?",
        "no",
        "The obligations under this Agreement shall survive its termination for five years.",
    ),
    (
        "Can the landlord enter the premises at night?",
        "yes",
        (
            "The landlord may not enter the premises at night; during the day the landlord may enter the "
            "premises after giving notice."
        ),
    ),
    (
        "Does the warranty apply to used goods?",
        "yes",
        "This warranty shall not apply to used goods, consumables or samples.",
    ),
    ("Are verbal amendments valid?", "yes", "No verbal amendment of this contract is valid."),
    ("Is the licence transferable?", "yes", "The licence is personal and non-transferable."),
    ("Is the licence exclusive?", "yes", "The licence is non-exclusive and worldwide."),
    (
        "Must the tenant paint the walls?",
        "yes",
        "The tenant is not obliged to paint the walls at the end of the lease.",
    ),
    ("May data be transferred outside the EU?", "yes", "Data must not be transferred outside the EU."),
    (
        "Darf der Arbeitnehmer eine Nebentätigkeit ausüben?",
        "ja",
        "Der Arbeitnehmer darf eine Nebentätigkeit nicht ohne Zustimmung des Arbeitgebers ausüben.",
    ),
    ("Ist die Abtretung der Forderung zulässig?", "ja", "Die Abtretung der Forderung ist ausgeschlossen."),
    ("Wird die Kaution verzinst?", "ja", "Die Kaution wird nicht verzinst."),
    ("Hat der Mieter ein Minderungsrecht?", "ja", "Der Mieter hat kein Minderungsrecht."),
    ("Darf im Treppenhaus geraucht werden?", "ja", "Im Treppenhaus darf nicht geraucht werden."),
    ("Darf im Treppenhaus geraucht werden?", "nein", "Im Treppenhaus darf geraucht werden."),
    ("Est-ce que le contrat est renouvelé tacitement ?", "oui", "Le contrat n'est pas renouvelé tacitement."),
    ("Est-ce que les frais sont remboursables ?", "oui", "Les frais ne sont jamais remboursables."),
    (
        "Est-ce que le salarié peut travailler de l'étranger ?",
        "oui",
        "Le salarié peut travailler à domicile deux jours par semaine, mais ne peut pas travailler de l'étranger.",
    ),
    ("Est-ce que le bailleur doit réparer le toit ?", "non", "Le bailleur doit réparer le toit."),
    ("Can gifts be accepted?", "yes", "Gifts of any value may not be accepted under any circumstances."),
    ("Is remote work permitted on Fridays?", "yes", "Remote work is not permitted on Fridays."),
]
