"""What is known of models by name and address."""

import pytest

from hermes_acp.agent.model_table import UNKNOWN, KnownModel, Prices, known_model
from hermes_acp.agent.providers.base import Usage

OPENAI = "https://api.openai.com/v1"


def test_a_model_at_its_makers_has_window_and_prices():
    found = known_model("gpt-5", OPENAI)
    assert found.window == 400_000
    assert found.prices is not None


@pytest.mark.parametrize("name", ["gpt-5-2026-01-01", "GPT-5", "gpt-5-latest"])
def test_dates_and_case_make_no_difference(name):
    assert known_model(name, OPENAI) == known_model("gpt-5", OPENAI)


@pytest.mark.parametrize("url", ["http://localhost:4000/v1", "https://api.openai.com.evil.example/v1", ""])
def test_elsewhere_a_known_name_has_a_window_and_no_price(url):
    assert known_model("openai/gpt-5", url) == KnownModel(400_000)


def test_nothing_is_made_up():
    assert known_model("my-own-model", OPENAI) == UNKNOWN
    assert UNKNOWN.prices is None


def test_a_call_costs_what_its_tokens_do():
    prices = Prices(input=((0, 2.0), (1000, 4.0)), output=((0, 10.0),), cached=((0, 0.5),))
    assert prices.cost(Usage(input=900, output=100, cached=400)) == pytest.approx((500 * 2 + 400 * 0.5 + 1000) / 1e6)
    assert prices.cost(Usage(input=1000, output=0)) == pytest.approx(4000 / 1e6)
    keeping = Prices(input=((0, 2.0),), output=((0, 1.0),), cached=((0, 0.2),), kept=((0, 2.5),))
    assert keeping.cost(Usage(input=100, cached=50, kept=30)) == pytest.approx((20 * 2 + 50 * 0.2 + 30 * 2.5) / 1e6)
    assert Prices(input=((0, 2.0),), output=((0, 1.0),)).cost(Usage(input=10, cached=10)) == pytest.approx(20 / 1e6)
