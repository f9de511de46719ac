"""Actions that write an answer, or a part of one."""
