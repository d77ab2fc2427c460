"""Runs, Cases and Data in a real browser: label → export → eval, a bad upload by line, and links that show the same."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from core.store import Store
from tests.workbench.conftest import HOSTILE_DATASET
from tests.workbench.test_browser import CHROMIUM, FLAGS, _answers, _elsewhere, _end, _free_port
from workbench.launch import LOOPBACK, command, environment

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed"),
]
PROBES = ("/_stcore/health", "/_stcore/host-config")
"""Streamlit's own page looks for its server below the page's path first; it is found one level up."""


def assay(*words: str, env: dict[str, str]) -> None:
    start = "from workbench.cli import main; main()"
    subprocess.run(
        [sys.executable, "-c", start, *words], env=env, check=True, capture_output=True, timeout=300
    )


def settle(page: sync_api.Page) -> None:
    """Wait until nothing runs, loads or spins and the page's text has stood still for two seconds."""
    page.wait_for_function(
        """() => {
            const busy = '[data-testid=stStatusWidget], [data-testid=stSkeleton], [data-testid=stSpinner]';
            const main = document.querySelector('[data-testid=stMain]');
            const text = main ? main.innerText : '';
            if (document.querySelector(busy) || text !== window.seenText) {
                window.seenText = text;
                window.seenAt = performance.now();
                return false;
            }
            return performance.now() - window.seenAt > 2000;
        }""",
        polling=100,
    )


@pytest.fixture
def db(database: Callable[..., Path], tmp_path: Path) -> Path:
    """The database of the page's tests, evaluated once into ``out/seed``."""
    path = database(hostile=True)
    env = environment(path)
    assay(
        "eval", "--dataset", "meridian", "--profile", "seed", "--out", str(tmp_path / "out" / "seed"), env=env
    )
    return path


@pytest.fixture
def address(db: Path, tmp_path: Path) -> Iterator[str]:
    """The app on that database and those runs, in a process of its own."""
    log, port = tmp_path / "app.log", _free_port()
    env = environment(db, runs=tmp_path / "out")
    with log.open("wb") as said:
        process = subprocess.Popen(command(port, headless=True), env=env, stdout=said, stderr=said)
    if not _answers(process, f"http://{LOOPBACK}:{port}/_stcore/health"):
        pytest.fail(log.read_text(errors="replace")[-2000:])
    yield f"http://{LOOPBACK}:{port}/"
    _end(process)


@pytest.fixture
def new_page(address: str) -> Iterator[Callable[[], sync_api.Page]]:
    """``new_page()`` opens a browser of its own, without cookies; errors and requests to elsewhere fail the test."""
    wrong: list[str] = []

    def listen(page: sync_api.Page) -> sync_api.Page:
        page.set_default_timeout(90_000)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on(
            "console",
            lambda said: (
                wrong.append(f"{said.text} {said.location}")
                if said.type == "error" and not said.location.get("url", "").endswith(PROBES)
                else None
            ),
        )
        page.on("request", lambda asked: wrong.append(asked.url) if _elsewhere(asked.url, address) else None)
        return page

    with sync_api.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        yield lambda: listen(browser.new_context(accept_downloads=True).new_page())
        browser.close()
    assert wrong == []


def test_label_export_eval(
    new_page: Callable[[], sync_api.Page], address: str, db: Path, tmp_path: Path
) -> None:
    page = new_page()
    page.goto(f"{address}cases?dataset=meridian&run=seed&case=c1")
    page.get_by_label("Who judges").fill("Ada")
    page.get_by_text("Should have abstained", exact=True).click()
    page.get_by_role("button", name="Save label").click()
    page.get_by_text("Saved at").wait_for()
    with Store.open(db) as store:  # acknowledged is committed
        (kept,) = store.labels.latest([store.dataset("meridian").dataset_id])
    assert (kept.case_id, kept.labeller, kept.verdict) == ("c1", "Ada", "should-abstain")
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Export 1 labelled cases").click()
    exported, out = tmp_path / "cases.jsonl", tmp_path / "out" / "labelled"
    waiting.value.save_as(exported)
    env = environment(db)
    assay("ingest", str(exported), "--dataset", "meridian", env=env)
    assay("eval", "--dataset", "meridian", "--filter", "label=should-abstain", "--out", str(out), env=env)
    (row,) = map(json.loads, (out / "rows.jsonl").read_text().splitlines())
    assert (row["case_id"], row["answerable"]) == ("c1", False)


def test_a_bad_upload_is_an_error_by_line(
    new_page: Callable[[], sync_api.Page], address: str, tmp_path: Path
) -> None:
    file = tmp_path / "bad.jsonl"
    file.write_text('{"kind": "node", "level": "L0", "text": "t", "source": "s"}\n{"kind": "<img src=x>"}\n')
    page = new_page()
    page.goto(f"{address}data")
    page.get_by_text("Bring data in").click()
    page.locator("input[type=file]").set_input_files(str(file))
    page.get_by_text("1 findings").wait_for()
    table = page.locator(
        "[data-testid=stDataFrame] table"
    ).first  # what a screen reader is given of the canvas
    table.get_by_text("bad.jsonl:2").wait_for(state="attached")
    assert page.locator("img[src=x]").count() == 0


@pytest.mark.parametrize(
    "path",
    [
        "runs?run=seed&part=Decisions&case=c1",
        "cases?dataset=meridian&run=seed&search=chess&case=c2",
        "data?dataset=meridian&section=Health",
        "calls?latest=100",
    ],
)
def test_a_link_shows_the_same_in_a_new_browser(
    new_page: Callable[[], sync_api.Page], address: str, path: str
) -> None:
    seen = []
    link = f"{address}{path}"
    for _ in range(2):
        page = new_page()
        page.goto(link)
        page.wait_for_selector("h2")
        settle(page)
        seen.append((page.url, page.inner_text("[data-testid=stMain]")))
        link = page.url
    assert seen[0] == seen[1]
    for part in path.partition("?")[2].split("&"):
        assert part in seen[0][0]


def test_hostile_data_runs_nothing(new_page: Callable[[], sync_api.Page], address: str) -> None:
    from urllib.parse import urlencode

    page = new_page()
    page.goto(f"{address}cases?{urlencode({'dataset': HOSTILE_DATASET, 'case': 'h'})}")
    page.get_by_role("button", name="Save label").wait_for()
    assert "<b>pumps</b> fail?" in page.inner_text("[data-testid=stMain]")
    assert page.locator("[data-testid=stMain] :is(script, img[src=x])").count() == 0
    assert page.title() != "owned"
