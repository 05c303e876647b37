"""Ctrl-C ends the work, wherever the program is when it comes."""

from __future__ import annotations

import signal
import sys

import pytest
from satyrn_engine._interruption import Interruption


class Loud:
    """A thing during whose end Ctrl-C is pressed."""

    def __del__(self) -> None:
        self.press()

    def press(self) -> None:
        signal.raise_signal(signal.SIGINT)


def test_it_is_raised_at_once() -> None:
    with Interruption() as interruption, pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        interruption.check()


def test_in_a_finaliser_it_is_kept_for_the_next_look(monkeypatch: pytest.MonkeyPatch) -> None:
    lost: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", lost.append)
    with Interruption() as interruption:
        interruption.check()
        thing = Loud()
        del thing
        with pytest.raises(KeyboardInterrupt):
            interruption.check()
    assert lost == []


def test_what_was_done_with_it_before_is_done_with_it_after() -> None:
    before = signal.getsignal(signal.SIGINT)
    with Interruption():
        assert signal.getsignal(signal.SIGINT) is not before
    assert signal.getsignal(signal.SIGINT) is before
