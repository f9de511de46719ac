"""Bridged ranking: the pool of `fused` ranked again by how its best passages lead to the others; no model is called."""
