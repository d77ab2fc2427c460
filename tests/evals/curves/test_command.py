"""`assay curves` of recordings: what is written is what the functions give, and what has no meaning is refused."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from core.errors import RecordingError, UsageError
from core.profile import to_toml
from evals.curves import of_run
from evals.curves.of_profiles import long
from evals.curves.of_recording import RecordingCurves, together
from evals.curves_cli import CurveName, Target, curves
from evals.record import record
from evals.recording import Recording
from evals.recording_files import save
from tests.evals.curves.test_of_recording import gated
from tests.evals.replaying import meridian, seed

TABLES = [Target.csv]


@pytest.fixture(scope="module")
def folder(shipped_recording: Recording, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("curves") / "recorded"
    save(shipped_recording, out)
    return out


@pytest.fixture(scope="module")
def variants(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Recording]]:
    workspace, cases = meridian(tmp_path_factory.mktemp("variants"))
    yield {
        variant: record(workspace, cases[:30], recipe="brain", profile=seed("brain"), variant=variant)
        for variant in ("near-miss", "absent")
    }
    workspace.close()


def test_every_curve_is_written_as_asked(
    folder: Path, shipped_recording: Recording, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    curves(
        [folder], tmp_path / "out", profile="seed", split="test", pair=["floor,lambda"], points=4,
        to=[Target.csv, Target.json, Target.html],
    )  # fmt: skip
    *paths, said = capsys.readouterr().out.splitlines()
    pair = ("floor.min_score", "mmr.lambda")
    stems = {*CurveName} - {"interaction"} | {f"interaction-{'-'.join(pair)}"}
    assert {Path(path).name for path in paths} == {
        f"{stem}.{kind}" for stem in stems for kind in ("csv", "json", "html")
    }
    assert sorted(paths) == sorted(str(path) for path in (tmp_path / "out").iterdir())
    one = RecordingCurves(shipped_recording, seed("brain"), split="test")
    read = {stem: pd.read_csv(tmp_path / "out" / f"{stem}.csv") for stem in stems}
    pd.testing.assert_frame_equal(read["cuts"], one.cuts(points=4), check_dtype=False)
    pd.testing.assert_frame_equal(read["sensitivity"], one.sensitivity(points=4), check_dtype=False)
    cells = long(one.interaction(*pair, points=4), "balanced_correct")
    pd.testing.assert_frame_equal(read[f"interaction-{'-'.join(pair)}"], cells, check_dtype=False)
    np.testing.assert_allclose(read["risk-coverage"]["risk"], of_run.risk_coverage(one.rows)["risk"])
    assert len(json.loads((tmp_path / "out" / "roc.json").read_text())) == len(read["roc"])
    assert said.startswith("balanced_correct is 0.") and "not moved by" in said  # noqa: PT018 (one line is read)
    assert 'src="http' not in (tmp_path / "out" / "sensitivity.html").read_text(encoding="utf-8")


def test_the_pair_that_matters_most_is_drawn_where_none_is_named(folder: Path, tmp_path: Path) -> None:
    curves(
        [folder], tmp_path, profile="seed", figure=[CurveName.interaction], objective="ndcg@10", to=TABLES, points=3
    )  # fmt: skip
    (path,) = tmp_path.iterdir()
    table = pd.read_csv(path)
    assert path.stem == f"interaction-{table.columns[0]}-{table.columns[1]}"
    assert table["ndcg@10"].nunique() > 1


def test_both_kinds_of_unanswerable_stand_beside_the_answerable(
    variants: dict[str, Recording], tmp_path: Path
) -> None:
    for name, recording in variants.items():
        save(recording, tmp_path / name)
    wanted = [CurveName.cuts, CurveName.distributions, CurveName.roc]
    sources = [tmp_path / name for name in variants]
    curves(sources, tmp_path / "out", profile="seed", figure=wanted, points=3, to=TABLES)
    cuts, distributions, roc = (pd.read_csv(tmp_path / "out" / f"{name.value}.csv") for name in wanted)
    assert list(roc["run"].unique()) == list(variants)
    alone = {name: RecordingCurves(recording, seed("brain")) for name, recording in variants.items()}
    tables = {name: one.cuts(points=3) for name, one in alone.items()}
    pd.testing.assert_frame_equal(cuts, together(tables), check_dtype=False)
    kinds = list(cuts["kind"].unique())
    assert [kind for kind in kinds if kind.startswith(("answerable", "all"))] == [
        "answerable", "all unanswerable, near-miss", "all unanswerable, absent",
    ]  # fmt: skip
    for name, table in tables.items():
        theirs = table.loc[table["kind"] == "all unanswerable", "answered"]
        ours = cuts.loc[cuts["kind"] == f"all unanswerable, {name}", "answered"]
        assert theirs.tolist() == ours.tolist()
    per_case = distributions[distributions["kind"] == "answerable"]["case_id"]
    assert per_case.is_unique
    assert any(kind.endswith(", absent") for kind in distributions["kind"])


def test_under_a_learned_gate_only_its_own_cut_is_moved(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "gated.toml"
    file.write_text(to_toml(gated(0.5)), encoding="utf-8")
    curves([folder], tmp_path / "out", profile=str(file), to=TABLES, points=3)
    assert {path.stem for path in (tmp_path / "out").iterdir()} == {
        "risk-coverage", "roc", "cuts", "distributions",
    }  # fmt: skip
    assert set(pd.read_csv(tmp_path / "out" / "cuts.csv")["threshold"]) == {"gate.min_probability"}
    with pytest.raises(RecordingError, match="ask for --figure cuts"):
        curves([folder], tmp_path / "out", profile=str(file), figure=[CurveName.sensitivity])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pair": ["floor"]}, "name two thresholds, such as floor,mmr"),
        ({"pair": ["floor,floor.min_score"]}, r"two thresholds are needed, got 'floor\.min_score' twice"),
        ({"pair": ["floor,nothing"]}, "--pair: 'nothing' is no threshold of recipe brain"),
        ({"objective": "nothing"}, "no figure 'nothing' is replayed"),
        ({"split": "train"}, "no case of split 'train'"),
    ],
)
def test_what_cannot_be_drawn_is_refused(
    folder: Path, tmp_path: Path, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        curves([folder], tmp_path / "out", **{"profile": "seed", **options})
    assert not (tmp_path / "out").exists()


def test_runs_have_no_thresholds_to_move(
    folder: Path, tmp_path: Path, make_row: Callable[..., dict[str, Any]], write_run: Callable[..., Path]
) -> None:
    run = write_run("run", [make_row("a"), make_row("b", answerable=False, correct=False)])
    with pytest.raises(
        UsageError, match=r"--figure sensitivity is of a recording, and .*run is none; make one: assay record"
    ):
        curves([run], tmp_path / "out", figure=[CurveName.sensitivity])
    with pytest.raises(UsageError, match="--profile is of a recording"):
        curves([run], tmp_path / "out", profile="seed")
    with pytest.raises(UsageError, match="gone: no such folder; give the --out of"):
        curves([tmp_path / "gone"], tmp_path / "out", split="test")
    with pytest.raises(UsageError, match="is a recording, others are runs"):
        curves([run, folder], tmp_path / "out")
