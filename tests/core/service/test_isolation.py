"""Two users with two datasets each under fifty concurrent callers: no row strays, nothing acknowledged is lost."""

from __future__ import annotations

from core.store import Store
from tests.core.service.traffic import Outcome, Scribe, send

SECONDS = 6


def check(outcome: Outcome, store: Store) -> None:
    """Fails unless every call was answered, with rows of its own caller only, and all that was sent is there."""
    assert outcome.refused == []
    assert outcome.strays == []
    assert outcome.quoted > 0
    for (user, name), sent in outcome.sent.items():
        dataset = store.dataset(name, user).dataset_id
        texts = {text.split(" ")[0] for (text,) in store.database.rows(
            "SELECT text FROM artifact WHERE dataset_id = ?", (dataset,))}  # fmt: skip
        people = {row[0] for row in store.database.rows(
            "SELECT name FROM entity WHERE dataset_id = ? AND type = 'person'", (dataset,))}  # fmt: skip
        assert texts == people == sent
        assert store.counts(dataset)["facts"] == len(sent)
        assert store.counts(dataset)["nodes_L0"] == len(sent)


def test_no_row_strays_and_nothing_is_lost(make_workspace, serve):
    workspace = make_workspace([])
    client = serve(workspace, chat=Scribe())
    outcome = send(str(client.base_url), callers=50, seconds=SECONDS)
    check(outcome, workspace.store)
    assert sum(map(len, outcome.sent.values())) >= 50
