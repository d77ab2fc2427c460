"""Evidence in space and by what it was made from: tables and figures. Nothing is fetched."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from core.geo.sphere import EARTH_RADIUS_KM
from core.show import palette
from core.show.charts import laid_out
from core.show.plain import markup, number, shortened
from core.trace import Nearby, Trace
from workbench import provenance

CIRCLE = np.radians(np.linspace(0, 360, 91))
GRID = "rgba(128,128,128,0.35)"


def places(nearby: Nearby) -> pd.DataFrame:
    """The places searched around and what lies within: ``name, what, latitude, longitude, km, anchor``, nearest first."""
    columns = ["name", "what", "latitude", "longitude", "km", "anchor"]
    around = [(a.name, "searched around", a.latitude, a.longitude, 0.0, a.name) for a in nearby.anchors]
    found = [(f.name, f.type, f.latitude, f.longitude, f.distance_km, f.anchor) for f in nearby.found]
    return pd.DataFrame([*around, *found], columns=columns)


def place_map(nearby: Nearby) -> go.Figure:
    """The places on a bare grid of degrees, with the circle that was searched; no background is loaded."""
    figure = go.Figure()
    for anchor in nearby.anchors:
        latitudes, longitudes = circle(anchor.latitude, anchor.longitude, nearby.radius_km)
        figure.add_scattergeo(
            lat=latitudes, lon=longitudes, mode="lines", line={"color": palette.GREY, "width": 1.5, "dash": "dot"},
            hoverinfo="skip", name=f"within {number(nearby.radius_km)} km", showlegend=anchor is nearby.anchors[0],
        )  # fmt: skip
    table = places(nearby)
    for anchored, color, mark, name in (
        (True, palette.VERMILLION, "star", "searched around"),
        (False, palette.SKY, "circle", "found"),
    ):
        part = table[(table["what"] == "searched around") == anchored]
        figure.add_scattergeo(
            lat=part["latitude"], lon=part["longitude"], mode="markers+text", name=name,
            marker={"size": 14 if anchored else 10, "color": color, "symbol": mark},
            text=[markup(shortened(str(one), 28)) for one in part["name"]], textposition="top center",
            hovertext=[f"<b>{markup(row.name_)}</b> ({markup(row.what)})<br>{row.km:,.1f} km from {markup(row.anchor)}"
                       for row in part.rename(columns={"name": "name_"}).itertuples()],
            hoverinfo="text",
        )  # fmt: skip
    axis = {"showgrid": True, "gridcolor": GRID}
    figure.update_geos(
        visible=False,
        fitbounds="locations",
        projection_type="mercator",
        lonaxis=axis,
        lataxis=axis,
        bgcolor="rgba(0,0,0,0)",
    )
    figure.update_layout(legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0})
    return laid_out(figure, height=480)


def circle(latitude: float, longitude: float, radius_km: float) -> tuple[list[float], list[float]]:
    """Latitudes and longitudes of points ``radius_km`` away along a great circle, all the way round.

    Source: the direct problem on a sphere, R = 6371.0088 km.
    """
    distance, phi = radius_km / EARTH_RADIUS_KM, math.radians(latitude)
    sine = np.sin(phi) * math.cos(distance) + math.cos(phi) * math.sin(distance) * np.cos(CIRCLE)
    latitudes = np.arcsin(np.clip(sine, -1, 1))
    east = np.arctan2(
        np.sin(CIRCLE) * math.sin(distance) * math.cos(phi), math.cos(distance) - math.sin(phi) * sine
    )
    longitudes = (longitude + np.degrees(east) + 540) % 360 - 180
    return np.degrees(latitudes).tolist(), longitudes.tolist()


def chains(trace: Trace) -> pd.DataFrame:
    """What evidence was made from, a row a link: ``cited, hops, level, source, turn, child_id, node_id, text``."""
    columns = ["cited", "hops", "level", "source", "turn", "child_id", "node_id", "text"]
    rows = [
        (place, entry.hops, entry.level, entry.source, entry.turn, entry.child_id, entry.node_id, entry.text)
        for place, item in enumerate(trace.answer.evidence or trace.answer.closest, start=1)
        for entry in item.provenance
    ]
    return pd.DataFrame(rows, columns=columns).assign(
        text=lambda t: t["text"].map(lambda s: shortened(s, provenance.PARENT_TEXT))
    )
