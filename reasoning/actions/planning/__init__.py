"""Actions that plan, split or rewrite a question."""
