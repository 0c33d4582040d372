"""The same scenarios on every engine: jobs start in the order and on the GPUs that the simulator gave them, within two seconds of
its times. The scenarios of an engine run side by side. What fails is repeated once, half as fast: on a busy machine a control
plane may need longer than a scenario gives it.

    conformance.py GOBAN local|slurm|kubernetes [SCENARIO...]     (77 if the engine's software is not here)
"""

import importlib
import os
import subprocess
import sys
import threading
import time

import scenario

SITES = {"local": ("local_driver", "LocalSite"), "slurm": ("slurm_driver", "SlurmConformance"), "kubernetes": ("kube_driver", "KubeConformance")}
WITHIN_S = 2.0


def slowness(goban, count):
    """1 on an idle machine; more where as many programs at once take longer."""
    began = time.monotonic()
    for _ in range(3):
        for ran in [subprocess.Popen([goban, "--version"], stdout=subprocess.DEVNULL) for _ in range(count)]:
            ran.wait()
    return min(max((time.monotonic() - began) / 3 / (0.01 * count), 1.0), 4.0)


def main():
    goban, engine = os.path.abspath(sys.argv[1]), sys.argv[2]
    module, name = SITES[engine]
    site_of = getattr(importlib.import_module(module), name)
    why = site_of.missing()
    if why:
        print(f"skipped: {why}")
        sys.exit(77)
    for each in scenario.left_out(engine):
        print(f"left out: {each}: {site_of.left_out[each]}")  # each has a reason
    chosen = [each for each in scenario.read_all(engine) if not sys.argv[3:] or each.name in sys.argv[3:]]
    if hasattr(site_of, "why_not"):
        for each in filter(site_of.why_not, chosen):
            print(f"left out: {each.name}: {site_of.why_not(each)}")
        chosen = [each for each in chosen if not site_of.why_not(each)]
    failures = play(goban, engine, site_of, chosen, 1.0)
    if failures:
        print("again: " + "\n".join(failures.values()), flush=True)
        failures = play(goban, engine, site_of, [each for each in chosen if each.name in failures], 2.0)
    if failures:
        raise SystemExit("\n".join(failures.values()))


def play(goban, engine, site_of, chosen, slower):
    """Plays the scenarios on a new site; what failed, by scenario."""
    began = time.monotonic()
    with site_of(goban, chosen) as site:
        drivers = [site.driver(each) for each in chosen]
        scale = min(slower * slowness(goban, len(drivers)), 4.0)
        for driver in drivers:
            driver.scale = scale
        for stage in site.stages():
            threads = [threading.Thread(target=driver.run) for driver in drivers if driver.scenario in stage]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        failures = {}
        for driver in drivers:
            try:
                if driver.error:
                    raise SystemExit(f"{driver.scenario.name}: {driver.error!r}")
                worst = driver.check(WITHIN_S)
                print(f"{driver.scenario.name}: {len(driver.scenario.starts)} starts, at most {worst:.1f} s after the simulator's", flush=True)
            except SystemExit as failure:
                driver.error = driver.error or failure
                failures[driver.scenario.name] = str(failure)
            driver.stop()
    print(f"{engine}: {len(drivers)} scenarios in {time.monotonic() - began:.1f} s, {scale:.1f} times as slow as written")
    return failures


if __name__ == "__main__":
    main()
