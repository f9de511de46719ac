"""Actions that write queries for searchers: keywords, entities, pseudo-documents."""
