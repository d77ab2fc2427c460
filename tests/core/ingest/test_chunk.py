"""Chunks: every visible character once, none too long; and the summary that is one of the text's own sentences."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from core.errors import UsageError
from core.ingest.chunk import CHUNK_SIZE, MAX_SUMMARY, rechunked, spans, summary
from core.ingest.ingestor import ingest
from core.ingest.items import ArtifactItem
from core.ingest.node_rows import artifact_hash
from core.store import Store
from core.text import sentences

PARTS = ["a", "word", "Dr.", "e.g.", "end.", "Why?", "\n\n", "\n- item", "so-called", "数据。", "x" * 70, '".', " ", "\t",
         "\u2028", "\x1c", "\u3000"]  # fmt: skip
PROSE = st.lists(st.sampled_from(PARTS)).map(" ".join)
TEXTS = st.one_of(PROSE, st.text(max_size=300))


@settings(max_examples=300, deadline=None)
@given(text=TEXTS, size=st.integers(1, 80))
@example(text="x" * 200, size=7)
@example(text="a" + " " * 100 + "b", size=10)
@example(text="one two three four five six", size=8)
def test_chunks_cover_every_visible_character_once_and_fit(text: str, size: int) -> None:
    found = spans(text, size)
    covered = [place for start, end in found for place in range(start, end)]
    assert len(covered) == len(set(covered))
    assert {place for place, mark in enumerate(text) if not mark.isspace()} <= set(covered)
    assert found == sorted(found)
    for start, end in found:
        assert 0 < end - start <= size
        assert not text[start].isspace()
    assert (found == []) == (not text.strip())


@settings(max_examples=150, deadline=None)
@given(text=TEXTS, size=st.integers(20, 200))
def test_a_chunk_takes_as_many_whole_sentences_as_fit(text: str, size: int) -> None:
    found = spans(text, size)
    for (start, _), (_, end) in pairwise(found):
        assert end - start > size or any(s < end and e - s > size for s, e in sentences(text) if e > start)
    for start, end in sentences(text):
        if end - start <= size:  # a sentence that fits is never cut
            assert sum(s <= start and end <= e for s, e in found) == 1


@settings(max_examples=200, deadline=None)
@given(text=TEXTS, size=st.integers(1, 80), overlap=st.integers(0, 60))
@example(text="A b. C d. E f. G h. I j.", size=9, overlap=8)
def test_an_overlap_repeats_whole_sentences_and_gets_on(text: str, size: int, overlap: int) -> None:
    found = spans(text, size, overlap)
    covered = {place for start, end in found for place in range(start, end)}
    assert {place for place, mark in enumerate(text) if not mark.isspace()} <= covered
    for (start, end), (following, last) in pairwise(found):
        assert start < following
        assert end < last  # each chunk says something new
        assert max(0, end - following) <= overlap
        assert last - following <= size
    if not overlap:
        assert all(end <= following for (_, end), (following, _) in pairwise(found))


def test_an_overlap_by_hand() -> None:
    text = "One two. Three four. Five six. Seven eight."
    assert [text[start:end] for start, end in spans(text, 30, 12)] == [
        "One two. Three four. Five six.", "Five six. Seven eight.",
    ]  # fmt: skip


def test_other_chunks_are_another_content_and_the_usual_ones_are_not() -> None:
    item = ArtifactItem(source="d", text="One two. Three four.")
    ((_, usual),) = rechunked([("x", item)], CHUNK_SIZE, 0)
    ((_, small),) = rechunked([("x", item)], 100, 20)
    assert artifact_hash(usual) == artifact_hash(item) != artifact_hash(small)
    own = replace(item, chunking=(80, 0))
    assert [one for _, one in rechunked([("x", own)], CHUNK_SIZE, 0)] == [own]
    with pytest.raises(UsageError, match=r"the overlap must be below the size of a chunk \(100\), got 100"):
        list(rechunked([("x", item)], 100, 100))


def test_chunks_by_hand() -> None:
    text = "One two. Three four five. Six.\n\nSeven eight nine ten eleven twelve thirteen."
    assert [text[start:end] for start, end in spans(text, 25)] == [
        "One two. Three four five.", "Six.", "Seven eight nine ten", "eleven twelve thirteen.",
    ]  # fmt: skip
    assert [text[start:end] for start, end in spans(text, 1_000)] == [text]
    assert spans("  One.  ", 25) == [(2, 6)]


@settings(max_examples=10, deadline=None)
@given(text=PROSE.map(lambda text: f"{text} start. " * 40))
def test_a_stored_chunk_is_its_stretch_of_the_artifact(
    text: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with Store.open(tmp_path_factory.mktemp("chunk") / "a.db") as store:
        ingest(store, "main", [("x", ArtifactItem(source="s", text=text))])
        dataset = store.dataset("main").dataset_id
        artifact = store.artifacts([dataset])[0]
        columns = store.columns("chunk", [dataset])
        chunks = store.chunks(columns.row_ids.tolist())
        assert [chunk.position for chunk in chunks] == list(range(len(chunks)))
        assert len(chunks) == len(spans(text, CHUNK_SIZE))
        for chunk in chunks:
            assert chunk.text == artifact.text[chunk.start : chunk.start + len(chunk.text)]
            assert len(chunk.text) <= CHUNK_SIZE
        nodes = store.nodes(store.columns("node", [dataset]).row_ids.tolist())
        assert [node.text for node in nodes] == [chunk.text for chunk in chunks]
        if len(chunks) > 1:
            assert [(n.turn, n.position, n.session) for n in nodes] == [
                (f"chunk-{p}", p, "s") for p in range(len(nodes))
            ]
            assert all(chunk.summary and chunk.summary in " ".join(chunk.text.split()) for chunk in chunks)


def test_a_whole_text_is_one_chunk_with_the_summary_given(tmp_path: Path) -> None:
    text = "A sentence. " * 400
    with Store.open(tmp_path / "a.db") as store:
        ingest(
            store,
            "main",
            [("x", ArtifactItem(source="s", text=text, whole=True, summary="Given.", as_nodes=False))],
        )
        dataset = store.dataset("main").dataset_id
        chunks = store.chunks(store.columns("chunk", [dataset]).row_ids.tolist())
        assert [(chunk.start, chunk.text, chunk.summary) for chunk in chunks] == [(0, text, "Given.")]
        assert store.counts(dataset)["nodes"] == 0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        (" \n ", ""),
        ("Proxy.", "Proxy."),
        # proxy 3 times, buffer 2, all else once: the means are 3/3, (3+1+1+2)/4 and (3+2+1)/3
        ("Lunch on Friday was tasty. The proxy upgrade broke the buffer. Proxy, proxy buffer: it grew.",
         "Proxy, proxy buffer: it grew."),
        ("The proxy upgrade broke. The proxy limits uploads.", "The proxy upgrade broke."),  # alike: the earliest
        ("The proxy  upgrade\nbroke it.", "The proxy upgrade broke it."),  # blanks become one
        ("Proxy proxy. The proxy limits uploads silently.", "The proxy limits uploads silently."),  # not one stem alone
    ],
)  # fmt: skip
def test_summaries_by_hand(text: str, expected: str) -> None:
    assert summary(text) == expected


@settings(max_examples=150, deadline=None)
@given(text=TEXTS)
def test_a_summary_is_one_sentence_of_the_text(text: str) -> None:
    short = summary(text)
    assert len(short) <= MAX_SUMMARY
    assert short == "" or any(" ".join(text[s:e].split()).startswith(short) for s, e in sentences(text))
    assert (short == "") == (not text.strip())


def test_a_long_summary_is_cut() -> None:
    assert summary("word other " * 100 + "third.") == ("word other " * 100)[:MAX_SUMMARY].rstrip()
