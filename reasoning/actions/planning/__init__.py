"""Actions that plan: they split a question, rewrite it, or find what is still missing."""
