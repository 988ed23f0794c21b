"""All that is the person's own is under one folder, which can be named."""

from hermes_acp.settings.homes import find_home


def test_all_is_under_the_home_that_is_named(tmp_path):
    home = find_home({"HERMES_ACP_HOME": str(tmp_path)})
    places = (home.config_file, home.credentials_file, home.database, home.signed_out_file)
    assert {place.parent for place in places} == {tmp_path}
    assert find_home({"HERMES_ACP_HOME": "relative"}).database.is_absolute()
    assert find_home({"HERMES_ACP_HOME": "~/x"}).database.is_absolute()
