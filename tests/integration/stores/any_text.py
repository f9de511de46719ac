"""Any text and any query of a text index, for property tests: syntax of query languages, scripts, and operators."""

from hypothesis import strategies as st

from core.text.query import Clause, Group, Phrase, Term, TextQuery

__all__ = ["NASTY", "QUERIES", "WORDS"]

NASTY = st.text(
    alphabet=st.one_of(
        st.characters(),
        st.sampled_from("\"'\\()[]{}^~*?:+-!&|/<>=` \n\taΑ日한हि\u0301\u200d._0"),
        st.sampled_from("ANDORTI"),
    ),
    max_size=30,
)
BOOST = st.floats(min_value=0, max_value=1000)
LEAF = st.one_of(
    st.builds(Term, text=NASTY, boost=BOOST), st.builds(Phrase, text=NASTY, slop=st.integers(0, 5), boost=BOOST)
)
CLAUSE: st.SearchStrategy[Clause] = st.recursive(
    LEAF, lambda inner: st.builds(Group, any=st.lists(inner, max_size=3).map(tuple), boost=BOOST), max_leaves=6
)
CLAUSES = st.lists(CLAUSE, max_size=4).map(tuple)
QUERIES = st.builds(TextQuery, should=CLAUSES, must=CLAUSES, must_not=CLAUSES)
WORDS = st.sampled_from(["alpha", "日本", "हिन्दी", "น้ำ", "it's", "C#"])
