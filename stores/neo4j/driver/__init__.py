"""Access to a Neo4j database: connection, schema, transactions, statements, and rows as values."""
