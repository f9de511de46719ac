"""The commit of revisions in SQLite, as functions of one transaction."""
