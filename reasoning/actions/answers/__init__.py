"""Actions that write the answer of a step, a part of a chain of thought, or the final answer."""
