#!/usr/bin/env python3
"""All published schedulers and policies of goban on the traces of the two artifacts, at several restart costs: the tables of
docs/studies/rivals-compared.md.

usage: rivals_page.py FOLDER      FOLDER/shockwave and FOLDER/elasticflow: the published files (docs/studies/rivals.md)

Needs the package goban_lab (pip install ./lab), and the program that $GOBAN names (build/bin/goban).
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import goban_lab as lab

COSTS_S = (0, 30, 120)
OWN = ("fifo+packed", "las+packed", "srtf+packed", "goban")
SIZES = ("edf", "max-marginal")
GOBAN = os.environ.get("GOBAN", str(Path(__file__).resolve().parents[2] / "build" / "bin" / "goban"))


def own_jobs(columns, folder):
    """The jobs of a rival's trace as a trace of the laboratory: the GPUs that they ask for, and the time that they take alone."""
    path = Path(folder) / "jobs.csv"
    rows = zip(columns["submit_s"].tolist(), columns["alone_s"].tolist(), columns["gpus"].tolist(), strict=True)
    path.write_text("job_id,submit_time,duration,num_gpus,user\n" +
                    "".join(f"{i},{submit!r},{alone!r},{gpus},u\n" for i, (submit, alone, gpus) in enumerate(rows)))
    return lab.trace(path)


def row(name, elastic, means_s, makespan_s):
    cells = [f"{mean:,.0f}" if mean is not None else "-" for mean in means_s]
    return f"| `{name}` | {elastic} | {' | '.join(cells)} | {makespan_s:,.0f} |"


def table(title, rows):
    print(f"\n{title}\n\n| policy | jobs are | mean JCT, s: restart 0 s | 30 s | 120 s | makespan, s, at 30 s |\n|-|-|-|-|-|-|")
    print("\n".join(rows))


def own_rows(columns, cluster):
    with tempfile.TemporaryDirectory() as folder:
        jobs = own_jobs(columns, folder)
        for policy in OWN:
            runs = [lab.simulate(jobs, lab.cluster(cluster), policy, restart_cost_s=cost) for cost in COSTS_S]
            name = policy + (" *" if runs[0].oracle else "")
            yield row(name, "rigid", [run.mean_jct_s for run in runs], runs[1].makespan_s)


def shockwave(folder):
    files = (folder / "trace.csv", folder / "rates_v100.csv", "32x1", folder / "gns_batch_sizes.csv")
    rows, columns = [], None
    for policy in (each for each in lab.rivals() if each.startswith("gavel-")):
        runs = [lab.rival(policy, *files, restart_cost_s=cost) for cost in COSTS_S]
        columns = runs[0].columns
        rows.append(row(policy, "rigid", [run.mean_jct_s for run in runs], runs[1].makespan_s))
    table("120 jobs on 32 GPUs (Shockwave)", rows + list(own_rows(columns, "32x1")))


def elasticflow(folder):
    files = (folder / "trace.csv", folder / "rates_a100.csv", "16x8")
    rows, columns = [], None
    for policy in (each for each in lab.rivals() if each.startswith("elasticflow-")):
        run = lab.rival(policy, *files)
        columns = run.columns
        elastic = "elastic" if policy == "elasticflow-edf" else "rigid"
        # Its program has costs of its own: the figure stands where they are nearest.
        rows.append(row(policy, elastic, [run.mean_jct_s, None, None], run.makespan_s))
    table("100 jobs on 128 GPUs (ElasticFlow)", rows + list(own_rows(columns, "16x8")) + list(elastic_rows(files)))


def elastic_rows(files):
    """Policies of sizes of the core, on the same jobs as elastic ones."""
    trace, rates, cluster = files
    for policy in SIZES:
        runs = []
        for cost in COSTS_S:
            done = subprocess.run([GOBAN, "simulate", "--cluster", cluster, "--jobs", trace, "--rates", rates, "--policy", policy,
                                   "--restart-cost", str(cost), "--json"], capture_output=True, text=True, check=True)
            runs.append(json.loads(done.stdout)["runs"][0])
        yield row(policy, "elastic", [run["avg_jct_s"] for run in runs], runs[1]["makespan_s"])


def main():
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    shockwave(Path(sys.argv[1]) / "shockwave")
    elasticflow(Path(sys.argv[1]) / "elasticflow")


if __name__ == "__main__":
    main()
