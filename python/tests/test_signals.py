"""Signals that wait: none is lost, none comes early, and every handler is given back."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from types import FrameType

import pytest
from satyrn_engine.testing.signals import HeldSignals

ENDING = [signal.SIGHUP, signal.SIGINT, signal.SIGTERM]


class Listener:
    """Notes the signals that reach it, and raises when it is told to."""

    def __init__(self) -> None:
        self.heard: list[int] = []
        self.raises = False

    def __call__(self, number: int, _frame: FrameType | None) -> None:
        self.heard.append(number)
        if self.raises:
            raise KeyboardInterrupt


@pytest.fixture
def listener() -> Iterator[Listener]:
    listener = Listener()
    before = {number: signal.signal(number, listener) for number in ENDING}
    yield listener
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", ENDING)
def test_a_signal_waits_for_the_end_of_the_block(listener: Listener, number: int) -> None:
    with HeldSignals():
        signal.raise_signal(number)
        assert listener.heard == []
    assert listener.heard == [number]


def test_without_a_signal_nobody_hears_one_and_the_handlers_are_back(listener: Listener) -> None:
    with HeldSignals():
        assert signal.getsignal(signal.SIGINT) is not listener
    assert listener.heard == []
    assert [signal.getsignal(number) for number in ENDING] == [listener] * 3


def test_several_come_in_the_order_in_which_they_arrived(listener: Listener) -> None:
    with HeldSignals():
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGTERM):
            signal.raise_signal(number)
    assert listener.heard == [signal.SIGTERM, signal.SIGHUP, signal.SIGTERM]


def test_what_a_handler_raises_comes_out_of_the_block_and_the_handlers_are_back(
    listener: Listener,
) -> None:
    listener.raises = True
    reached = []

    def hold() -> None:
        with HeldSignals():
            signal.raise_signal(signal.SIGINT)
            reached.append("the end of the block")

    with pytest.raises(KeyboardInterrupt):
        hold()
    assert reached
    assert [signal.getsignal(number) for number in ENDING] == [listener] * 3


def test_what_is_let_through_comes_at_once_and_then_they_wait_again(listener: Listener) -> None:
    with HeldSignals() as signals:
        signal.raise_signal(signal.SIGINT)
        with signals.let_through():
            assert listener.heard == [signal.SIGINT]
            signal.raise_signal(signal.SIGTERM)
            assert listener.heard == [signal.SIGINT, signal.SIGTERM]
        signal.raise_signal(signal.SIGHUP)
        assert listener.heard == [signal.SIGINT, signal.SIGTERM]
    assert listener.heard == [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


def test_an_interruption_while_they_are_let_through_makes_the_next_ones_wait(
    listener: Listener,
) -> None:
    listener.raises = True
    cleaned = []

    def work() -> None:
        with HeldSignals() as signals:
            try:
                with signals.let_through():
                    signal.raise_signal(signal.SIGINT)
            finally:
                signal.raise_signal(signal.SIGINT)
                cleaned.append("everything")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert cleaned
    assert listener.heard == [signal.SIGINT] * 2


def test_in_a_nested_block_they_wait_for_the_outer_one(listener: Listener) -> None:
    with HeldSignals():
        with HeldSignals():
            signal.raise_signal(signal.SIGTERM)
        assert listener.heard == []
    assert listener.heard == [signal.SIGTERM]


def test_a_signal_that_is_ignored_stays_ignored(listener: Listener) -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    with HeldSignals():
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
        assert signal.getsignal(signal.SIGTERM) is not listener


def test_in_another_thread_the_block_does_nothing(listener: Listener) -> None:
    seen: list[object] = []

    def hold() -> None:
        with HeldSignals() as signals, signals.let_through():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=hold)
    thread.start()
    thread.join()
    assert seen == [listener]
