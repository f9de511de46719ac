"""Sixteen made tables in files of five kinds, and a contract, for questions over all rows of one table."""

import csv
import io
import random
from collections.abc import Iterator, Sequence

import docx
import openpyxl
from fpdf import FPDF

from tests.documents import saved

__all__ = ["make_files"]

Rows = Sequence[Sequence[object]]

_FLOW = """Pump|Flow (m3/h)|Head (m)|Power (kW)
P-101|42.5|18|3.0
P-102|38.0|22|4.0
P-103|55.2|15|4.0
P-104|12.8|40|2.2
P-105|61.0|12|5.5
P-106|27.3|31|3.0
P-107|61.0|14|5.5
P-108|9.6|52|2.2"""
_SERVICE = """Pump|Hours run|Last service
P-101|8120|2024-03-02
P-102|4410|2024-05-17
P-104|12950|2023-11-30
P-108|730|2024-06-08"""
_RECHNUNGEN = """Rechnung|Lieferant|Datum|Betrag|Status
R-2401|Huber GmbH|15.01.2024|1.250,00 €|bezahlt
R-2402|Nordlicht AG|03.02.2024|980,50 €|offen
R-2403|Huber GmbH|19.02.2024|12.400,00 €|bezahlt
R-2404|Kessler KG|07.04.2024|310,00 €|offen
R-2405|Nordlicht AG|22.05.2024|2.115,25 €|bezahlt
R-2406|Huber GmbH|30.06.2024|760,00 €|offen
R-2407|Kessler KG|11.07.2024|4.050,00 €|bezahlt"""
_VENTES = """Région|Ventes (EUR)|Croissance (%)|Magasins
Bretagne|1 250 000|3,4|12
Alsace|890 500|-1,2|9
Provence|2 310 000|5,8|21
Normandie|1 020 000|0,6|11
Total|5 470 500||53"""
_STAFF = """Name|Department|Salary|Hired
Ada Brandt|Engineering|$92,000|2019
Ben Osei|Sales|$61,500|2021
Carla Nuñez|Engineering|$88,250|2020
Dmitri Volkov|Finance|$73,000|2018
Elif Kaya|Sales|$58,000|2022
Farid Haddad|Engineering|$101,400|2015"""
_SEGMENTS = """Segment|Revenue|Operating costs|Employees
Turbines|412.6|388.1|2,140
Compressors|288.4|241.9|1,310
Services|196.0|120.7|980
Spare parts|75.3|51.2|265
Total|972.3|801.9|4,695"""
_SENSORS = """Sensor|Location|Temperature (°C)|Humidity
S-01|Cellar|12.4|71%
S-02|Attic|n/a|38%
S-03|Hall|19.8|44%
S-04|Boiler room|31.5|
S-05|Garage|-2.1|63%
S-06|Kitchen||52%"""
_CITIES = """City|Country|Population|Founded
Lindow|Arvia|1,234,567|1142
Marsk|Arvia|845,200|1310
Oberg|Teland|2,010,400|1055
Pellin|Teland|96,300|1688
Quarn|Arvia|512,000|1201
Ristad|Teland|733,950|1477"""
_KANTONE = """Kanton|Hauptort|Einwohner|Fläche (km2)
Zürich|Zürich|1'553'423|1729
Bern|Bern|1'043'132|5959
Uri|Altdorf|36'819|1077
Zug|Zug|128'794|239
Tessin|Bellinzona|350'986|2812"""
_BUDGET = """Department|Item|Budget (USD)
Marketing|Fairs|45,000
Marketing|Print|12,500
Subtotal||57,500
Operations|Rent|120,000
Operations|Energy|38,400
Operations|Cleaning|9,600
Subtotal||168,000
Grand total||225,500"""
_OFFERS = """Offer|Vendor|Amount|Delivery (weeks)
O-1|Halden|EUR 1,200.00|4
O-2|Torre|USD 900.00|6
O-3|Quist|EUR 1,050.00|9
O-4|Lumen|USD 2,400.00|3"""
_COMMANDES = """Commande|Client|Montant|Statut
C-01|Dupuis|1 250,00 €|livrée
C-02|Martel|640,00 €|en attente
C-03|Dupuis|3 075,50 €|livrée
C-04|Roche|640,00 €|annulée
C-05|Martel|98,90 €|en attente"""
_PAYROLL = """Employee|Department|City|Hired|Gross salary (GBP)|Overtime hours
Ada Lowe|Sales|Leeds|14/03/2016|3,000|6
Ben Roy|Works|York|02/11/2019|5,000|2
Cem Aksoy|Works|Leeds|23/06/2021|4,000|
Dora Finn|Sales|York|01/02/2024|2,000|9
Emil Holt|Office|Hull|28/02/2024|6,000|1
Total||||20,000|18"""
_LESSONS = """Tag|Stunde|Fach|Lehrkraft|Raum
Montag|1|Mathematik|Frau Keller|A1
Montag|2|Deutsch|Herr Brandt|A1
Montag|3|Sport|Herr Vogt|Halle
Dienstag|1|Physik|Frau Keller|Labor
Dienstag|2|Mathematik|Frau Keller|A1
Mittwoch|1|Deutsch|Herr Brandt|A1
Mittwoch|2|Mathematik|Frau Keller|A1
Mittwoch|3|Sport|Herr Vogt|Halle
Mittwoch|4|Physik|Frau Keller|Labor"""
_MONTHS = """Month|Turnover|Expenses|Profit
January|48.2|45.1|3.1
February|51.7|50.2|1.5
March|38.4|44.6|(6.2)
April|60.3|52.5|7.8
Year|198.6|192.4|6.2"""
_CONTRACT = """Supply contract

Halden Ltd supplies eight pumps to Torre S.p.A. The total price of the pumps is EUR 48,000. The buyer pays within 30
days of the invoice. The average delivery time of the supplier is six weeks. The highest amount for which the supplier
is liable is EUR 500,000. This contract is governed by the law of Italy.
"""
_CATEGORIES = ("Tools", "Fasteners", "Paint", "Garden")
_SUPPLIERS = ("Acme Supplies", "Borealis", "Castor Ltd", "Delmar")


