"""The rules that every record follows, as pure functions: open these modules to learn when a revision is unchanged, a
claim fits, a job has ended or a shadow corpus may be swapped in. The stores of the record only read and write rows.
"""
