"""A vector index by name, with its settings."""

from __future__ import annotations

import pytest

from core.errors import UsageError
from core.index.choice import FaissSettings, IndexChoice, MilvusSettings, PgvectorSettings, chosen

FAISS, PGVECTOR = IndexChoice(settings=FaissSettings()), IndexChoice(settings=PgvectorSettings())


@pytest.mark.parametrize(
    ("text", "on_server", "expected"),
    [
        (None, False, FAISS),
        (None, True, PGVECTOR),
        ("faiss", True, FAISS),
        ("faiss?exact_below=7", False, IndexChoice(settings=FaissSettings(exact_below=7))),
        (
            "pgvector?m=8&iterative_scan=strict_order",
            True,
            IndexChoice(settings=PgvectorSettings(m=8, iterative_scan="strict_order")),
        ),
        ("milvus:a/b.db", False, IndexChoice(settings=MilvusSettings(), address="a/b.db")),
        (
            "milvus://box:19530/base?shards=4",
            True,
            IndexChoice(settings=MilvusSettings(shards=4), address="http://box:19530/base"),
        ),
    ],
)
def test_a_name_chooses_an_index(monkeypatch, text, on_server, expected):
    monkeypatch.delenv("ASSAY_INDEX", raising=False)
    assert chosen(text, on_server=on_server) == expected
    if text:
        monkeypatch.setenv("ASSAY_INDEX", text)
        assert chosen(None, on_server=on_server) == expected


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("annoy", "no index 'annoy'; there are faiss"),
        ("milvus", "no index 'milvus'"),
        ("faiss:x", "no index"),
        ("pgvector", "--db postgresql://"),
        ("faiss?size=3", "has no setting 'size'; there are exact_below"),
        ("faiss?exact_below=-1", "exact_below must be a whole number from 0 to 1000000000, got '-1'"),
        ("milvus:x.db?m=1", "m must be a whole number from 2 to 2048, got '1'"),
        ("milvus:x.db?m=", "m must be a whole number"),
    ],
)
def test_what_cannot_be_chosen_is_said(text, said):
    with pytest.raises(UsageError, match=said):
        chosen(text, on_server=False)


def test_a_choice_among_words_names_them():
    with pytest.raises(UsageError, match="one of relaxed_order, strict_order, got 'off'"):
        chosen("pgvector?iterative_scan=off", on_server=True)
