"""Fifteen families of regulations, policies and contracts with amendments, and 30 questions, each of one of two days.

All are made. Families with `held_out` were written before a result of the rules on them was read, and nothing was
chosen by them.
"""
