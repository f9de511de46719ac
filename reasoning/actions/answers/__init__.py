"""Actions that write an answer or a part of one: of a step, of a chain of thought, or the final one."""
