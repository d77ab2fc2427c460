"""Names of places made comparable: without case, accents and punctuation."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

_MARKS = re.compile("[\u0300-\u036f.'’‘ʻʼʿʾ`´]+")
"""Latin, Greek and Cyrillic accents (the vowel signs of other scripts stay), points and apostrophes."""
SIGNS = "\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0900-\u109f\u1780-\u17ff\u1a00-\u1aff"
"""Blocks whose vowel signs are parts of words, though ``\\w`` leaves them out (Hebrew, Arabic, Indic and others)."""
_BETWEEN = re.compile(rf"(?:[^\w\n{SIGNS}]|_)+")
_LETTERS = {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i", "æ": "ae", "œ": "oe"}


def fold(name: str) -> str:
    """``name`` in NFKC, without case and accents, words parted by one blank; empty where no letter is left.

    Equal are ``St. Louis`` and ``st louis``, ``São Paulo`` and ``SAO PAULO``, ``Xi'an`` and ``Xian``.
    """
    return fold_all([name.replace("\n", " ")])[0]


def fold_all(names: Sequence[str]) -> list[str]:
    """``fold`` of each, in one pass over all of them; a name must not hold a line break."""
    text = unicodedata.normalize("NFKD", "\n".join(names))
    text = _MARKS.sub("", text).casefold()
    for letter, plain in _LETTERS.items():
        text = text.replace(letter, plain)
    text = unicodedata.normalize("NFC", _BETWEEN.sub(" ", text))
    return [line.strip() for line in text.split("\n")]
