"""No test leaves this machine."""

import socket

import pytest
import pytest_socket


def test_a_connection_to_another_host_is_refused_before_it_is_made():
    # It warns before it raises, and here every warning is an error.
    blocked = (pytest_socket.SocketConnectBlockedError, UserWarning)
    with socket.socket() as outside, pytest.raises(blocked, match=r"192\.0\.2\.1"):
        outside.connect(("192.0.2.1", 443))
