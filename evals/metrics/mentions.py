"""Numbers, names and months that a text mentions, in one form whoever writes them."""

from __future__ import annotations

import re
import unicodedata

from core.text import STOP_WORDS, normalize, stem, words

_NUMBER = re.compile(r"\d+(?:,\d{3})+|\d+")
_ISO_DATE = re.compile(r"\b\d{4}-(\d\d)-\d\d\b")
_WORD = re.compile(r"\w+(?:['’]\w+)*")
_MONTHS = """january february march april may june july august september october november december""".split()
_ONES = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
    seventeen eighteen nineteen""".split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth".split()
_CARDINAL = {word: str(value) for value, word in enumerate(_ONES)} | {
    word: str(10 * tens) for tens, word in enumerate(_TENS, start=2)
}
_ORDINAL = {word: str(value) for value, word in enumerate(_ORDINALS, start=1)}


def numbers(text: str, *, ordinals: bool = False) -> frozenset[str]:
    """Whole numbers in digits, without leading zeros and thousands' commas, and the single number words up to ninety.

    ``ordinals``: first to twelfth too, which a text may write where a sentence has the digit.
    """
    plain = normalize(text)
    digits = {match.replace(",", "").lstrip("0") or "0" for match in _NUMBER.findall(plain)}
    spelled = _CARDINAL | _ORDINAL if ordinals else _CARDINAL
    return frozenset(digits.union(spelled[word] for word in words(plain) if word in spelled))


def names(text: str) -> frozenset[str]:
    """Stems of the words written with a capital, stop words aside; the first word of a sentence is among them."""
    spoken = _WORD.findall(unicodedata.normalize("NFKC", text))
    capital = (normalize(word).replace("’", "'") for word in spoken if word[0].isupper())
    return frozenset(stem(word.removesuffix("'s")) for word in capital if word not in STOP_WORDS)


def months(text: str) -> frozenset[str]:
    """Stems of the months that dates like 2024-03-01 mean, for texts that spell them."""
    return frozenset(
        stem(_MONTHS[int(month) - 1]) for month in _ISO_DATE.findall(text) if 1 <= int(month) <= 12
    )
