"""Great circles against the ellipsoid's oracle, and boxes against brute force."""

from math import pi

import numpy as np
import pytest
from geographiclib.geodesic import Geodesic
from hypothesis import example, given
from hypothesis import strategies as st

from core.errors import UsageError
from core.geo.sphere import (
    EARTH_RADIUS_KM,
    MAX_RADIUS_KM,
    boxes,
    check_coordinates,
    check_radius,
    haversine_km,
    within,
)

SLACK = 0.005615
"""Share by which the sphere and the ellipsoid differ at most: R₁ against a·(1−e²), a meridian at the equator."""
latitudes = st.one_of(st.floats(-90, 90), st.sampled_from([-90.0, -89.999999, 0.0, 89.999999, 90.0]))
longitudes = st.one_of(st.floats(-180, 180), st.sampled_from([-180.0, -179.999999, 0.0, 179.999999, 180.0]))
points = st.tuples(latitudes, longitudes)
radii = st.one_of(
    st.floats(1e-6, 20015), st.floats(1e-6, 50), st.sampled_from([1e-6, 50.0, 10007.543, 20014.999, 20015.0])
)


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        ((0, 0), (0, 0), 0.0),
        ((0, 0), (0, 90), pi / 2 * EARTH_RADIUS_KM),
        ((0, 0), (0, 180), pi * EARTH_RADIUS_KM),
        ((90, 0), (-90, 137), pi * EARTH_RADIUS_KM),
        ((90, -40), (90, 137), 0.0),
        ((0, 179.5), (0, -179.5), pi / 180 * EARTH_RADIUS_KM),
        ((12, 180), (12, -180), 0.0),
        ((89, 0), (89, 180), 2 * pi / 180 * EARTH_RADIUS_KM),
        ((52.52437, 13.41053), (48.85341, 2.3488), 878.0),
    ],
)
def test_known_distances(start, end, expected):
    assert haversine_km(*start, *end) == pytest.approx(expected, abs=0.6 if expected == 878.0 else 1e-6)


@given(points, points)
@example((0.0, 0.0), (0.5, 179.7))
@example((-90.0, 0.0), (90.0, 0.0))
def test_the_oracle_agrees_within_the_sphere_s_error(start, end):
    oracle = Geodesic.WGS84.Inverse(*start, *end)["s12"] / 1000
    assert haversine_km(*start, *end) == pytest.approx(oracle, rel=SLACK, abs=1e-6)


def test_the_slack_is_needed():
    """Along a meridian from the equator the sphere is too long by the most, so the oracle test is no empty one."""
    oracle = Geodesic.WGS84.Inverse(0, 0, 1, 0)["s12"] / 1000
    assert haversine_km(0, 0, 1, 0) / oracle - 1 == pytest.approx(SLACK, abs=2e-6)


@given(points, points)
def test_distance_is_symmetric_and_bounded(start, end):
    there, back = haversine_km(*start, *end), haversine_km(*end, *start)
    assert there == back
    assert 0 <= there <= pi * EARTH_RADIUS_KM


@given(points, radii, st.lists(points, max_size=30))
@example((0.0, 180.0), 50.0, [(0.0, -180.0), (0.0, 179.9), (0.0, -179.9), (0.0, 0.0)])
@example((90.0, 0.0), 200.0, [(89.0, -180.0), (89.0, 12.0), (88.0, 12.0), (-90.0, 0.0)])
@example((-89.9, 10.0), 50.0, [(-89.9, -170.0), (-90.0, 33.0), (-89.0, 10.0)])
@example((89.5, 0.0), 55.59, [(89.9999, 179.0), (89.5, 90.0)])
def test_the_boxes_lose_nothing(center, radius, others):
    lats, lons = [lat for lat, _ in others], [lon for _, lon in others]
    rows, distances = within(*center, radius, lats, lons)
    brute = haversine_km(*center, np.array(lats), np.array(lons)) if others else np.zeros(0)
    expected = [row for row, km in enumerate(brute) if km <= radius or radius == MAX_RADIUS_KM]
    assert rows.tolist() == expected
    assert distances.tolist() == [brute[row] for row in expected]


@given(points, st.floats(0, 360), st.floats(1e-3, 20014))
def test_a_point_of_the_circle_lies_in_a_box(center, azimuth, radius):
    """Points at the very edge, where the widest one is not at the center's latitude."""
    lat, lon = center
    end = Geodesic(EARTH_RADIUS_KM * 1000, 0).Direct(lat, lon, azimuth, radius * 1000)
    assert any(
        box.south <= end["lat2"] <= box.north and box.west <= end["lon2"] <= box.east
        for box in boxes(lat, lon, radius)
    )


@given(points, radii)
def test_boxes_are_boxes(center, radius):
    for box in boxes(*center, radius):
        assert -90 <= box.south <= box.north <= 90
        assert -180 <= box.west <= box.east <= 180


def test_boxes_leave_something_out():
    (box,) = boxes(52.5, 13.4, 50)
    assert box.north - box.south == pytest.approx(2 * 50 / 111.195, rel=1e-4)
    assert box.east - box.west == pytest.approx(1.478, abs=0.01)


@given(points, st.lists(points, min_size=1, max_size=20))
def test_half_the_circumference_finds_all(center, others):
    rows, _ = within(*center, MAX_RADIUS_KM, [lat for lat, _ in others], [lon for _, lon in others])
    assert rows.tolist() == list(range(len(others)))


def test_the_antipode_is_found_at_the_widest_only():
    assert within(0, 0, 20015, [0.0], [180.0])[0].tolist() == [0]
    assert within(0, 0, 20014.9, [0.0], [180.0])[0].tolist() == []


def test_nothing_to_search():
    rows, distances = within(0, 0, 50, [], [])
    assert (rows.tolist(), distances.tolist()) == ([], [])


@pytest.mark.parametrize("latitude", [90.0001, -91, float("nan"), float("inf")])
def test_latitudes_out_of_range(latitude):
    with pytest.raises(UsageError, match=r"latitude must be in \[-90, 90\] degrees, got"):
        check_coordinates(latitude, 0)


@pytest.mark.parametrize("longitude", [180.0001, -181, float("nan")])
def test_longitudes_out_of_range(longitude):
    with pytest.raises(UsageError, match=r"longitude must be in \[-180, 180\] degrees, got"):
        within(0, longitude, 50, [0.0], [0.0])


@pytest.mark.parametrize("radius", [0, -1, 20015.1, float("nan"), float("inf"), True, "50"])
def test_radii_out_of_range(radius):
    with pytest.raises(UsageError, match=r"greater than 0 and at most 20015 .*, got"):
        check_radius(radius)


@pytest.mark.parametrize("radius", [1e-9, 50, 20015])
def test_radii_in_range(radius):
    assert check_radius(radius) == radius
