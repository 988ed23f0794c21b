"""What is said for one session goes before what is stored with it and before the settings."""

from dataclasses import replace
from pathlib import Path

from hermes_acp.config import Config, TrajectoriesConfig
from hermes_acp.settings import Home, Settings
from hermes_acp.talk.setup import Setup

STORED = {"mode": "plan", "model": "big", "thought_level": "high", "address": "http://127.0.0.1:1/v1"}


def test_a_stored_option_holds_unless_its_setting_was_given(tmp_path):
    setup = Setup(Settings(Home(tmp_path, tmp_path), Config()))
    assert setup.not_given(STORED) == STORED
    given = replace(setup, given=frozenset({"approvals.mode", "model.name", "web.timeout"}))
    assert given.not_given(STORED) == {"thought_level": "high", "address": STORED["address"]}


def test_trajectories_are_kept_where_they_were_asked_for_else_as_the_settings_say(tmp_path):
    setup = Setup(Settings(Home(tmp_path / "config", tmp_path / "state"), Config()))
    kept = Config(trajectories=TrajectoriesConfig(save=True))
    assert (setup.trajectories(Config()), setup.trajectories(kept)) == (None, tmp_path / "state")
    assert replace(setup, save_trajectories=True).trajectories(Config()) == Path()
    assert replace(setup, save_trajectories=False).trajectories(kept) is None
