"""What a call costs: by hand, for dated and long calls, unknown models, and with a file of one's own."""

from __future__ import annotations

import pytest

from core.errors import DataError
from core.models import minilm
from core.models.chat import Usage
from core.models.prices import as_of, cost, price_of
from core.models.wordllama import WordLlama


@pytest.fixture(autouse=True)
def _shipped_prices(monkeypatch):
    monkeypatch.delenv("ASSAY_PRICES", raising=False)


@pytest.mark.parametrize(
    ("model", "tokens_in", "tokens_out", "dollars"),
    [
        ("claude-haiku-5-5", 1_000, 200, 0.0002),
        ("claude-haiku-5-5", 100_000, 0, 0.01),
        ("claude-haiku-5-5", 100_001, 1_000, 0.0500005 + 0.0025),
        ("claude-haiku-4-5-20251001", 1_000_000, 1_000_000, 6.0),
        ("gpt-5-2025-08-07", 1_000_000, 0, 1.25),
        ("gpt-5.4", 272_001, 0, 1.360005),
        ("gpt-4o-mini", 0, 0, 0.0),
        (minilm.MODEL_ID, 0, 0, 0.0),
        (WordLlama.model_id, 0, 0, 0.0),
        ("claude-haiku-5-5-fast", 1, 1, None),
        ("llama3.2", 1, 1, None),
        ("", 1, 1, None),
    ],
)
def test_dollars_by_hand(model, tokens_in, tokens_out, dollars):
    got = cost(model, Usage(input_tokens=tokens_in, output_tokens=tokens_out, thinking_tokens=tokens_out))
    assert got == (None if dollars is None else pytest.approx(dollars, rel=1e-12))


def test_the_default_model_has_a_price_and_the_table_a_day():
    assert price_of("claude-haiku-5-5") is not None
    assert as_of() == "2026-12-01"


def test_a_file_of_one_s_own_adds_and_wins_and_is_read_anew(monkeypatch, tmp_path):
    path = tmp_path / "prices.toml"
    path.write_text('as_of = "2026-01-01"\n[models]\n"llama3.2" = {input = 0, output = 0}\n')
    monkeypatch.setenv("ASSAY_PRICES", str(path))
    usage = Usage(input_tokens=10**6)
    assert cost("llama3.2", usage) == 0.0
    assert cost("claude-haiku-4-5", usage) == 1.0
    path.write_text('as_of = "2026-01-01"\n[models]\nclaude-haiku-4-5 = {input = 7, output = 0}\n')
    assert cost("claude-haiku-4-5", usage) == 7.0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("models = 3", "as_of: Field required"),
        ('as_of = "yesterday"\n[models]', "as_of: String should match"),
        ('as_of = "2026-01-01"\n[models]\nm = {input = -1, output = 2}', "models.m.input: .*greater than or equal to 0"),
        ('as_of = "2026-01-01"\n[models]\nm = {input = nan, output = 2}', "models.m.input: "),
        ('as_of = "2026-01-01"\n[models]\nm = {inptu = 1, output = 2}', "models.m.input: Field required"),
        ("as_of = = 1", "not TOML: .*line 1"),
    ],
)  # fmt: skip
def test_a_malformed_file_is_refused_by_name(monkeypatch, tmp_path, text, said):
    path = tmp_path / "own.toml"
    path.write_text(text)
    monkeypatch.setenv("ASSAY_PRICES", str(path))
    with pytest.raises(DataError, match=rf"own\.toml: {said}"):
        cost("m", Usage())


def test_a_file_that_is_not_there_says_which_variable(monkeypatch, tmp_path):
    monkeypatch.setenv("ASSAY_PRICES", str(tmp_path / "no.toml"))
    with pytest.raises(
        DataError, match=r"no\.toml: cannot be read: No such file or directory; correct ASSAY_PRICES"
    ):
        cost("m", Usage())
