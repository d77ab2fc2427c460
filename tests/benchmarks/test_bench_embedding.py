"""How fast MiniLM embeds, against onnxruntime alone; what a second import costs; what MaxSim is worth."""

import json
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np
import pytest

from core.ingest.embed import embed_missing
from core.ingest.ingestor import ingest
from core.ingest.items import NodeItem
from core.models import minilm
from core.models.maxsim import MaxSim
from core.models.minilm import MiniLM
from core.stages import rerank
from core.store import Store

pytestmark = pytest.mark.bench
ROUNDS = 7


def passages(count: int) -> list[str]:
    """``count`` texts of about 170 tokens, from 60 to 250."""
    random = np.random.default_rng(1)
    words = "the proxy buffer failed when requests over ten kilobytes came from an upgraded client in march".split()
    return [" ".join(random.choice(words, size=random.integers(60, 250))) for _ in range(count)]


def bare_batches(texts: list[str]) -> list[dict[str, np.ndarray]]:
    """The batches MiniLM makes, ready for onnxruntime."""
    encodings = sorted((encoding.ids for encoding in minilm._tokenizer().encode_batch(texts)), key=len)
    batches = []
    while encodings:
        size = minilm._batch_size(np.array([len(ids) for ids in encodings]))
        part, encodings = encodings[:size], encodings[size:]
        ids = np.zeros((size, len(part[-1])), dtype=np.int64)
        for row, tokens in enumerate(part):
            ids[row, : len(tokens)] = tokens
        batches.append({"input_ids": ids, "attention_mask": (ids > 0).astype(np.int64),
                        "token_type_ids": np.zeros_like(ids)})  # fmt: skip
    return batches


@pytest.mark.parametrize("session", ["its own session", "a session of default options"])
def test_embedding_reaches_the_rate_of_the_bare_model(session):
    import onnxruntime

    texts, model = passages(96), MiniLM()
    batches = bare_batches(texts)
    bare = minilm._session()
    if session != "its own session":
        bare = onnxruntime.InferenceSession(
            str(minilm._file(*minilm._WEIGHTS)), providers=["CPUExecutionProvider"]
        )
    model.embed(texts[:4])
    rates: dict[str, list[float]] = {"bare": [], "embed": []}
    for _ in range(ROUNDS):
        start = perf_counter()
        for batch in batches:
            bare.run(["last_hidden_state"], batch)
        middle = perf_counter()
        model.embed(texts)
        rates["bare"].append(len(texts) / (middle - start))
        rates["embed"].append(len(texts) / (perf_counter() - middle))
    ratio = median(mine / other for mine, other in zip(rates["embed"], rates["bare"], strict=True))
    print(
        f"\nembed {median(rates['embed']):.1f}/s, bare with {session} {median(rates['bare']):.1f}/s, ratio {ratio:.3f}"
    )
    assert ratio >= 0.9


def test_a_second_import_embeds_nothing(tmp_path: Path):
    items = [(f"made:{row}", NodeItem(level="L0", text=text, source="log", turn=str(row)))
             for row, text in enumerate(passages(64))]  # fmt: skip
    times = []
    with Store.open(tmp_path / "assay.db") as store:
        for turn in range(2):
            start = perf_counter()
            ingest(store, "main", items)
            report = embed_missing(store, MiniLM(), [store.dataset("main").dataset_id])
            times.append(perf_counter() - start)
            assert (report.embedded, report.cached) == ((64, 0) if turn == 0 else (0, 64))
    print(f"\nfirst import of 64 passages {times[0]:.2f} s, second {times[1]:.3f} s")
    assert times[1] < times[0] / 10


def test_maxsim_ranks_better_than_the_cosine(public_data: Path):
    lines = (public_data / "clapnq" / "dev_answerable.jsonl").read_text().splitlines()
    cases = [json.loads(line) for line in lines]
    texts = ["{title}\n{text}".format(**case["passages"][0]) for case in cases]
    model = MiniLM()
    cosines = model.embed([case["input"] for case in cases]) @ model.embed(texts).T
    reader, by_cosine, by_maxsim = MaxSim(model), 0, 0
    for gold, case in enumerate(cases):
        near = np.argsort(-cosines[gold], kind="stable")[:10]
        order = near[rerank.order(reader.scores(case["input"], [texts[place] for place in near]))]
        by_cosine += texts[near[0]] == texts[gold]
        by_maxsim += texts[order[0]] == texts[gold]
    print(
        f"\nhit@1 of {len(cases)} CLAPnq questions: cosine {by_cosine}, MaxSim over its best ten {by_maxsim}"
    )
    assert by_maxsim > by_cosine
