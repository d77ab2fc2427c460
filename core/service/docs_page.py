"""The page at ``/docs``: the OpenAPI document for people, whole in one page that loads nothing from elsewhere."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #1c2430 }
code, pre { font: 14px/1.45 ui-monospace, monospace } pre { background: #f3f4f6; padding: .8rem; overflow-x: auto }
table { border-collapse: collapse; width: 100% } td, th { text-align: left; vertical-align: top; padding: .3rem .6rem;
border-bottom: 1px solid #dfe3e8 } h2 { margin-top: 2.5rem } small { color: #5a6675 }
"""


def docs_page(document: Mapping[str, Any]) -> str:
    """HTML of an OpenAPI document: each route with a call to copy, its fields, and its statuses."""
    routes = "".join(
        _route(document, path, verb, spec)
        for path, verbs in document["paths"].items()
        for verb, spec in verbs.items()
    )
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(document["info"]["title"])}</title>'
        f"<style>{_STYLE}</style><h1>{escape(document['info']['title'])}</h1>"
        '<p>The same as a document for programs: <a href="openapi.json">openapi.json</a>.</p>'
        f"{routes}</html>"
    )


def _route(document: Mapping[str, Any], path: str, verb: str, spec: Mapping[str, Any]) -> str:
    body = spec.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    fields = f"<h3>Fields</h3><table>{''.join(_fields(body))}</table>" if body else ""
    statuses = "".join(
        f"<tr><td><code>{escape(status)}</code><td>{escape(said['description'])}"
        for status, said in spec["responses"].items()
        if status != "422"
    )
    return (
        f"<h2><code>{escape(verb.upper())} {escape(path)}</code></h2><p>{escape(spec.get('summary', ''))}</p>"
        f"<pre>{escape(_call(document, path, body))}</pre>{fields}<h3>Statuses</h3><table>{statuses}</table>"
    )


def _call(document: Mapping[str, Any], path: str, body: Mapping[str, Any] | None) -> str:
    """A `curl` line with the required fields, each with its example."""
    secured = (
        " -H 'Authorization: Bearer TOKEN'" if "securitySchemes" in document.get("components", {}) else ""
    )
    address = f"curl -s{secured} http://127.0.0.1:7878{path}"
    if body is None:
        return address
    asked = {name: body["properties"][name].get("examples", [name])[0] for name in body.get("required", ())}
    return f"{address} -d '{json.dumps(asked)}'"


def _fields(body: Mapping[str, Any]) -> Iterator[str]:
    for name, field in body["properties"].items():
        required = "" if name in body.get("required", ()) else "<br><small>optional</small>"
        kinds = sorted({str(one.get("type")) for one in field.get("anyOf", [field])} - {"null", "None"})
        yield (
            f"<tr><td><code>{escape(name)}</code>{required}<td><small>{escape(' or '.join(kinds))}</small>"
            f"<td>{escape(field.get('description', ''))}"
        )
