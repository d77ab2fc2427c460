"""Distances on the sphere: great circles, and the boxes of latitude and longitude that hold a circle."""

from __future__ import annotations

from dataclasses import dataclass
from math import asin, cos, degrees, isfinite, radians, sin

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.errors import UsageError

EARTH_RADIUS_KM = 6371.0088
"""Mean radius R₁ of WGS 84. On the ellipsoid a distance is up to 0.56 % longer or shorter."""
MAX_RADIUS_KM = 20015.0
"""Half the circumference, rounded down to the kilometre: a search this wide finds everything."""
_SLACK = 1e-7
"""Radians (0.6 m) by which a box is wider than its circle: more than rounding can move a point."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """Degrees, ends included, ``south <= north`` and ``west <= east``: a box never crosses the antimeridian."""

    south: float
    north: float
    west: float
    east: float


def check_coordinates(latitude: float, longitude: float) -> None:
    """Raises UsageError unless latitude is in [-90, 90] and longitude in [-180, 180], both finite."""
    for name, value, limit in (("latitude", latitude, 90), ("longitude", longitude, 180)):
        if not isfinite(value) or abs(value) > limit:
            raise UsageError(f"{name} must be in [-{limit}, {limit}] degrees, got {value!r}")


def check_radius(radius_km: float) -> float:
    """``radius_km`` as a float. Raises UsageError unless it is greater than 0 and at most 20015."""
    number = isinstance(radius_km, int | float) and not isinstance(radius_km, bool)
    if not number or not 0 < radius_km <= MAX_RADIUS_KM:
        raise UsageError(
            f"a radius must be a number of kilometres greater than 0 and at most {MAX_RADIUS_KM:.0f} "
            f"(half the circumference), got {radius_km!r}"
        )
    return float(radius_km)


def haversine_km(
    latitude: ArrayLike, longitude: ArrayLike, latitudes: ArrayLike, longitudes: ArrayLike
) -> NDArray[np.float64]:
    """Great-circle distance in km, in [0, π·R], float64, broadcast over all four (degrees).

    Source: Sinnott, Virtues of the Haversine, Sky & Telescope 68 (1984) 159; the argument of asin is clamped to
    [0, 1], which rounding leaves by 1e-16 near antipodes.
    """
    south, west, north, east = (
        np.radians(np.asarray(angle, dtype=np.float64))
        for angle in (latitude, longitude, latitudes, longitudes)
    )
    half = np.sin((north - south) / 2) ** 2 + np.cos(south) * np.cos(north) * np.sin((east - west) / 2) ** 2
    distances: NDArray[np.float64] = 2 * EARTH_RADIUS_KM * np.arcsin(np.sqrt(np.clip(half, 0.0, 1.0)))
    return distances


def boxes(latitude: float, longitude: float, radius_km: float) -> tuple[Box, ...]:
    """One or two boxes that hold every point within ``radius_km``: two where the circle crosses the antimeridian, all
    longitudes where it holds a pole.

    Source: Matuschek, Finding Points Within a Distance of a Latitude/Longitude Using Bounding Coordinates (2010),
    eqs. 1-3: Δλ = asin(sin r / cos φ).
    """
    if radius_km >= MAX_RADIUS_KM:
        return (Box(south=-90, north=90, west=-180, east=180),)
    angle = radius_km / EARTH_RADIUS_KM + _SLACK
    south, north = latitude - degrees(angle), latitude + degrees(angle)
    if south <= -90 or north >= 90:
        return (Box(south=max(south, -90.0), north=min(north, 90.0), west=-180, east=180),)
    across = degrees(asin(min(1.0, sin(angle) / cos(radians(latitude)))))
    west, east = longitude - across, longitude + across
    if west <= -180:
        spans = [(west + 360, 180.0), (-180.0, east)]
    elif east >= 180:
        spans = [(west, 180.0), (-180.0, east - 360)]
    else:
        spans = [(west, east)]
    return tuple(Box(south=south, north=north, west=left, east=right) for left, right in spans)


def within(
    latitude: float, longitude: float, radius_km: float, latitudes: ArrayLike, longitudes: ArrayLike
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Rows of the (n,) coordinates at most ``radius_km`` away, ascending, and their distances in km.

    A radius of 20015 km finds all n: an antipode is 115 m further than that, and still on the same Earth. A radius of 0
    finds the very place.

    Raises:
        UsageError: coordinates or radius out of range.
    """
    check_coordinates(latitude, longitude)
    if radius_km != 0:
        check_radius(radius_km)
    lats, lons = np.asarray(latitudes, dtype=np.float64), np.asarray(longitudes, dtype=np.float64)
    near = np.zeros(lats.shape, dtype=bool)
    for box in boxes(latitude, longitude, radius_km):
        near |= (lats >= box.south) & (lats <= box.north) & (lons >= box.west) & (lons <= box.east)
    rows = np.flatnonzero(near)
    distances = haversine_km(latitude, longitude, lats[rows], lons[rows])
    kept = distances <= (np.inf if radius_km >= MAX_RADIUS_KM else radius_km)
    return rows[kept], distances[kept]
