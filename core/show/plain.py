"""Data shown as what it is: text. Whatever a document holds, none of it becomes HTML, Markdown, a link or an image."""

from __future__ import annotations

from html import escape

ELLIPSIS = "…"
_ALLOWED_CONTROLS = "\n\t"
_LOOKALIKES = str.maketrans({"<": "‹", ">": "›", "&": "＆"})
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def clean(text: str) -> str:
    """``text`` that any encoder takes: lone surrogates become ``?``, control characters but line ends ``·``."""
    sound = text.encode("utf-8", "replace").decode("utf-8").replace("\r\n", "\n")
    return "".join(
        mark if (mark >= " " and mark != "\x7f") or mark in _ALLOWED_CONTROLS else "·" for mark in sound
    )


def markup(text: str) -> str:
    """``text`` escaped for HTML, quotes included. For ``st.html`` and for Plotly, which also reads tags."""
    return escape(clean(text), quote=True)


def literal(text: str) -> str:
    """``text`` as a Markdown code span: the one place where Markdown reads nothing into it. One line."""
    line = " ".join(clean(text).split()) or " "
    longest = max((len(run) for run in _runs(line)), default=0)
    fence = "`" * (longest + 1)
    return f"{fence} {line} {fence}"


def inert(text: str) -> str:
    """``text`` for a widget that puts it into HTML unescaped and paints it on a canvas too: look-alikes instead."""
    return clean(text).translate(_LOOKALIKES)


def shortened(text: str, limit: int) -> str:
    """``text`` on one line, at most ``limit`` characters, an ellipsis where it was cut."""
    line = " ".join(clean(text[: limit * 8]).split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + ELLIPSIS


def cell(text: str) -> str:
    """``text`` for a CSV cell: one that a spreadsheet would run as a formula starts with an apostrophe."""
    sound = clean(text)
    return f"'{sound}" if sound.startswith(_FORMULA_STARTS) else sound


def score(value: float | None) -> str:
    """A score with three digits behind the point, ``–`` for None."""
    return "–" if value is None else f"{value:.3f}"


def number(value: float | int | str | None) -> str:
    """A value as people read it: whole numbers whole, others with four significant digits, ``–`` for None."""
    if value is None or isinstance(value, str):
        return value or "–"
    return f"{int(value):,}" if float(value).is_integer() and abs(value) < 1e15 else f"{value:.4g}"


def _runs(line: str) -> list[str]:
    runs, current = [], ""
    for mark in line + " ":
        if mark == "`":
            current += mark
        elif current:
            runs.append(current)
            current = ""
    return runs
