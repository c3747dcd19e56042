"""The name that somebody probably meant. A leaf."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def closest(word: str, candidates: Iterable[str], *, similarity: float = 0.6) -> str | None:
    """The candidate most like `word`, or None when none is alike; case, `-` and `_` do not count as differences.

    `similarity` is difflib's ratio, from 0 (anything) to 1 (equal). Among equals the first in alphabetical
    order wins, so that the answer does not depend on the order of `candidates`.
    """
    folded: dict[str, str] = {}
    for candidate in sorted(candidates):
        folded.setdefault(_fold(candidate), candidate)
    wanted = _fold(word)
    if wanted in folded:
        return folded[wanted]
    found = difflib.get_close_matches(wanted, sorted(folded), n=1, cutoff=similarity)
    return folded[found[0]] if found else None


def _fold(name: str) -> str:
    return name.casefold().replace("-", "_")
