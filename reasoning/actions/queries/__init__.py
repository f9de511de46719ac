"""Actions that write search queries."""
