"""What a call to a chat model costs, from a table of prices that anyone can correct: ``prices.toml``."""

from __future__ import annotations

import os
import re
import tomllib
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from core.errors import DataError
from core.models.chat import Usage

VARIABLE = "ASSAY_PRICES"
MILLION = 1_000_000
Dollars = Annotated[float, Field(ge=0, allow_inf_nan=False)]
_DATE = re.compile(r"-(\d{8}|\d{4}-\d{2}-\d{2})$")


class Above(BaseModel):
    """The price of a call whose prompt has more than ``tokens`` tokens."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    tokens: Annotated[int, Field(ge=1)]
    input: Dollars
    output: Dollars


class Price(BaseModel):
    """US dollars per million tokens; output includes thinking."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    input: Dollars
    output: Dollars
    above: Above | None = None


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    as_of: Annotated[str, Field(pattern=r"^\d{4}-\d{2}-\d{2}$")]
    models: dict[str, Price]


def cost(model: str, usage: Usage) -> float | None:
    """US dollars of one call, unrounded; None where the table does not know the model.

    Raises:
        DataError: the file that ``ASSAY_PRICES`` names cannot be read or is malformed.
    """
    price = price_of(model)
    if price is None:
        return None
    long = price.above is not None and usage.input_tokens > price.above.tokens
    rates = price.above if long and price.above else price
    return (usage.input_tokens * rates.input + usage.output_tokens * rates.output) / MILLION


def price_of(model: str) -> Price | None:
    """The price of a model, or of the model of which it is a dated version; None where neither is known.

    Raises:
        DataError: as ``cost`` does.
    """
    prices = {**_shipped().models, **_own(os.environ.get(VARIABLE, "").strip())}
    return prices.get(model) or prices.get(_DATE.sub("", model))


def as_of() -> str:
    """The day (``YYYY-MM-DD``) on which the shipped prices were looked up."""
    return _shipped().as_of


@lru_cache(1)
def _shipped() -> _Table:
    return _parsed(files("core.models").joinpath("prices.toml").read_text("utf-8"), "prices.toml")


def _own(name: str) -> dict[str, Price]:
    """The prices of the file of that name, read again whenever it was written; none for ""."""
    if not name:
        return {}
    try:
        return _read(name, Path(name).stat().st_mtime_ns)
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise DataError(f"{name}: cannot be read: {why}; correct {VARIABLE} or unset it") from error


@lru_cache(4)
def _read(name: str, _written: int) -> dict[str, Price]:
    return _parsed(Path(name).read_text("utf-8"), name).models


def _parsed(text: str, where: str) -> _Table:
    try:
        return _Table.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise DataError(f"{where}: not TOML: {error}") from None
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        raise DataError(f"{where}: {field}: {first['msg']}") from None
