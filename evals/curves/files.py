"""Drawings as files: pages, pictures and tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from core.errors import ModelError, UsageError
from evals.curves.drawings import Drawing
from evals.curves.drawn import CAPTIONS

Kind = Literal["html", "png", "csv", "json"]


def folder(out: Path) -> None:
    """Raises:
    UsageError: there can be no folder of that name.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{out}: no folder for curves: {error.strerror}; choose another --out") from error


def write(drawing: Drawing, out: Path, kind: Kind) -> Path:
    """One file of a drawing in the folder ``out``; a page stands alone and loads nothing.

    Raises:
        ModelError: no browser that makes a picture.
    """
    path = out / f"{drawing.stem}.{kind}"
    match kind:
        case "csv":
            drawing.table.to_csv(path, index=False)
        case "json":
            drawing.table.to_json(path, orient="records", force_ascii=False, indent=1)
        case "html":
            title = {"text": CAPTIONS[drawing.caption], "font": {"size": 12}}
            drawing.draw().update_layout(title=title).write_html(path, include_plotlyjs=True, full_html=True)
        case "png":
            _picture(drawing.draw(), path)
    return path


def _picture(figure: Any, path: Path) -> None:
    try:
        figure.update_layout(paper_bgcolor="white", plot_bgcolor="white")
        figure.write_image(path, width=1000, height=figure.layout.height or 450, scale=2)
    except Exception as error:
        said = " ".join(str(error).split())[:200]
        raise ModelError(
            f"{path}: no picture: {said}; install Chrome or Chromium, or ask for --to html"
        ) from error
