"""Class tables to test with: a small one, and a hypothesis strategy for any."""

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from zslearn.signatures import Signatures

DIMENSIONS = ("stripes", "tail", "swims")

# Everything a file can hold: no NUL, no lone surrogates.
awkward_text = st.text(st.characters(blacklist_categories=("Cs",), blacklist_characters="\0"))
short_text = st.one_of(
    awkward_text.filter(lambda text: len(text) < 12),
    st.sampled_from(
        ["a,b", 'say "hi"', "two\nlines", "cr\rhere", "crlf\r\n", "émeu", "象", " pad ", "#"]
    ),
)
class_names = st.one_of(
    st.lists(short_text, min_size=1, max_size=6, unique=True),
    st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=6, unique=True),
)
few_times = settings(max_examples=60, deadline=None)
with_folder = settings(few_times, suppress_health_check=[HealthCheck.function_scoped_fixture])


def in_csv(table):
    """Say whether CSV can hold a table: blanks around names and other capitals are lost in it."""
    names, columns = list(map(str, table.names)), list(table.dimensions)
    folded = {" ".join(name.split()).casefold() for name in names}
    stripped = [text.strip() for text in (*names, *columns)]
    return stripped == [*names, *columns] and all(stripped) and len(folded) == len(names)


@st.composite
def tables(draw, names=class_names, bound=None):
    """Any class table; `bound` keeps the numbers where quotients do not overflow."""
    chosen = draw(names)
    columns = draw(st.lists(short_text, min_size=1, max_size=5, unique=True))
    numbers = st.floats(allow_nan=False, allow_infinity=False)
    if bound is not None:
        numbers = st.floats(-bound, bound)
    vectors = draw(hnp.arrays(np.float64, (len(chosen), len(columns)), elements=numbers))
    return Signatures(chosen, vectors, columns)


def make_animals():
    """Three classes whose tails are alike in the first two."""
    return Signatures(
        ["zebra", "otter", "whale"], [[1, 1, 0], [0, 1, 1], [0, 0.5, 2]], list(DIMENSIONS)
    )
