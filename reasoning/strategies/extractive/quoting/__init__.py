"""Which sentences and rows answer a question, how probably, and how they are quoted.

`reading` reads the hits: `asked` reads the question, `units` lists what may be quoted, and `evidence` compares both,
ranks the units, and says how probably one of them answers. `entries` finds the units of options and dated headings,
`steps` the list of a procedure, `definitions` what a term means, and `stated` the unit whose fact is asked for.
`other_parts` knows what is of another part, time or post, and `feet` what only ends a page or a letter. `writing`
writes units, `continuing` finds the sentence beside a unit that belongs to it, and `answering` chooses units and says
what they are worth.
"""
