"""The one base class of every error that agentlab raises for a person to read."""


class AgentlabError(Exception):
    """Bad input or a broken promise of the outside world, told in one line.

    The message names the thing, what was expected and the way out. The command line prints
    that line and exits with status 2. An error meant for the *model* is never an exception:
    it is a `ToolResult` with ``is_error=True``.
    """

    def _render_traceback_(self) -> list[str]:
        """The same one line in a notebook: Jupyter asks an exception for this, where a traceback would help nobody."""
        return [f"agentlab: {self}"]
