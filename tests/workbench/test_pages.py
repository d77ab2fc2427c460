"""Runs, Cases, Data and Model calls over a small real database and real runs, driven without a browser."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest
from typer.testing import CliRunner

from core.store import Store
from core.store.labels import Label
from tests.workbench.conftest import ANSWERABLE, HOSTILE_DATASET
from workbench.cli import assay
from workbench.jobs import jobs
from workbench.views import calls, cases, datasets, runs

SCRIPT = "from workbench.views import {0}\n{0}.page()\n"
PAGES = {"runs": runs, "cases": cases, "datasets": datasets, "calls": calls}


@pytest.fixture
def show(monkeypatch: pytest.MonkeyPatch, nothing_shipped: None, tmp_path: Path) -> Callable[..., AppTest]:
    """``show("runs", db, **query)`` runs one page; evaluations lie in ``tmp_path / "out"``."""

    def run(name: str, db: Path, **query: str) -> AppTest:
        monkeypatch.setenv("ASSAY_DB", str(db))
        monkeypatch.setenv("ASSAY_RUNS", str(tmp_path / "out"))
        page = AppTest.from_string(SCRIPT.format(name), default_timeout=60)
        for key, value in query.items():
            page.query_params[key] = value
        page.run()
        assert not page.exception, page.exception
        return page

    return run


@pytest.fixture
def evaluated(database: Callable[..., Path], tmp_path: Path) -> Path:
    """A database whose labelled questions were evaluated twice: ``out/seed`` and ``out/default``."""
    db = database(hostile=True)
    for profile in ("seed", "default"):
        command = ["eval", "--dataset", "meridian", "--profile", profile, "--db", str(db)]
        result = CliRunner().invoke(assay, [*command, "--out", str(tmp_path / "out" / profile)])
        assert result.exit_code == 0, result.output
    return db


def said(page: AppTest) -> str:
    """Everything that is written on the page, as it is given to the browser."""
    kinds = (
        page.markdown,
        page.caption,
        page.info,
        page.warning,
        page.error,
        page.success,
        page.code,
        page.subheader,
    )
    return "\n".join(str(element.value) for kind in kinds for element in kind)


@pytest.mark.parametrize("name", list(PAGES))
def test_an_empty_database_says_what_to_do(name: str, show: Callable[..., AppTest], tmp_path: Path) -> None:
    page = show(name, tmp_path / "empty.db")
    assert "assay " in "".join(code.value for code in page.code)


def test_a_run_shows_its_figures_and_cases(evaluated: Path, show: Callable[..., AppTest]) -> None:
    page = show("runs", evaluated, run="seed")
    assert [cell.value for cell in page.metric][:2] == ["2", "0"]
    assert len(page.get("plotly_chart")) == 2
    listed = page.dataframe[0].value
    assert set(listed["case_id"]) == {"c1", "c2"}
    assert ANSWERABLE in set(listed["question"])


def test_failing_kinds_stand_first(evaluated: Path, show: Callable[..., AppTest]) -> None:
    from evals.show.run_frames import OUTCOMES

    listed = show("runs", evaluated, run="seed").dataframe[0].value
    places = [OUTCOMES.index(name) for name in listed["outcome"]]
    assert places == sorted(places)


def test_a_link_to_a_case_opens_it_with_the_way_to_its_trace(
    evaluated: Path, show: Callable[..., AppTest]
) -> None:
    page = show("runs", evaluated, run="seed", case="c1")
    assert page.query_params["case"] == ["c1"] or page.query_params["case"] == "c1"
    (link,) = page.get("link_button")
    assert link.proto.url.startswith("./?dataset=meridian&recipe=brain&profile=seed&q=Why+did")


def test_two_runs_are_compared(evaluated: Path, show: Callable[..., AppTest]) -> None:
    page = show("runs", evaluated, run="default", against="seed", figure="correct")
    key = next(key for key in jobs()._jobs if key.startswith("compare:"))
    jobs().get(key).wait(60)  # type: ignore[union-attr]
    page.run()
    assert not page.exception
    assert [cell.label for cell in page.metric] == [
        "Better",
        "Worse",
        "Changed, neither better",
        "Not distinguishable",
    ]
    assert sum(int(cell.value) for cell in page.metric) > 0
    assert "profile: seed → default" in said(page)


def test_a_damaged_run_is_an_error_with_its_line(
    evaluated: Path, show: Callable[..., AppTest], tmp_path: Path
) -> None:
    rows = tmp_path / "out" / "seed" / "rows.jsonl"
    rows.write_text(rows.read_text().splitlines()[0] + "\n{cut", encoding="utf-8")
    page = show("runs", evaluated, run="seed")
    assert "rows.jsonl:2" in page.error[0].value


def test_a_link_to_what_is_gone_says_so(evaluated: Path, show: Callable[..., AppTest]) -> None:
    page = show("runs", evaluated, run="<b>gone</b>")
    assert "` <b>gone</b> `" in page.warning[0].value


def label_case(page: AppTest, verdict: str, labeller: str) -> AppTest:
    page.text_input(key="cases:labeller").set_value(labeller)
    next(radio for radio in page.radio).set_value(verdict)
    next(button for button in page.button if button.label == "Save label").click().run()
    assert not page.exception, page.exception
    return page


def test_label_is_committed_before_it_is_acknowledged(evaluated: Path, show: Callable[..., AppTest]) -> None:
    page = label_case(show("cases", evaluated, dataset="meridian", run="seed", case="c1"), "correct", "Ada")
    assert "Saved at" in page.success[0].value
    with Store.open(evaluated) as store:
        (kept,) = store.labels.latest([store.dataset("meridian").dataset_id])
    assert (kept.case_id, kept.labeller, kept.verdict, kept.question) == ("c1", "Ada", "correct", ANSWERABLE)
    assert kept.citations[0].source == "log"


def test_a_label_without_a_name_or_a_verdict_is_not_saved(
    evaluated: Path, show: Callable[..., AppTest]
) -> None:
    page = show("cases", evaluated, dataset="meridian", run="seed", case="c1")
    next(button for button in page.button if button.label == "Save label").click().run()
    assert "nothing was saved" in page.error[0].value
    with Store.open(evaluated) as store:
        assert store.labels.latest([store.dataset("meridian").dataset_id]) == []


def test_two_labellers_and_their_agreement(evaluated: Path, show: Callable[..., AppTest]) -> None:
    with Store.open(evaluated) as store:
        dataset_id = store.dataset("meridian").dataset_id
        for case_id, labeller, verdict in [
            ("c1", "Ada", "correct"),
            ("c1", "Ben", "correct"),
            ("c2", "Ada", "wrong"),
            ("c2", "Ben", "should-abstain"),
        ]:
            store.labels.add(
                dataset_id, Label(case_id=case_id, labeller=labeller, verdict=verdict, question="?")
            )  # type: ignore[arg-type]
    page = show("cases", evaluated, dataset="meridian")
    table = page.dataframe[-1].value
    assert table.to_dict("records") == [
        {
            "first": "Ada",
            "second": "Ben",
            "cases": 2,
            "alike": 0.5,
            "by chance": 0.25,
            "kappa": pytest.approx(1 / 3),
        }
    ]
    assert "Left out" in said(page)  # c2 is disputed


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        ({"search": "chess"}, ["c2"]),
        ({"kind": "answerable"}, ["c1"]),
        ({"search": "nothing like it"}, []),
        ({"labels": "not labelled"}, ["c1", "c2"]),
        ({"labels": "labelled"}, []),
    ],
)
def test_cases_are_searched_and_filtered_by_link(
    evaluated: Path, show: Callable[..., AppTest], query: dict[str, str], ids: list[str]
) -> None:
    page = show("cases", evaluated, dataset="meridian", run="(no run)", **query)
    assert [row for table in page.dataframe[:1] for row in table.value["case_id"]] == ids


def test_read_only_offers_nothing_that_changes(
    evaluated: Path, show: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_READ_ONLY", "1")
    page = show("cases", evaluated, dataset="meridian", run="seed", case="c1")
    assert "Save label" not in {button.label for button in page.button}
    assert "Shared read-only" in said(page)
    page = show("datasets", evaluated, dataset="meridian", section="Delete")
    assert not page.get("file_uploader")
    assert not [button for button in page.button if "Delete" in button.label]


@pytest.mark.parametrize("section", ["What it holds", "Health", "Embed", "Export", "Delete"])
@pytest.mark.parametrize("name", ["meridian", HOSTILE_DATASET])
def test_every_section_of_data_is_drawn(
    evaluated: Path, show: Callable[..., AppTest], section: str, name: str
) -> None:
    page = show("datasets", evaluated, dataset=name, section=section)
    assert page.selectbox(key="data:dataset").value == name
    assert page.query_params["section"] in (section, [section])


def test_a_data_set_is_deleted_only_by_its_typed_name(evaluated: Path, show: Callable[..., AppTest]) -> None:
    page = show("datasets", evaluated, dataset=HOSTILE_DATASET, section="Delete")
    delete = page.button(key="data:delete")
    assert delete.disabled
    next(box for box in page.text_input if box.label.startswith("Type the name")).set_value(
        HOSTILE_DATASET
    ).run()
    page.button(key="data:delete").click().run()
    assert not page.exception
    with Store.open(evaluated) as store:
        assert [found.name for found in store.datasets()] == ["meridian"]


def test_embedding_runs_beside_the_page(evaluated: Path, show: Callable[..., AppTest]) -> None:
    page = show("datasets", evaluated, dataset=HOSTILE_DATASET, section="Embed")
    page.button(key="data:embed").click().run()
    with Store.open(evaluated) as store:
        job = jobs().get(f"embed:{store.dataset(HOSTILE_DATASET).uid}")
    assert job is not None
    job.wait(60)
    page.run()
    assert "texts embedded" in page.success[0].value


def test_a_bad_file_is_shown_by_line_and_the_rest_brought_in(
    evaluated: Path, show: Callable[..., AppTest], tmp_path: Path
) -> None:
    good = {"kind": "node", "level": "L0", "text": "Pumps fail in frost.", "source": "log", "turn": "1"}
    file = tmp_path / "notes.jsonl"
    file.write_text(json.dumps(good) + '\n{"kind": "node"\n{"kind": "<script>"}\n', encoding="utf-8")
    page = show("datasets", evaluated)
    page.segmented_control(key="bring:way").set_value("Path on this machine").run()
    page.text_input(key="bring:path").set_value(str(file))
    page.text_input(key="bring:name").set_value("pumps").run()
    table = page.dataframe[0].value
    assert table["where"].tolist() == ["notes.jsonl:2", "notes.jsonl:3"]
    assert "'<script>'" in table["what"][1]
    page.button(key="bring:go").click().run()
    job = jobs().get("bring")
    assert job is not None
    job.wait(60)
    assert job.state == "done", job.said
    assert "1 node" in job.said
    assert "2 problems left out" in job.said
    jobs().forget("bring")


def test_a_path_that_is_not_there_is_an_error(evaluated: Path, show: Callable[..., AppTest]) -> None:
    page = show("datasets", evaluated)
    page.segmented_control(key="bring:way").set_value("Path on this machine").run()
    page.text_input(key="bring:path").set_value("/nowhere/<b>").run()
    assert "no such file or folder" in page.error[0].value


def test_model_calls_are_counted_and_one_is_opened(evaluated: Path, show: Callable[..., AppTest]) -> None:
    result = CliRunner().invoke(assay, ["ask", ANSWERABLE, "--dataset", "meridian", "--db", str(evaluated)])
    assert result.exit_code == 0
    with Store.open(evaluated) as store:
        (call,) = store.journals.trajectories("local")
    page = show("calls", evaluated, call=call.trajectory_id[:12])
    assert page.metric[0].value == "1"
    assert {"embed", "recall"} & set(page.dataframe[-1].value["step"])


def test_hostile_data_is_text_on_every_page(
    evaluated: Path, show: Callable[..., AppTest], tmp_path: Path
) -> None:
    """What Markdown or HTML reads is code spans, code or escaped; tables and choosers show text as it is."""
    command = [
        "eval",
        "--dataset",
        HOSTILE_DATASET,
        "--db",
        str(evaluated),
        "--out",
        str(tmp_path / "out" / "h"),
    ]
    assert CliRunner().invoke(assay, command).exit_code == 0
    for name, query in (
        ("runs", {"run": "h", "case": "h"}),
        ("cases", {"dataset": HOSTILE_DATASET, "case": "h"}),
        ("datasets", {"dataset": HOSTILE_DATASET}),
        ("datasets", {"dataset": HOSTILE_DATASET, "section": "Delete"}),
    ):
        page = show(name, evaluated, **query)
        bodies = [element.proto.body for element in page.get("html")]
        assert not [body for body in bodies if "<b>pumps" in body or "<script" in body or "<img" in body]
        for kind in (page.markdown, page.caption, page.info, page.warning, page.error):
            for element in kind:
                outside = "".join(str(element.value).split("`")[::2])
                assert "<img" not in outside
                assert "<b>" not in outside
                assert "](http" not in outside
