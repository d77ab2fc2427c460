"""The real app in a real browser: answer, citation, threshold, abstention; nothing loaded from elsewhere, no error."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest

from workbench.launch import LOOPBACK, command, environment

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
START_S = 60
PORTS = 3
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed"),
]


@pytest.fixture
def address(database: Callable[..., Path], tmp_path: Path) -> Iterator[str]:
    """The app on a database of its own, in a process of its own."""
    log = tmp_path / "app.log"
    variables = environment(database(hostile=True))
    for _ in range(PORTS):  # another process may take a free port before the app does
        port = _free_port()
        with log.open("wb") as said:
            process = subprocess.Popen(command(port, headless=True), env=variables, stdout=said, stderr=said)
        if _answers(process, f"http://{LOOPBACK}:{port}/_stcore/health"):
            break
    else:
        pytest.fail(f"the app did not start on {PORTS} ports: {log.read_text(errors='replace')[-2000:]}")
    yield f"http://{LOOPBACK}:{port}/"
    _end(process)


def _free_port() -> int:
    with socket.socket() as free:
        free.bind((LOOPBACK, 0))
        return int(free.getsockname()[1])


def _answers(process: subprocess.Popen[bytes], url: str) -> bool:
    """Whether the app answers while it runs, within ``START_S``; if not, it is ended."""
    for _ in range(START_S * 4):
        if process.poll() is not None:
            return False
        try:
            with urlopen(url, timeout=START_S):
                return True
        except OSError:
            time.sleep(0.25)
    _end(process)
    return False


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(timeout=20)
    except subprocess.TimeoutExpired:  # a busy machine; how it ends is not what is tested here
        process.kill()
        process.wait()


@pytest.fixture
def page(address: str) -> Iterator[sync_api.Page]:
    """A page whose errors and requests to elsewhere fail the test."""
    wrong: list[str] = []
    with sync_api.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        opened = browser.new_page(viewport={"width": 1280, "height": 900})
        opened.set_default_timeout(60_000)
        opened.on("pageerror", lambda error: wrong.append(str(error)))
        opened.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
        opened.on(
            "request", lambda asked: wrong.append(asked.url) if _elsewhere(asked.url, address) else None
        )
        yield opened
        browser.close()
    assert wrong == []


def _elsewhere(url: str, address: str) -> bool:
    return not url.startswith((address, address.replace("http", "ws"), "data:", "blob:"))


def _background(page: sync_api.Page, selector: str) -> str:
    return str(page.eval_on_selector(selector, "mark => getComputedStyle(mark).backgroundColor"))


def test_answer_citation_threshold_abstention(page: sync_api.Page, address: str) -> None:
    page.goto(f"{address}?dataset=meridian&profile=seed")
    page.wait_for_selector(".assay-verdict.answered")
    assert "requests over 10KB failed" in page.inner_text(".assay-answer")
    plain = _background(page, "#evidence-1 mark")
    page.click("a.assay-cite >> nth=0")
    page.wait_for_function("document.querySelector('#evidence-1').matches(':target')")
    assert _background(page, "#evidence-1 mark") != plain == _background(page, "#evidence-2 mark")
    slider = page.get_by_role("slider", name="min cosine")
    slider.focus()
    slider.press("End")
    page.wait_for_selector(".assay-verdict.abstained")
    assert "floor.min_cosine asks for 1.000" in page.inner_text(".assay-answer")
    assert "set.floor.min_cosine=1.0" in page.url
    page.get_by_role("button", name="Let it through").click()
    page.wait_for_selector(".assay-verdict.answered")


LAST_NODE = """() => {
    const drawn = [...document.querySelectorAll('*')].find(element => element._cyreg?.cy);
    const place = drawn._cyreg.cy.nodes().last().renderedPosition(), box = drawn.getBoundingClientRect();
    return {x: box.x + place.x, y: box.y + place.y};
}"""


def _read_a_node(page: sync_api.Page) -> sync_api.Locator:
    """Clicks the last node of the graph; the widget's panel, which then shows what the node holds."""
    frame = page.frame_locator("iframe[title*='st_link_analysis']")
    canvas = frame.locator("canvas").last
    canvas.wait_for(state="visible")
    canvas.scroll_into_view_if_needed()
    page.wait_for_timeout(1500)  # the layout runs once the frame has its size
    frame.locator("body").click(position=frame.locator("body").evaluate(LAST_NODE))
    panel = frame.locator("#infopanelProps")
    panel.get_by_text("caption").wait_for()
    return panel


def test_the_graph_is_drawn_and_a_click_reads_a_node(page: sync_api.Page, address: str) -> None:
    page.goto(f"{address}?dataset=meridian&profile=seed&recipe=memory")
    page.wait_for_selector(".assay-verdict.answered")
    assert _read_a_node(page).locator(".infopanel__val").count() >= 2


def test_hostile_data_runs_nothing(page: sync_api.Page, address: str) -> None:
    page.goto(f"{address}?profile=seed&q=pumps+fail")
    page.wait_for_selector(".assay-verdict.answered")
    assert "<script>document.title='owned'</script>" in page.inner_text(".assay-answer")
    panel = _read_a_node(page)  # it shows attributes as HTML: nothing in them may be read as such
    assert panel.locator("script, img, a, b").count() == 0
    assert page.title() != "owned"
