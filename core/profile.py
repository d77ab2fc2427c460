"""A profile: one value for every threshold and setting of a recipe, each scored threshold tied to its score space.

File format (TOML)::

    name = "mine"
    about = "What it is for."
    base = "seed"                                   # values left out come from there; default "seed"
    [brain.floor]
    min_score = { value = 0.41, space = "tfidf+cosine/minilm-l6-int8" }
    [brain.mmr]
    lambda = 0.8

A threshold that is compared with a score must name its space; ``family/*`` binds to whichever model runs and is said
in the Trace. Unknown keys and values out of range are refused. A learned gate is a table of its own,
``[brain.learned_gate]``: see ``core.gate.stored``.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from importlib import resources
from math import isfinite
from pathlib import Path
from typing import Any

from core.bounded import MAX_SETTINGS, read_whole
from core.errors import NotFoundError, ProfileError, ScoreSpaceError
from core.gate import stored
from core.gate.model import LearnedGate
from core.thresholds import BY_NAME, Setting, Threshold, for_recipe
from core.trace import RECIPES, Recipe

Value = float | int | str
_PROBABILITY = "gate.min_probability"


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """Values by name, and for each scored threshold the space its number belongs to. ``origin`` says how it was made."""

    name: str
    recipe: Recipe
    values: Mapping[str, Value]
    spaces: Mapping[str, str]
    about: str = ""
    origin: Mapping[str, Any] = field(default_factory=dict)
    learned_gate: LearnedGate | None = None

    def number(self, name: str) -> float:
        """The value of a threshold."""
        return float(self.values[name])

    def count(self, name: str) -> int:
        """The value of an integer threshold."""
        return int(self.values[name])

    def choice(self, name: str) -> str:
        """The value of a setting."""
        return str(self.values[name])

    @property
    def fingerprint(self) -> str:
        """16 hex digits over recipe, values, spaces and learned gate: equal fingerprints decide alike."""
        parts = [self.recipe, sorted(self.values.items()), sorted(self.spaces.items())]
        body = json.dumps([*parts, self.learned_gate.digest] if self.learned_gate else parts)
        return sha256(body.encode()).hexdigest()[:16]

    def with_values(self, changes: Mapping[str, Value], *, name: str | None = None) -> Profile:
        """A copy with some values changed (checked); spaces stay."""
        checked = {
            key: _checked(key, value, self.recipe, f"profile {self.name}") for key, value in changes.items()
        }
        return replace(self, values={**self.values, **checked}, name=name or self.name)

    def bind(self, active: Mapping[str, str]) -> list[str]:
        """Checks every scored threshold against the spaces that will really be scored (family → full name).

        A cut at the lowest value of its range drops nothing in any space and is not checked.

        Returns a notice for each wildcard that was bound. A family absent from ``active`` is not scored in this run.

        Raises:
            ScoreSpaceError: a number belongs to another space.
        """
        notices = []
        if self.learned_gate is not None:
            self.learned_gate.check(active, self.name)
        for name, declared in self.spaces.items():
            family = _family(BY_NAME[name])
            actual = active.get(family)
            if actual is None or declared == actual or self._drops_nothing(name):
                continue
            if declared in (f"{family}/*", f"{actual.split('/')[0]}/*"):
                notices.append(f"{name} = {self.values[name]} names no model; it is read in {actual}.")
                continue
            raise ScoreSpaceError(
                f"profile {self.name!r}: {name} = {self.values[name]} was set in score space {declared!r}, but this run "
                f"scores in {actual!r}, where the same number means something else. Use the model it was tuned with, or "
                f"tune it again in {actual!r}: run `assay tune --dataset {self.origin.get('dataset', 'NAME')} --recipe "
                f"{self.recipe} --profile seed --out FILE.toml` with the model of this run."
            )
        return notices

    def _drops_nothing(self, name: str) -> bool:
        knob = BY_NAME[name]
        if not isinstance(knob, Threshold) or knob.direction != "higher drops more":
            return False
        return self.values[name] == knob.low


def load(name_or_path: str | Path, recipe: Recipe) -> Profile:
    """A shipped profile by name, or a TOML file by path, for one recipe.

    Raises:
        NotFoundError: no such profile. ProfileError: malformed; the message names file and key.
    """
    return _parse(_text(name_or_path), str(name_or_path), recipe, seen=())


def shipped() -> tuple[str, ...]:
    """Names of the shipped profiles, sorted."""
    return tuple(
        sorted(
            entry.name.removesuffix(".toml") for entry in _folder().iterdir() if entry.name.endswith(".toml")
        )
    )


def to_toml(profile: Profile) -> str:
    """The profile as a complete file that ``load`` reads back to equal values and spaces."""
    lines = [f"name = {json.dumps(profile.name)}", f"about = {json.dumps(profile.about)}", ""]
    if profile.origin:
        lines += [
            f"[{profile.recipe}.origin]",
            *(f"{json.dumps(k)} = {json.dumps(v)}" for k, v in profile.origin.items()),
            "",
        ]
    groups: dict[str, list[str]] = {}
    for name, value in profile.values.items():
        group, key = name.split(".", 1)
        text = json.dumps(value)
        if name in profile.spaces:
            text = f"{{ value = {text}, space = {json.dumps(profile.spaces[name])} }}"
        groups.setdefault(group, []).append(f"{key} = {text}")
    for group, rows in groups.items():
        lines += [f"[{profile.recipe}.{group}]", *rows, ""]
    if profile.learned_gate is not None:
        lines += stored.to_lines(profile.learned_gate)
    return "\n".join(lines)


def _folder() -> Any:
    return resources.files("core") / "profiles"


def _find(name_or_path: str | Path) -> Any:
    entry = _folder() / f"{name_or_path}.toml"
    if "/" not in str(name_or_path) and entry.is_file():
        return entry
    path = Path(name_or_path)
    if path.is_file():
        return path
    raise NotFoundError(
        f"no profile {str(name_or_path)!r}: shipped are {', '.join(shipped())}; a file is given by its path"
    )


def _text(name_or_path: str | Path) -> str:
    path = _find(name_or_path)
    try:
        return read_whole(path, MAX_SETTINGS).decode("utf-8")
    except UnicodeDecodeError as error:
        raise ProfileError(
            f"profile {name_or_path}: not UTF-8 at byte {error.start + 1}; save it as UTF-8"
        ) from error
    except OSError as error:
        raise ProfileError(f"profile {name_or_path}: cannot be read: {error.strerror}") from error


def _document(text: str, where: str) -> dict[str, Any]:
    """What the TOML says; a number too long or tables too deep to be read are as wrong as bad syntax."""
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise ProfileError(f"profile {where}: not valid TOML: {error}") from error


def _parse(text: str, where: str, recipe: Recipe, seen: tuple[str, ...]) -> Profile:
    document = _document(text, where)
    _refuse_unknown(document, {"name", "about", "base", *RECIPES}, where)
    base_name = str(document.get("base", "" if document.get("name") == "seed" else "seed"))
    if base_name in seen:
        raise ProfileError(f"profile {where}: base = {base_name!r} leads back to itself")
    values: dict[str, Value] = {}
    spaces: dict[str, str] = {}
    gate: LearnedGate | None = None
    if base_name:
        base = _parse(_text(base_name), base_name, recipe, (*seen, where))
        values, spaces, gate = dict(base.values), dict(base.spaces), base.learned_gate
    section = document.get(recipe, {})
    if not isinstance(section, dict):
        raise ProfileError(f"profile {where}: [{recipe}] must be a table, got {section!r}")
    origin = _origin(section.get("origin", {}), recipe, where)
    if stored.KEY in section:
        gate = stored.parse(section[stored.KEY], recipe, where)
    knobs = {key: value for key, value in section.items() if key not in ("origin", stored.KEY)}
    for name, raw in _flatten(knobs, where):
        values[name], space = _value_and_space(name, raw, recipe, where)
        if space:
            spaces[name] = space
    missing = [knob.name for knob in for_recipe(recipe) if knob.name not in values]
    if missing:
        raise ProfileError(f"profile {where}: [{recipe}] lacks {', '.join(missing)}")
    ordered = {knob.name: values[knob.name] for knob in for_recipe(recipe)}
    if gate is None and ordered[_PROBABILITY] != 0:
        raise ProfileError(
            f"profile {where}: {_PROBABILITY} = {ordered[_PROBABILITY]} needs a learned gate, and "
            f"[{recipe}.{stored.KEY}] is not there; train one with `assay tune --gate`, or set it to 0"
        )
    return Profile(
        name=str(document.get("name", where)),
        recipe=recipe,
        values=ordered,
        spaces=spaces,
        about=str(document.get("about", "")),
        origin=origin,
        learned_gate=gate,
    )


def _origin(origin: Any, recipe: Recipe, where: str) -> dict[str, Any]:
    """How the profile was made: a table of plain values, which ``to_toml`` writes back."""
    if not isinstance(origin, dict):
        raise ProfileError(f"profile {where}: [{recipe}.origin] must be a table, got {origin!r}")
    for key, value in origin.items():
        if not isinstance(value, str | int | float) or (isinstance(value, float) and not isfinite(value)):
            raise ProfileError(
                f"profile {where}: [{recipe}.origin] {key} must be a text, a finite number, true or false, got {value!r}"
            )
    return origin


def _flatten(section: Mapping[str, Any], where: str) -> Iterable[tuple[str, Any]]:
    for group, rows in section.items():
        if not isinstance(rows, dict):
            raise ProfileError(
                f"profile {where}: unknown key {group!r}; thresholds stand in tables such as [brain.floor]"
            )
        for key, raw in rows.items():
            yield f"{group}.{key}", raw


def _value_and_space(name: str, raw: Any, recipe: Recipe, where: str) -> tuple[Value, str | None]:
    knob = BY_NAME.get(name)
    if knob is None or recipe not in knob.recipes:
        known = ", ".join(knob.name for knob in for_recipe(recipe))
        raise ProfileError(f"profile {where}: unknown key {name!r} for recipe {recipe}; known are {known}")
    if isinstance(raw, dict):
        _refuse_unknown(raw, {"value", "space"}, f"{where}, {name}")
        return _checked(name, raw.get("value"), recipe, f"profile {where}"), _checked_space(
            knob, raw.get("space"), where
        )
    return _checked(name, raw, recipe, f"profile {where}"), _checked_space(knob, None, where)


def _checked_space(knob: Threshold | Setting, space: Any, where: str) -> str | None:
    family = _family(knob)
    if not family:
        if space is not None:
            raise ProfileError(
                f"profile {where}: {knob.name} is compared with no score, so it has no space ({space!r})"
            )
        return None
    if family == "rerank" and isinstance(space, str) and space:
        return space
    if not isinstance(space, str) or space.split("/")[0] != family:
        raise ProfileError(
            f"profile {where}: {knob.name} must name its score space, "
            f'e.g. {{ value = …, space = "{family}/…" }}, got {space!r}'
        )
    return space


def _family(knob: Threshold | Setting) -> str:
    return (knob.space or "") if isinstance(knob, Threshold) else ""


def _checked(name: str, value: Any, recipe: Recipe, where: str) -> Value:
    knob = BY_NAME.get(name)
    if knob is None or recipe not in knob.recipes:
        raise ProfileError(f"{where}: unknown key {name!r} for recipe {recipe}")
    if isinstance(knob, Setting):
        prefixed = isinstance(value, str) and knob.open_prefix and value.startswith(knob.open_prefix)
        if value not in knob.choices and not prefixed:
            raise ProfileError(f"{where}: {name} must be one of {', '.join(knob.choices)}, got {value!r}")
        return str(value)
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not knob.low <= value <= knob.high or (knob.integer and int(value) != value):
        kind = "a whole number" if knob.integer else "a number"
        raise ProfileError(f"{where}: {name} must be {kind} in [{knob.low}, {knob.high}], got {value!r}")
    return int(value) if knob.integer else float(value)


def _refuse_unknown(table: Mapping[str, Any], known: set[str], where: str) -> None:
    unknown = sorted(set(table) - known)
    if unknown:
        raise ProfileError(
            f"profile {where}: unknown key {unknown[0]!r}; known are {', '.join(sorted(known))}"
        )
