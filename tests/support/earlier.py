"""A session of an earlier run of the agent."""

from tests.support.editor import open_editor


async def make_session(home, model, project):
    """The id of a session of one turn, made by an agent that is gone."""
    model.say("The answer.")
    async with open_editor(home, model.url) as editor:
        await editor.initialize()
        session = await editor.new_session(project)
        await editor.prompt(session, "The question.")
        await editor.close()
    return session
