"""Claims with leases, and the states of revisions and jobs in SQLite, as functions of one transaction."""
