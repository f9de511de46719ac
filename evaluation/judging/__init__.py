"""Judging of answers by a language model, without gold answers, and of what each depth of a plan contributes.

Relevance and faithfulness follow Omni-RAG (SIGIR 2025 LiveRAG), information gain follows Plan*RAG (arXiv 2410.20753);
the prompts are our own.
"""

from evaluation.judging.judge import Judge, JudgementRow, ReferenceFrom, aggregate_judgements, require_judge_models

__all__ = ["Judge", "JudgementRow", "ReferenceFrom", "aggregate_judgements", "require_judge_models"]
