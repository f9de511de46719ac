"""Questions over periods, answered by code: a value of each report, or of each period of a table, and the change.

`rows` finds the rows that the question says, `units` what their numbers are in, `choice` the row and the values that
are taken, and `series` chooses the documents and writes the answer.
"""
