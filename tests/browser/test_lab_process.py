"""`agentlab lab` as a process, with a terminal and without a display. No browser takes part."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from lab_session import free_port, private_environment, wait_until_it_answers

from agentlab.cli.lab import START


@pytest.mark.skipif(sys.platform == "win32", reason="signals and terminals of POSIX")
def test_without_a_display_it_prints_an_address_that_answers_and_one_ctrl_c_ends_it(tmp_path: Path) -> None:
    environment = private_environment(tmp_path)
    for display in ("DISPLAY", "WAYLAND_DISPLAY"):
        environment.pop(display, None)
    command = [sys.executable, "-m", "agentlab.cli", "lab", "--port", str(free_port())]
    keyboard, terminal = os.openpty()  # Ctrl-C is pressed at a terminal, where JupyterLab by itself would ask back
    with subprocess.Popen(command, env=environment, stdin=terminal, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr is not None
            lines = iter(server.stderr)
            address = next(line.strip() for line in lines if "http://127.0.0.1:" in line)
            assert f"/lab/tree/{START}?token=" in address
            wait_until_it_answers(address)
            server.send_signal(signal.SIGINT)
            assert not [line for line in lines if "Traceback" in line]
            assert server.wait(timeout=60) == 0
        finally:
            server.kill()
    os.close(terminal)
    os.close(keyboard)
