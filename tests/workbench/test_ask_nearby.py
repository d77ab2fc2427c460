"""`assay ask --geo gazetteer`: what lies near the places of a question, as people and programs read it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from core.errors import UsageError
from core.ingest.ingestor import ingest
from core.ingest.items import EntityItem
from core.store import Store
from workbench.cli import assay

CAFES = [
    EntityItem(name="Kranzler", type="cafe", description="coffee", latitude=52.5038, longitude=13.3304),
    EntityItem(name="Flore", type="cafe", description="coffee", latitude=48.8541, longitude=2.3326),
    *(
        EntityItem(name=f"Stall {n}", type="stall", latitude=52.5 + n / 1000, longitude=13.4)
        for n in range(12)
    ),
]


@pytest.fixture
def database(tmp_path: Path) -> Path:
    with Store.open(tmp_path / "a.db") as store:
        ingest(store, "main", [("x", item) for item in CAFES])
    return tmp_path / "a.db"


def ask(database: Path, *options: str) -> Result:
    common = ["--db", str(database), "--embedder", "wordllama", "-r", "graph", "-p", "seed"]
    return CliRunner().invoke(assay, ["ask", "Which cafés are near Berlin?", *common, *options])


def test_text(database: Path) -> None:
    done = ask(database, "--geo", "gazetteer", "--nearby-km", "20")
    assert done.exit_code == 0, done.exception
    lines = done.stdout.splitlines()
    assert "Nearby (within 20 km of Berlin)" in lines
    assert sum(" km from Berlin: " in line for line in lines) == 10
    assert "  … 3 more" in lines
    assert "Flore" not in done.stdout


def test_json(database: Path) -> None:
    done = ask(database, "--geo", "gazetteer", "--nearby", "--format", "json")
    nearby = json.loads(done.stdout)["nearby"]
    assert (nearby["radius_km"], nearby["within"]) == (50, 13)
    assert [anchor["name"] for anchor in nearby["anchors"]] == ["Berlin"]
    assert {"entity_id", "name", "type", "latitude", "longitude", "distance_km", "anchor"} == set(
        nearby["found"][0]
    )


def test_nothing_near(database: Path) -> None:
    done = ask(database, "--geo", "gazetteer", "--nearby-km", "0.01")
    assert "  nothing that is stored" in done.stdout.splitlines()


def test_without_it_there_is_no_nearby(database: Path) -> None:
    assert "Nearby" not in ask(database, "--geo", "gazetteer").stdout
    assert json.loads(ask(database, "--format", "json").stdout)["nearby"] is None


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--nearby-km", "20"], "--geo gazetteer"),
        (["--nearby"], "--geo gazetteer"),
        (["--geo", "gazetteer", "--nearby-km", "0"], "greater than 0 and at most 20015"),
        (["--geo", "gazetteer", "--nearby-km", "nan"], "greater than 0 and at most 20015"),
        (["--geo", "google"], "no geo resolver 'google'; there is gazetteer"),
        (["--geo", "gazetteer", "--nearby", "-r", "brain"], "recipe graph, not by brain"),
    ],
)
def test_misuse(database: Path, options: list[str], says: str) -> None:
    done = ask(database, *options)
    assert isinstance(done.exception, UsageError)
    assert says in str(done.exception)
