// Keys of the HTTP server, and what those with limits have used in a minute.

// [create]
CREATE (:ApiKey {id: $id, content: $content, created_at: $created_at});

// [all]
MATCH (k:ApiKey)
RETURN k.id AS id, k.content AS content, k.created_at AS created_at, k.revoked_at AS revoked_at
ORDER BY created_at, id;

// [one]
MATCH (k:ApiKey {id: $id})
RETURN k.id AS id, k.content AS content, k.created_at AS created_at, k.revoked_at AS revoked_at;

// [revoke]
MATCH (k:ApiKey {id: $id})
SET k.revoked_at = coalesce(k.revoked_at, timestamp() / 1000.0);

// [delete]
MATCH (k:ApiKey {id: $id}) DELETE k;

// [delete_usage]
MATCH (u:ApiKeyUsage) WHERE u.uid STARTS WITH $id + ':' DELETE u;

// [delete_old]
MATCH (u:ApiKeyUsage) WHERE u.uid IS NOT NULL AND u.minute < $minute DELETE u;

// [add]
UNWIND $rows AS row
MERGE (u:ApiKeyUsage {uid: row.id + ':' + toString($minute)})
ON CREATE SET u.minute = $minute, u.requests = 0, u.tokens = 0, u.ingest_bytes = 0
SET u.requests = u.requests + row.requests, u.tokens = u.tokens + row.tokens,
    u.ingest_bytes = u.ingest_bytes + row.ingest_bytes
RETURN row.id AS id, u.requests AS requests, u.tokens AS tokens, u.ingest_bytes AS ingest_bytes;