def _rows(written: str) -> list[list[str]]:
    return [line.split("|") for line in written.splitlines()]


def make_files() -> Iterator[tuple[str, bytes]]:
    """Yields the name and the content of each file, equal in each run."""
    yield "pump-list.xlsx", _workbook({"Flow": _numbers(_rows(_FLOW)), "Service": _numbers(_rows(_SERVICE))})
    yield "price-list.csv", _csv(list(_prices()))
    yield "invoices-2024.csv", _csv(list(_invoices()))
    yield "rechnungen.csv", _csv(_rows(_RECHNUNGEN), ";")
    yield "ventes-2023.html", _html("Ventes par région 2023", _rows(_VENTES))
    yield "staff.docx", _docx("Staff of the Leeds office", _rows(_STAFF))
    yield "annual-report.pdf", _pdf("Vardon Group: annual report", _rows(_SEGMENTS))
    yield "sensors.csv", _csv(_rows(_SENSORS))
    yield "cities.csv", _csv(_rows(_CITIES))
    yield "kantone.xlsx", _workbook({"Kantone": _rows(_KANTONE)})
    yield "budget.xlsx", _workbook({"Budget 2025": _rows(_BUDGET)})
    yield "offers.csv", _csv(_rows(_OFFERS))
    yield "commandes.csv", _csv(_rows(_COMMANDES), ";")
    yield "payroll.xlsx", _workbook({"October": _rows(_PAYROLL)})
    yield "stundenplan-7b.docx", _docx("Stundenplan der Klasse 7b", _rows(_LESSONS))
    yield "harbour-cafe.html", _html("Harbour Cafe: turnover and expenses", _rows(_MONTHS))
    yield "supply-contract.txt", _CONTRACT.encode()


def _prices() -> Iterator[Sequence[object]]:
    chance = random.Random(7)
    yield "Article", "Category", "Price (EUR)", "Stock"
    for number in range(60):
        price = "" if number == 30 else f"{chance.randrange(150, 24_000) / 100:.2f}"
        yield f"Article {1000 + number}", _CATEGORIES[number % 4], price, chance.randrange(400)


def _invoices() -> Iterator[Sequence[object]]:
    chance = random.Random(11)
    yield "Invoice", "Date", "Supplier", "Amount", "Status"
    for number in range(240):
        date = f"2024-{number // 20 + 1:02}-{number % 20 + 1:02}"
        amount = f"${chance.randrange(5_000, 900_000) / 100:,.2f}"
        status = chance.choice(("paid", "paid", "open"))
        yield f"INV-{5000 + number}", date, chance.choice(_SUPPLIERS), amount, status


def _numbers(rows: Rows) -> list[list[object]]:
    def read(cell: object) -> object:
        text = str(cell)
        return float(text) if text.replace(".", "", 1).isdigit() else text

    return [[read(cell) for cell in row] for row in rows]


def _csv(rows: Rows, delimiter: str = ",") -> bytes:
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter).writerows(rows)
    return out.getvalue().encode()


def _workbook(sheets: dict[str, Rows]) -> bytes:
    book = openpyxl.Workbook()
    book.remove(book.worksheets[0])
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(list(row))
    return saved(book)


def _html(title: str, rows: Rows) -> bytes:
    head = "".join(f"<th>{cell}</th>" for cell in rows[0])
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows[1:])
    text = f"<html><head><meta charset='utf-8'><title>{title}</title></head><body><h1>{title}</h1>"
    return f"{text}<table><tr>{head}</tr>{body}</table></body></html>".encode()


def _docx(title: str, rows: Rows) -> bytes:
    document = docx.Document()
    document.add_heading(title, 0)
    document.add_paragraph("The office opened in 2015 and moved to Park Row in 2021. Its rent is $18,000 a year.")
    table = document.add_table(rows=0, cols=len(rows[0]))
    for row in rows:
        for cell, text in zip(table.add_row().cells, row, strict=True):
            cell.text = str(text)
    return saved(document)


def _pdf(title: str, rows: Rows) -> bytes:
    pdf = FPDF()
    pdf.add_page()
    pdf.set_font("Helvetica", size=16)
    pdf.cell(text=title, new_x="LMARGIN", new_y="NEXT")
    pdf.set_font("Helvetica", size=11)
    pdf.multi_cell(0, text="The group has four segments. Figures are in EUR million.", new_x="LMARGIN", new_y="NEXT")
    with pdf.table() as table:
        for row in rows:
            line = table.row()
            for cell in row:
                line.cell(str(cell))
    return bytes(pdf.output())
