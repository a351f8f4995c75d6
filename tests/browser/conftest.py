"""What the browser tests share: one JupyterLab on a copy of the notebooks, one Chromium."""

import os
import shutil
from collections.abc import Iterator

import pytest
from lab_session import chromium, find_chromium, jupyter_lab, need_browser
from playwright.sync_api import BrowserContext

from agentlab.paths import clone_folder


@pytest.fixture(scope="module")
def browser() -> Iterator[BrowserContext]:
    """A Chromium, or the end of the test."""
    need_browser(find_chromium(), required=bool(os.environ.get("AGENTLAB_REQUIRE_BROWSER")))
    with chromium() as context:
        yield context


@pytest.fixture(scope="module")
def lab(browser: BrowserContext, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a JupyterLab on a copy of notebooks/: what a lesson saves there changes nothing here."""
    folder = tmp_path_factory.mktemp("lab")
    shutil.copytree(clone_folder() / "notebooks", folder / "served" / "notebooks")
    with jupyter_lab(folder / "served", folder / "home") as address:
        yield address
