"""The contract of the record: one class per port, and `RecordContract` with all of them.

A store's test class inherits `RecordContract` and gives the fixtures `record` and `other` (see `RecordFixtures`).
"""

from testing.contracts.record.adoption import AdoptionContract
from testing.contracts.record.claims import ClaimsContract
from testing.contracts.record.commits import CommitsContract
from testing.contracts.record.corpora import CorporaContract
from testing.contracts.record.exporter import ExporterContract
from testing.contracts.record.graph import GraphSourceContract
from testing.contracts.record.intake import IntakeContract
from testing.contracts.record.jobs import JobsContract
from testing.contracts.record.library import LibraryContract
from testing.contracts.record.maintenance import MaintenanceContract
from testing.contracts.record.merges import MergesContract
from testing.contracts.record.reindexing import ReindexingContract
from testing.contracts.record.requests.changes import ChangesContract
from testing.contracts.record.requests.keys import KeysContract
from testing.contracts.record.requests.progress import ProgressContract
from testing.contracts.record.requests.questions import QuestionsContract
from testing.contracts.record.requests.receipts import ReceiptsContract
from testing.contracts.record.staging import StagingContract
from testing.contracts.record.synonyms import SynonymsContract
from testing.contracts.record.tombstones import TombstonesContract

__all__ = [
    "AdoptionContract",
    "ChangesContract",
    "ClaimsContract",
    "CommitsContract",
    "CorporaContract",
    "ExporterContract",
    "GraphSourceContract",
    "IntakeContract",
    "JobsContract",
    "KeysContract",
    "LibraryContract",
    "MaintenanceContract",
    "MergesContract",
    "ProgressContract",
    "QuestionsContract",
    "ReceiptsContract",
    "RecordContract",
    "ReindexingContract",
    "StagingContract",
    "SynonymsContract",
    "TombstonesContract",
]


class RecordContract(
    AdoptionContract,
    ChangesContract,
    ClaimsContract,
    CommitsContract,
    CorporaContract,
    ExporterContract,
    GraphSourceContract,
    IntakeContract,
    JobsContract,
    KeysContract,
    LibraryContract,
    MaintenanceContract,
    MergesContract,
    ProgressContract,
    QuestionsContract,
    ReceiptsContract,
    ReindexingContract,
    StagingContract,
    SynonymsContract,
    TombstonesContract,
):
    """Everything that a record does."""
