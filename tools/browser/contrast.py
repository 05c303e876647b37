"""How well a colour stands out from another, by the definition of WCAG 2.2."""

from __future__ import annotations

from typing import NamedTuple


class Colour(NamedTuple):
    """A colour without transparency, each part from 0 to 255."""

    red: float
    green: float
    blue: float

    @property
    def luminance(self) -> float:
        """The relative luminance, 0 for black and 1 for white (WCAG 2.2, "relative luminance")."""
        red, green, blue = (_linear(part / 255) for part in self)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: Colour, other: Colour) -> float:
    """Return the contrast ratio, 1 for none to 21.

    WCAG 2.2 asks for 4.5 for text (1.4.3) and 3 for graphics (1.4.11).
    """
    dark, light = sorted((one.luminance, other.luminance))
    return (light + 0.05) / (dark + 0.05)


def _linear(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else float(((part + 0.055) / 1.055) ** 2.4)
