"""Parts of reasoning that several reasoners share: evidence, the review loop, self-reflection, fusion and voting."""
