"""What model calls may cost is bounded, cached replies are free, repeats are asked anew."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.errors import UsageError
from core.models.chat import ChatReply, ChatRequest, Usage
from evals.budget import Budgeted, BudgetSpentError
from evals.writer import Writer

REQUEST = ChatRequest(system="s", prompt="p", stage="query")


class Priced:
    provider = "anthropic"
    default_model = "claude-haiku-4-5"

    def __init__(self) -> None:
        self.asked = 0

    def reply(self, request: ChatRequest) -> ChatReply:
        self.asked += 1
        return ChatReply(text="So.", model=self.default_model, usage=Usage(input_tokens=1_000_000))


def test_no_call_after_the_money_is_spent() -> None:
    priced = Priced()
    model = Budgeted(priced, 1.5)
    model.reply(REQUEST)
    model.reply(REQUEST)
    with pytest.raises(BudgetSpentError, match=r"2\.0000 USD of --max-cost 1\.5 are spent"):
        model.reply(REQUEST)
    assert priced.asked == 2


def test_a_model_without_a_price_cannot_be_bounded() -> None:
    priced = Priced()
    priced.default_model = "nobody's"
    with pytest.raises(UsageError, match="needs a price for nobody's"):
        Budgeted(priced, 1)


def test_kept_replies_cost_nothing_and_repeats_are_asked_anew(tmp_path: Path) -> None:
    priced = Priced()
    writer = Writer(model=Budgeted(priced, 5), cache=tmp_path)
    for repeat in (0, 0, 1, 1, 0):
        model = writer.of(repeat)
        assert model is not None
        assert model.reply(REQUEST).text == "So."
    assert priced.asked == 2
