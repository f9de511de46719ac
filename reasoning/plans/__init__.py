"""Plans as graphs of sub-questions: their parsing and walking, the order in which they run, and the answers so far."""
