"""Reading, changing and writing histories: rows of a generic CSV as dictionaries."""

import csv
import gzip
import random

from study import goban

DAY_S = 86400


def read_csv(path):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt", newline="") as source:
        return list(csv.DictReader(source))


def read_generic(path):
    """The rows of a generic CSV, with times as numbers."""
    rows = read_csv(path)
    for row in rows:
        for name in ("submit_time", "duration", "num_gpus", "start_time"):
            if row.get(name):
                row[name] = float(row[name])
    return rows


def read_any(path, folder):
    """The rows of any history that goban can read, in submit order."""
    converted = f"{folder}/converted.csv"
    goban("trace", "convert", path, "--out", converted)
    return read_generic(converted)


def write_history(path, rows):
    """Writes rows in submit order, renumbered."""
    names = [name for name in rows[0] if name != "job_id"]
    with open(path, "w", newline="") as target:
        writer = csv.writer(target)
        writer.writerow(["job_id", *names])
        for number, row in enumerate(sorted(rows, key=lambda row: row["submit_time"])):
            row = row | {"num_gpus": int(row["num_gpus"])}
            writer.writerow([number, *(row[name] for name in names)])
    return path


def busy_gpus(rows, span_s):
    """GPU-seconds of all jobs over a time span."""
    return sum(row["num_gpus"] * row["duration"] for row in rows) / span_s


def peak_gpus(rows):
    """The maximum number of GPUs in use if every job starts when recorded, or else when submitted."""
    changes = []
    for row in rows:
        start = row.get("start_time") or row["submit_time"]
        changes += [(start, row["num_gpus"]), (start + row["duration"], -row["num_gpus"])]
    now = peak = 0
    for _, change in sorted(changes):
        now += change
        peak = max(peak, now)
    return int(peak)


def compressed(rows, gpus, load):
    """The same jobs with compressed submit times: their GPU-seconds are the share `load` of the capacity
    of the GPUs between the first and the last submission."""
    first, last = rows[0]["submit_time"], rows[-1]["submit_time"]
    factor = busy_gpus(rows, last - first) / (gpus * load)
    return [row | {"submit_time": round((row["submit_time"] - first) * factor, 3)} for row in rows]


def by_day(rows, first_s, days):
    """The submissions of each day as lists, with submit times relative to the day's start."""
    table = [[] for _ in range(days)]
    for row in rows:
        day, second = divmod(row["submit_time"] - first_s, DAY_S)
        if 0 <= day < days:
            table[int(day)].append(row | {"submit_time": second})
    return table


def joined(days):
    """A history of consecutive days, from time 0."""
    return [row | {"submit_time": number * DAY_S + row["submit_time"]}
            for number, day in enumerate(days) for row in day]


def resampled(days, seed):
    """The same number of whole days, drawn with replacement."""
    return joined(random.Random(seed).choices(days, k=len(days)))
