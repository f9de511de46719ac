"""Connection, transactions and statements."""
