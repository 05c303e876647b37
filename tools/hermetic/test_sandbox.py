"""Tests see no network but loopback, and not the home of whoever started them."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest


def test_there_is_no_network_interface_but_loopback() -> None:
    up = {name for _, name in socket.if_nameindex() if _is_up(name)}
    assert up <= {"lo"}


def test_loopback_works() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port), timeout=10) as client:
            assert client.getpeername() == ("127.0.0.1", port)


def test_no_other_address_can_be_reached() -> None:
    # TEST-NET-1 of RFC 5737: nobody's address, so nothing is asked of anybody.
    with pytest.raises(OSError, match="unreachable"):
        socket.create_connection(("192.0.2.1", 9), timeout=10)


def test_the_environment_names_no_home_of_a_user() -> None:
    home = os.environ.get("HOME")
    assert home is None or Path(home).is_relative_to(os.environ["TEST_TMPDIR"])


def _is_up(interface: str) -> bool:
    flags = Path("/sys/class/net", interface, "flags").read_text(encoding="ascii")
    return bool(int(flags, 16) & 1)
