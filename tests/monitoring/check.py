#!/usr/bin/env python3
"""check.py PROMTOOL: the alert rules of examples/monitoring fire as their test specifies, Prometheus accepts every
query of the dashboard, and the dashboard has the structure that Grafana's schema requires."""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "examples" / "monitoring"


def questions(part):
    """All queries (`expr`) of a dashboard, with its variables filled in."""
    if isinstance(part, dict):
        if "expr" in part:
            yield part["expr"].replace("$instance", ".+")
        part = list(part.values())
    if isinstance(part, list):
        for each in part:
            yield from questions(each)


# The interfaces Dashboard, Panel, VariableModel and FieldConfig of npm's @grafana/schema 11.2: member -> type.
DASHBOARD = {"title": str, "uid": str, "tags": list, "timezone": str, "schemaVersion": int, "version": int, "refresh": str,
             "time": dict, "templating": dict, "panels": list}
PANEL = {"id": int, "type": str, "title": str, "description": str, "datasource": dict, "gridPos": dict, "fieldConfig": dict,
         "options": dict, "targets": list}
VARIABLE = {"name": str, "label": str, "type": str, "datasource": dict, "query": (str, dict), "refresh": int, "includeAll": bool,
            "multi": bool, "current": dict, "options": list, "regex": str, "sort": int, "hide": int}
DEFAULTS = {"unit": str, "min": (int, float), "max": (int, float), "decimals": int, "color": dict, "custom": dict, "thresholds": dict,
            "mappings": list, "noValue": str}
QUERY = {"expr": str, "refId": str, "legendFormat": str, "datasource": dict, "format": str, "instant": bool}
PANEL_TYPES = {"stat", "timeseries", "bargauge", "gauge", "table", "heatmap", "row", "text"}
COLUMNS = 24


def check_members(what, part, known, required=()):
    """Every member is one of the schema, of its type."""
    for name, value in part.items():
        assert name in known, f"{what}: Grafana's schema has no member '{name}'"
        wanted = known[name]
        assert isinstance(value, wanted) and (wanted is bool or not isinstance(value, bool)), f"{what}: {name} is {value!r}"
    missing = set(required) - set(part)
    assert not missing, f"{what}: lacks {sorted(missing)}"


def check_structure(dashboard):
    check_members("dashboard", dashboard, DASHBOARD, ("title", "uid", "schemaVersion", "panels", "time", "templating"))
    assert set(dashboard["time"]) == {"from", "to"} and re.fullmatch(r"[\w-]{1,40}", dashboard["uid"])
    variables = set()
    for variable in dashboard["templating"]["list"]:
        check_members("variable", variable, VARIABLE, ("name", "type", "query"))
        variables.add(variable["name"])
    used = {one or other for one, other in re.findall(r"\$(?:\{(\w+)\}|([a-z]\w*))", json.dumps(dashboard["panels"]))}
    assert used == variables, f"variables that are used {sorted(used)} and defined {sorted(variables)} differ"
    taken, ids = set(), set()
    for panel in dashboard["panels"]:
        what = f"panel '{panel.get('title')}'"
        check_members(what, panel, PANEL, ("id", "type", "title", "gridPos", "fieldConfig", "targets"))
        assert panel["type"] in PANEL_TYPES, f"{what}: type {panel['type']}"
        assert panel["id"] not in ids, f"{what}: two panels have the id {panel['id']}"
        ids.add(panel["id"])
        place = panel["gridPos"]
        assert set(place) == {"x", "y", "w", "h"} and place["w"] > 0 < place["h"] and 0 <= place["x"] <= COLUMNS - place["w"], what
        cells = {(x, y) for x in range(place["x"], place["x"] + place["w"]) for y in range(place["y"], place["y"] + place["h"])}
        assert not cells & taken, f"{what} covers another panel"
        taken |= cells
        assert set(panel["fieldConfig"]) == {"defaults", "overrides"}, what
        check_members(what, panel["fieldConfig"]["defaults"], DEFAULTS, ("unit",))
        steps = panel["fieldConfig"]["defaults"].get("thresholds", {"steps": [{"value": None}]})["steps"]
        values = [step["value"] for step in steps]
        assert values[0] is None and values[1:] == sorted(values[1:]), f"{what}: thresholds {values}"
        letters = [query.get("refId") for query in panel["targets"]]
        assert letters and len(set(letters)) == len(letters), f"{what}: refIds {letters}"
        for query in panel["targets"]:
            check_members(f"query of {what}", query, QUERY, ("expr", "refId", "datasource"))


def main():
    promtool = sys.argv[1]
    check_structure(json.loads((FOLDER / "goban_dashboard.json").read_text()))
    subprocess.run([promtool, "test", "rules", "goban_alerts_test.yml"], cwd=FOLDER, check=True)
    asked = list(questions(json.loads((FOLDER / "goban_dashboard.json").read_text())))
    assert len(asked) > 10, "the dashboard has no queries"
    rules = [{"record": f"asked_{i}", "expr": expr} for i, expr in enumerate(asked)]
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "asked.yml")  # JSON is YAML
        file.write_text(json.dumps({"groups": [{"name": "asked", "rules": rules}]}))
        subprocess.run([promtool, "check", "rules", file], check=True)


main()
