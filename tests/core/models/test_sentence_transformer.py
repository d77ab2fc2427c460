"""Models of random weights, made here: what is tested is the loading and scoring, not the ranking."""

import numpy as np
import pytest

from core.errors import ModelError
from core.models import registry

pytest.importorskip(
    "sentence_transformers", reason="the extra is missing: pip install 'assay[cross-encoder]'"
)

WORDS = "[PAD] [UNK] [CLS] [SEP] [MASK] the proxy fails why lunch is at canal on friday".split()
PASSAGES = ["the proxy fails", "", "lunch is at the canal", " ", "lunch is at the canal"]


@pytest.fixture(scope="module")
def cross_encoder(tmp_path_factory):
    """A cross-encoder of one small BERT layer with random weights, saved as a folder."""
    transformers = pytest.importorskip("transformers")
    torch = pytest.importorskip("torch")
    torch.manual_seed(3)
    folder = tmp_path_factory.mktemp("cross-encoder")
    return _saved(folder, transformers.BertForSequenceClassification, _config(transformers, num_labels=1))


@pytest.fixture(scope="module")
def bi_encoder(tmp_path_factory):
    transformers = pytest.importorskip("transformers")
    torch = pytest.importorskip("torch")
    torch.manual_seed(4)
    return _saved(tmp_path_factory.mktemp("bi-encoder"), transformers.BertModel, _config(transformers))


def _config(transformers, **more):
    return transformers.BertConfig(
        vocab_size=len(WORDS),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        **more,
    )


def _saved(folder, kind, config):
    import transformers

    (folder / "vocab.txt").write_text("\n".join(WORDS))
    transformers.BertTokenizerFast(vocab_file=str(folder / "vocab.txt")).save_pretrained(folder)
    kind(config).eval().save_pretrained(folder)
    return folder


def test_a_cross_encoder_scores_every_passage_by_itself(cross_encoder):
    reranker = registry.reranker(f"cross-encoder:{cross_encoder}")
    assert reranker.space == "cross-encoder/" + str(cross_encoder).replace("/", "--")
    scores = reranker.scores("why the proxy fails", PASSAGES)
    assert scores.shape == (5,)
    assert scores.dtype == np.float32
    assert scores[[1, 3]].tolist() == [-1000, -1000]
    assert scores[2] == pytest.approx(scores[4], abs=1e-5)
    assert scores[0] != scores[2]
    assert (scores[[0, 2, 4]] > -1000).all()
    np.testing.assert_allclose(
        [reranker.scores("why the proxy fails", [passage])[0] for passage in PASSAGES], scores, atol=1e-5
    )
    assert (reranker.scores(" ", PASSAGES) == -1000).all()
    assert reranker.scores("why", []).shape == (0,)


def test_scores_are_the_model_s_own(cross_encoder):
    import sentence_transformers

    expected = sentence_transformers.CrossEncoder(str(cross_encoder)).predict([("why", "the proxy fails")])
    (score,) = registry.reranker(f"cross-encoder:{cross_encoder}").scores("why", ["the proxy fails"])
    assert score == pytest.approx(float(expected[0]), abs=1e-6)


def test_a_bi_encoder_gives_unit_rows_and_zeros(bi_encoder):
    model = registry.embedder(f"sentence-transformers:{bi_encoder}")
    rows = model.embed(PASSAGES)
    assert rows.shape == (5, model.dim) == (5, 16)
    assert rows.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), [1, 0, 1, 0, 1], atol=1e-5)
    assert model.embed([]).shape == (0, 16)


@pytest.mark.parametrize("make", [registry.embedder, registry.reranker])
def test_a_model_that_is_not_there_is_one_line(make, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    kind = "sentence-transformers" if make is registry.embedder else "cross-encoder"
    (tmp_path / "hollow").mkdir()
    with pytest.raises(ModelError, match="cannot be loaded") as caught:
        make(f"{kind}:{tmp_path / 'hollow'}")
    assert "\n" not in str(caught.value)
