"""Stored text inside a prompt: fenced by tags that nothing in it can open or close."""

from __future__ import annotations

import unicodedata

_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_LOOKALIKES = {"＜": "<", "＞": ">", "﹤": "<", "﹥": ">", "＆": "&"}
_KEPT_CONTROLS = "\n\t"
_HIDDEN = ((0x202A, 0x202E), (0x2066, 0x2069), (0xE0000, 0xE007F), (0xFFF9, 0xFFFB), (0xD800, 0xDFFF))
"""Code points that turn the direction of text around, carry letters nobody sees, or are half of a character."""


def tagged(name: str, text: str) -> str:
    """``text`` between ``<name>`` and ``</name>``, escaped."""
    return f"<{name}>\n{escaped(text)}\n</{name}>"


def escaped(text: str) -> str:
    """``text`` with ``& < >`` (and what looks like them) as entities, without control, direction and hidden marks."""
    return "".join(_escaped(mark) for mark in text)


def one_line(text: str) -> str:
    """``text`` on a single line, so that it cannot begin a line of its own."""
    return " ".join(text.split())


def hanging(text: str) -> str:
    """``text`` with every line but the first indented, so that none of them looks like the start of an item."""
    return "\n  ".join(text.splitlines())


def _escaped(mark: str) -> str:
    plain = _LOOKALIKES.get(mark, mark)
    if plain in _ENTITIES:
        return _ENTITIES[plain]
    code = ord(mark)
    hidden = any(low <= code <= high for low, high in _HIDDEN)
    if hidden or (unicodedata.category(mark) == "Cc" and mark not in _KEPT_CONTROLS):
        return " "
    return mark
