"""Which datasets a name or a pattern means."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from core.errors import NotFoundError
from core.store import Store


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("notes", ["notes"]),
        ("locomo/*", ["locomo/a", "locomo/b"]),
        ("locomo/?", ["locomo/a", "locomo/b"]),
        ("notes [old]", ["notes [old]"]),  # a name of its own, though it looks like a pattern
        ("*", ["locomo/a", "locomo/b", "notes", "notes [old]"]),
    ],
)
def test_a_pattern_means_names_and_a_name_means_itself(
    pattern: str, expected: Sequence[str], tmp_path: Path
) -> None:
    with Store.open(tmp_path / "a.db") as store:
        for name in ("notes", "locomo/b", "locomo/a", "notes [old]"):
            store.ensure_dataset(name)
        assert [found.name for found in store.matching(pattern)] == expected


@pytest.mark.parametrize("pattern", ["gone", "gone/*", "[n]ope"])
def test_nothing_that_fits_is_an_error_that_lists_what_there_is(pattern: str, tmp_path: Path) -> None:
    with Store.open(tmp_path / "a.db") as store:
        store.ensure_dataset("notes")
        with pytest.raises(NotFoundError, match="there are notes"):
            store.matching(pattern)
