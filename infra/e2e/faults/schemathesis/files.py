"""Generates estate files to upload. Most are well-formed; they have few names, so that rows refer to each other."""

import csv
import io
import json
import re

import schemathesis
from hypothesis import strategies as st

parents = {
    "group": None,
    "location": "group",
    "zone": "location",
    "screen": "zone",
    "installation": "location",
    "camera": "zone",
}
hours = {"mon": [{"opens": "09:00", "closes": "18:30"}]}
device = "dev_01968f3e-7a4b-7cc1-9f6e-3a5b2c1d0e4"

# Valid values by column; other values are generated now and then.
fitting = {
    "name": ["Bahnhofstrasse", "Gare du Nord, 1", '"Quoted"', "窓"],
    "description": [None, "Shops\nin the city"],
    "timezone": ["Europe/Zurich", "UTC"],
    "address": [None, "Bahnhofstrasse 1, 8001 Zurich"],
    "latitude": [47.3686],
    "longitude": [8.5392],
    "venue_type": [None, "retail.grocery"],
    "opening_hours": [None, hours],
    "status": ["active", "live", "removed"],
    "zone_kind": ["window", "other"],
    "tags": [["window", "Eye Level"], []],
    "width_px": [1920, 1],
    "height_px": [1080, 65535],
    "accepted_formats": [["image/png", "video/mp4"]],
    "audio": [True, False],
    "device_id": [f"{device}{n}" for n in "123456789abcdef"],
    "outputs": [[], [{"output": "HDMI-1", "screen": "screen-1"}]],
}
of_kind = {
    "group": ["name", "description"],
    "location": ["name", "timezone", "address", "latitude", "longitude", "venue_type", "opening_hours"],
    "zone": ["name", "zone_kind"],
    "screen": ["name", "tags", "width_px", "height_px", "accepted_formats", "audio"],
    "installation": ["name", "device_id", "outputs"],
    "camera": ["name", "device_id"],
}
odd = st.one_of(st.none(), st.text(max_size=20), st.integers(), st.floats(allow_nan=False, allow_infinity=False))
columns = ["kind", "external_id", "parent", *fitting]


def seldom(strategy, other):
    return st.integers(0, 39).flatmap(lambda n: other if n == 0 else strategy)


@st.composite
def row(draw, kind, sound=False):
    """Generates a row. Sound rows form a tree of their own, which is always valid."""
    parent = parents[kind]
    of = {"kind": kind, "external_id": f"{kind}-{0 if sound else draw(st.integers(1, 4))}"}
    if parent:
        of["parent"] = f"{parent}-{0 if sound else draw(st.integers(1, 2))}"
    for column in of_kind[kind]:
        fits = st.sampled_from(fitting[column])
        of[column] = draw(fits if sound else seldom(fits, odd))
    if sound and kind == "installation":
        of |= {"device_id": f"{device}0", "outputs": []}
    return of


def rows():
    """Generates a sound tree and then other rows, mostly parents before their children."""
    tree = st.tuples(*(row(kind, sound=True) for kind in parents))
    kinds = st.lists(st.sampled_from(list(parents)), max_size=12)
    in_order = kinds.map(lambda some: sorted(some, key=list(parents).index))
    others = seldom(in_order, kinds).flatmap(lambda some: st.tuples(*(row(kind) for kind in some)))
    return st.tuples(tree, others).map(lambda both: both[0] + both[1])


def in_cell(column, value):
    if value is None:
        return ""
    if column in ("tags", "accepted_formats") and isinstance(value, list):
        return ",".join(value)
    return json.dumps(value) if isinstance(value, list | dict | bool) else str(value)


def as_csv(some):
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(columns)
    writer.writerows([[in_cell(column, one.get(column)) for column in columns] for one in some])
    return text.getvalue().encode()


def as_ndjson(some):
    return "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in some).encode()


anything = st.one_of(st.binary(max_size=40), st.text(max_size=40).map(str.encode))
schemathesis.openapi.media_type("text/csv", seldom(rows().map(as_csv), anything))
schemathesis.openapi.media_type("application/x-ndjson", seldom(rows().map(as_ndjson), anything))


@schemathesis.serializer("text/csv", "application/x-ndjson")
def as_it_is(context, value):
    return value if isinstance(value, bytes) else (value if isinstance(value, str) else json.dumps(value)).encode()


@schemathesis.hook
def before_load_schema(context, raw_schema):
    """Removes the examples, which are text, because the generated files are bytes. estate.ts uploads the CSV example."""
    for path in raw_schema["paths"].values():
        for operation in path.values():
            for content in operation.get("requestBody", {}).get("content", {}).values():
                if content["schema"].get("type") == "string":
                    content.pop("example", None)


# The details of a 400 for text that is not an estate file, as the endpoint's description says.
fault_of_a_file = re.compile(r"body: (is required|has no rows)\.|row \d+: ")


def takes_file(case):
    return "text/csv" in case.operation.definition.raw.get("requestBody", {}).get("content", {})
