"""Reading for a small model: what code can do before and after its call.

`windows` shortens passages to the sentences that matter, `candidates` lists the values that can answer a question,
`evidence` finds the passages that an answer stands on, and says whether they lead from the question to it.
"""
