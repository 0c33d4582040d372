#!/usr/bin/env python3
"""check.py PROMTOOL: the alert rules of examples/monitoring fire as their test specifies, and Prometheus
accepts every query of the dashboard."""
import json
import pathlib
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


def main():
    promtool = sys.argv[1]
    subprocess.run([promtool, "test", "rules", "goban_alerts_test.yml"], cwd=FOLDER, check=True)
    asked = list(questions(json.loads((FOLDER / "goban_dashboard.json").read_text())))
    assert len(asked) > 10, "the dashboard has no queries"
    rules = [{"record": f"asked_{i}", "expr": expr} for i, expr in enumerate(asked)]
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "asked.yml")  # JSON is YAML
        file.write_text(json.dumps({"groups": [{"name": "asked", "rules": rules}]}))
        subprocess.run([promtool, "check", "rules", file], check=True)


main()
