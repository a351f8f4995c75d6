"""Write a picture of every lesson in JupyterLab, light and dark, 1280 pixels wide, into screenshots/.

Run it with ``make screenshots``. The cells are run first, so that the widgets are there. Names of
lessons (``04_context_growth``) as arguments choose some of them.
"""

import shutil
import sys
import tempfile
from pathlib import Path

from lab_session import chromium, find_chromium, jupyter_lab, open_notebook, run_all_cells
from playwright.sync_api import Page

from agentlab.paths import clone_folder

THEMES = {"light": "JupyterLab Light", "dark": "JupyterLab Dark"}
PAGE_HEIGHT = 900

# The notebook scrolls inside JupyterLab's own panel, so the window is made as high as its last cell needs. The panel's
# scroll height does not tell: it grows with the window, because one can scroll past the end.
_ROOM_BELOW = """() => {
    const panel = document.querySelector('.jp-NotebookPanel:not(.lm-mod-hidden) .jp-WindowedPanel-outer');
    panel.scrollTop = 0;
    const end = Math.max(...[...panel.querySelectorAll('.jp-Cell')].map(cell => cell.getBoundingClientRect().bottom));
    return Math.floor(panel.getBoundingClientRect().bottom - end);
}"""
MARGIN = 20


def picture(page: Page, address: str, notebook: str, file: Path) -> None:
    """Run `notebook` and write the whole of it as one picture to `file`."""
    page.set_viewport_size({"width": 1280, "height": PAGE_HEIGHT})
    open_notebook(page, address, notebook)
    page.evaluate("() => window.jupyterapp.commands.execute('application:toggle-left-area')")
    run_all_cells(page)
    page.wait_for_timeout(2_000)  # charts draw after their cell is done, and nothing says when
    height = PAGE_HEIGHT
    for _ in range(5):  # what is laid out anew may need more room again
        room = page.evaluate(_ROOM_BELOW)
        if room >= MARGIN:
            break
        height += MARGIN - room
        page.set_viewport_size({"width": 1280, "height": height})
        page.wait_for_timeout(1_000)
    else:
        raise RuntimeError(f"{notebook} does not fit a window {height} pixels high")
    page.screenshot(path=file)


def main(names: list[str]) -> int:
    """Exit status 0, or 2 with one line where there is no browser or no such lesson."""
    clone = clone_folder()
    stems = sorted(path.stem for path in (clone / "notebooks").glob("*.ipynb"))
    unknown = sorted(set(names) - set(stems))
    if unknown or find_chromium() is None:
        sys.stderr.write(f"no lesson {unknown[0]} in notebooks/\n" if unknown else "no Chromium here: install one\n")
        return 2
    target = clone / "screenshots"
    target.mkdir(exist_ok=True)
    for theme, setting in THEMES.items():
        with tempfile.TemporaryDirectory() as folder:
            served, home = Path(folder) / "served", Path(folder) / "home"
            shutil.copytree(clone / "notebooks", served / "notebooks")
            with jupyter_lab(served, home, setting) as address, chromium() as context:
                for stem in names or stems:
                    file = target / f"{stem}.{theme}.png"
                    page = context.new_page()
                    picture(page, address, f"notebooks/{stem}.ipynb", file)
                    page.close()
                    sys.stdout.write(f"{file.relative_to(clone)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
