// Receipts: what was answered to requests that must not be carried out twice.

// [lock]: creates and locks a receipt. One that was just created has no request
MERGE (r:Receipt {id: $id})
SET r.lock = $token
RETURN r.request AS request, r.answer AS answer, timestamp() / 1000.0 - r.at AS age;

// [reserve]
MATCH (r:Receipt {id: $id}) SET r.request = $request, r.at = timestamp() / 1000.0 REMOVE r.answer;

// [finish]
MATCH (r:Receipt {id: $id}) SET r.answer = $answer, r.at = timestamp() / 1000.0;

// [release]
MATCH (r:Receipt {id: $id}) WHERE r.answer IS NULL DELETE r;

// [delete_expired]
MATCH (r:Receipt) WHERE r.at < timestamp() / 1000.0 - $seconds
WITH r LIMIT $limit DELETE r;
