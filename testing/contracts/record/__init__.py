"""The contract of the record: one class per port, and `RecordContract` with all of them.

A store's test class inherits `RecordContract` and gives the fixtures `record` and `other` (see `RecordFixtures`).
"""

from testing.contracts.record.access import AccessContract
from testing.contracts.record.certificates import CertificatesContract
from testing.contracts.record.claims import AdoptionContract, ClaimsContract, StagingContract
from testing.contracts.record.commits import CommitsContract, SynonymsContract, TombstonesContract
from testing.contracts.record.corpora import CorporaContract, ReindexingContract
from testing.contracts.record.graph import ExporterContract, GraphSourceContract, MergesContract, ResolutionContract
from testing.contracts.record.jobs import JobsContract, ProgressContract
from testing.contracts.record.library import LibraryContract
from testing.contracts.record.maintenance import MaintenanceContract
from testing.contracts.record.questions import QuestionsContract
from testing.contracts.record.submissions import ChangesContract, IntakeContract, KeysContract, ReceiptsContract

__all__ = [
    "AccessContract",
    "AdoptionContract",
    "CertificatesContract",
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
    "ResolutionContract",
    "StagingContract",
    "SynonymsContract",
    "TombstonesContract",
]


class RecordContract(
    AccessContract,
    AdoptionContract,
    CertificatesContract,
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
    ResolutionContract,
    StagingContract,
    SynonymsContract,
    TombstonesContract,
):
    """Everything that a record does."""
