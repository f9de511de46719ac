// Extractions that are stored before their revision is committed.

// [stage]
UNWIND $rows AS row
MERGE (x:Extraction {uid: row.uid})
SET x += row;

// [staged]
UNWIND $rows AS uid
MATCH (x:Extraction {uid: uid}) USING INDEX x:Extraction(uid)
RETURN x.document_id AS document, x.extract_hash AS hash, x.payload AS payload;
