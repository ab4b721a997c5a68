"""The semantic spaces that lie side by side in a class table."""

from __future__ import annotations

from collections.abc import Mapping

from zslearn.exceptions import InvalidInputError
from zslearn.signatures.checks import check_text, listed


def checked_blocks(blocks: Mapping[str, slice] | None, n_dimensions: int) -> dict[str, slice]:
    """Return blocks that cover the dimensions from left to right."""
    if blocks is None:
        return {"semantics": slice(0, n_dimensions)}
    check_text(list(blocks), "block name")
    checked, position = {}, 0
    for name, block in blocks.items():
        start, stop, step = block.indices(n_dimensions)
        if step != 1 or start != position or stop <= start or (block.stop or 0) > n_dimensions:
            break
        checked[name], position = slice(start, stop), stop
    if position != n_dimensions or len(checked) != len(blocks):
        raise InvalidInputError(
            f"blocks must cover the {n_dimensions} dimensions from left to right without gaps; "
            f"got {dict(blocks)}."
        )
    return checked


def block_names(
    first: Mapping[str, slice], second: Mapping[str, slice], names: tuple[str, str]
) -> list[str]:
    """Name the blocks of two tables side by side; one with several blocks keeps its names."""
    mine = list(first) if len(first) > 1 else [names[0]]
    other = list(second) if len(second) > 1 else [names[1]]
    both = set(mine) & set(other)
    if both:
        raise InvalidInputError(
            f"Both tables would have a block {listed(both)}. Pass names=, two different names."
        )
    return [*mine, *other]


def side_by_side(first: Mapping[str, slice], second: Mapping[str, slice]) -> list[slice]:
    """Return the columns of all blocks once the second table is placed right of the first."""
    width = max(block.stop for block in first.values())
    moved = [slice(block.start + width, block.stop + width) for block in second.values()]
    return [*first.values(), *moved]


def distinct_dimensions(
    first: tuple[str, ...], second: tuple[str, ...], blocks: Mapping[str, slice]
) -> list[str]:
    """Put the name of its block before every dimension that both tables have."""
    every, shared = first + second, set(first) & set(second)
    return [
        f"{name}: {dimension}" if dimension in shared else dimension
        for name, columns in blocks.items()
        for dimension in every[columns]
    ]
