"""What the terminal and the shell of whoever runs the tests say must not reach the commands under test."""

import pytest


@pytest.fixture(autouse=True)
def _plain_surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "AGENTLAB_DATABASE"):
        monkeypatch.delenv(name, raising=False)
