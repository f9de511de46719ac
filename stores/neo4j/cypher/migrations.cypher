// Statements that lead from a schema to the next one (STEPS in stores/neo4j/driver/schema.py).

// [mark_dated]: marks the documents whose metadata may state something on their validity
MATCH (d:Document)
WHERE d.metadata CONTAINS '"valid_' OR d.metadata CONTAINS '"supersede' OR d.metadata CONTAINS '"amend'
SET d.dated = true;
