"""Reports of experiments: scores over all rows (`aggregates`), tables for the terminal (`tables`), the Markdown page
(`pages`), JSON, and thresholds.
"""
