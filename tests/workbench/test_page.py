"""The page Ask over a small real database, driven without a browser."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

import workbench
from core.profile import load
from core.store import Store
from core.workspace import Workspace
from tests.workbench.conftest import ANSWERABLE, HOSTILE_DATASET, UNANSWERABLE
from workbench import data

APP = Path(workbench.__file__).with_name("app.py")
MIN_COSINE = "knob:brain:seed:floor.min_cosine"


@pytest.fixture
def open_page(monkeypatch: pytest.MonkeyPatch, nothing_shipped: None) -> Callable[..., AppTest]:
    """``open_page(path, **query)`` runs the page on a database; brain and seed unless the query says otherwise."""

    def run(path: Path, **query: str) -> AppTest:
        monkeypatch.setenv("ASSAY_DB", str(path))
        page = AppTest.from_file(APP, default_timeout=30)
        for key, value in ({"profile": "seed", "recipe": "brain"} | query).items():
            page.query_params[key] = value
        return page.run()

    return run


def _html(page: AppTest) -> str:
    return "".join(element.proto.body for element in page.get("html"))


def test_the_first_screen_is_an_answer_with_citations(
    database: Callable[..., Path], open_page: Callable[..., AppTest]
) -> None:
    page = open_page(database())
    assert not page.exception
    assert page.text_input(key="question").value == ANSWERABLE
    shown = _html(page)
    assert "✓ Answered" in shown
    assert 'href="#evidence-1"' in shown
    assert "<mark>Root cause: requests over 10KB failed" in shown
    assert "Made from" in shown


def test_without_a_link_the_page_shows_notes_and_how_they_were_reranked(
    database: Callable[..., Path], open_page: Callable[..., AppTest]
) -> None:
    page = open_page(database(), recipe="", profile="")
    assert not page.exception
    assert page.query_params["recipe"] == "memory"
    assert page.query_params["profile"] == "default"


@pytest.mark.parametrize("recipe", ["graph", "memory", "brain"])
def test_every_recipe_draws_its_page(
    recipe: str, database: Callable[..., Path], open_page: Callable[..., AppTest]
) -> None:
    page = open_page(database(), recipe=recipe)
    assert not page.exception
    assert not page.error
    assert "assay-verdict" in _html(page)
    assert page.query_params["recipe"] == recipe


def test_a_moved_threshold_makes_it_abstain_with_a_reason_and_is_in_the_link(
    database: Callable[..., Path], open_page: Callable[..., AppTest]
) -> None:
    page = open_page(database())
    page.slider(key=MIN_COSINE).set_value(1.0).run()
    shown = _html(page)
    assert "∅ Abstained" in shown
    assert "floor.min_cosine asks for 1.000" in shown
    assert page.query_params["set.floor.min_cosine"] == "1.0"
    assert page.slider(key=MIN_COSINE).label == "● min cosine"


def test_letting_the_closest_through_answers_again(
    database: Callable[..., Path], open_page: Callable[..., AppTest]
) -> None:
    page = open_page(database(), **{"set.floor.min_cosine": "1.0"})
    assert "∅ Abstained" in _html(page)
    page.button(key="let-through").click().run()
    assert "✓ Answered" in _html(page)
    assert page.slider(key=MIN_COSINE).value < 1.0


def test_reset_returns_to_the_profile(
    database: Callable[..., Path], open_page: Callable[..., AppTest]
) -> None:
    page = open_page(database(), **{"set.floor.min_cosine": "1.0", "set.select.k": "2"})
    page.button(key="reset:floor.min_cosine").click().run()
    assert page.slider(key=MIN_COSINE).value == load("seed", "brain").values["floor.min_cosine"]
    assert page.number_input(key="knob:brain:seed:select.k").value == 2
    page.button(key="reset-all").click().run()
    assert "set.select.k" not in page.query_params


def test_a_question_the_data_cannot_answer_abstains(
    database: Callable[..., Path], open_page: Callable[..., AppTest]
) -> None:
    page = open_page(database(), q=UNANSWERABLE)
    assert "∅ Abstained" in _html(page)
    assert "What was closest" in [heading.value for heading in page.subheader]


def test_an_example_is_taken_into_the_question(
    database: Callable[..., Path], open_page: Callable[..., AppTest]
) -> None:
    page = open_page(database())
    page.selectbox(key="example").set_value(1).run()
    assert page.text_input(key="question").value == UNANSWERABLE


def test_without_reranking_the_page_says_what_turns_it_on(
    database: Callable[..., Path], open_page: Callable[..., AppTest]
) -> None:
    page = open_page(database())
    assert any("rerank.method" in said.value for said in page.info)


def test_what_a_link_asks_for_in_vain_is_said(
    database: Callable[..., Path], open_page: Callable[..., AppTest]
) -> None:
    page = open_page(database(), dataset="gone", **{"set.floor.min_score": "9"})
    assert [("gone" in said.value, "min_score" in said.value) for said in page.warning] == [
        (True, False),
        (False, True),
    ]
    assert "✓ Answered" in _html(page)


def test_an_error_is_its_message_and_no_traceback(
    database: Callable[..., Path], open_page: Callable[..., AppTest]
) -> None:
    page = open_page(database(), recipe="graph", as_of="the day before")
    assert not page.exception
    assert ["not a date or time" in said.value for said in page.error] == [True]


def test_a_file_that_is_no_database_is_said(tmp_path: Path, open_page: Callable[..., AppTest]) -> None:
    path = tmp_path / "broken.db"
    path.write_bytes(b"no database" * 400)
    page = open_page(path)
    assert not page.exception
    assert [str(path) in said.value for said in page.error] == [True]


def test_an_empty_database_says_which_command_to_type(
    tmp_path: Path, open_page: Callable[..., AppTest]
) -> None:
    page = open_page(tmp_path / "new.db")
    assert not page.exception
    assert [code.value for code in page.code] == ["assay ingest PATH --dataset NAME"]


def test_hostile_data_is_never_markdown_or_a_tag(
    database: Callable[..., Path], open_page: Callable[..., AppTest]
) -> None:
    page = open_page(database(hostile=True), dataset=HOSTILE_DATASET)
    assert not page.exception
    assert "<script" not in _html(page)
    assert "<img" not in _html(page)
    for element in [*page.markdown, *page.caption, *page.info, *page.warning, *page.error]:
        assert "evil.example" not in element.value


def test_the_shipped_data_set_is_brought_in_once(
    tmp_path: Path, make_workspace: Callable[..., Workspace], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "small"
    folder.mkdir()
    line = '{"kind": "node", "level": "L0", "text": "Pumps run at night.", "source": "log", "turn": "t1"}\n'
    (folder / "log.jsonl").write_text(line, encoding="utf-8")
    monkeypatch.setattr(data, "SHIPPED", folder)
    workspace = make_workspace([])
    data.ensure_shipped(workspace)
    first = workspace.store.dataset("small")
    data.ensure_shipped(workspace)
    assert workspace.store.dataset("small") == first
    assert workspace.store.counts(first.dataset_id)["nodes"] == 1


def test_without_labelled_questions_one_is_made_of_the_data(
    tmp_path: Path, turns: list[object], make_workspace: Callable[..., Workspace]
) -> None:
    workspace = make_workspace(turns)
    found = data.examples(workspace, workspace.store.dataset("main"))
    assert [(example.question, example.answerable) for example in found] == [
        ("What is known about Requests over 10KB fail with status 413 at the proxy.?", None)
    ]


def test_a_changed_data_set_is_asked_anew(
    database: Callable[..., Path], open_page: Callable[..., AppTest]
) -> None:
    path = database()
    page = open_page(path, q="Where does Priya work?", recipe="graph")
    assert "Meridian" in _html(page)
    with Store.open(path) as store:
        store.delete_dataset("meridian")
    page.run()
    assert not page.exception
    assert [code.value for code in page.code] == ["assay ingest PATH --dataset NAME"]


def test_an_empty_variable_means_the_default_database(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, nothing_shipped: None
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASSAY_DB", "")
    page = AppTest.from_file(APP, default_timeout=30).run()
    assert not page.error
    assert (tmp_path / ".assay" / "assay.db").is_file()
