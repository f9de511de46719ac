"""Plans as graphs of steps, and the order in which they run."""
