#!/usr/bin/env python3
"""Speed of policies in Python against the same ones in C++: docs/benchmarks.md. Needs goban_lab.

usage: lab_bench.py [JOBS]
"""

import subprocess
import sys
import time

import goban_lab as lab


class Static(lab.Policy):
    """First come first served, stated in Python."""

    when = "arrival"

    def order(self, view):
        return view.submit_s


class Every(Static):
    when = "360s"


class Placed(lab.Policy):
    def place(self, view, job):
        return view.free.lowest(job.gpus)

    places_anywhere = True


def cpu_s(jobs, cluster, policy):
    best = float("inf")
    for _ in range(3):
        begin = time.process_time()
        lab.simulate(jobs, cluster, policy)
        best = min(best, time.process_time() - begin)
    return best


def steps_per_s(count, steps):
    """Steps of environments in CPU seconds, each action the first valid one."""
    jobs = lab.generate(jobs=20_000, gpus=64, load=1.0)
    cluster = lab.cluster("8x8:V100")
    best = 0.0
    for _ in range(3):
        env = lab.env(jobs, cluster, slots=32, num_envs=None if count == 1 else count)
        _, info = env.reset(seed=1)
        spent = 0.0
        for _ in range(steps // count):
            action = info["action_mask"].argmax(axis=-1)
            begin = time.process_time()
            _, _, ended, _, info = env.step(action)
            spent += time.process_time() - begin
            if count == 1 and ended:
                _, info = env.reset()
        best = max(best, steps / spent)
    return best


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 2_500_000
    cluster = lab.cluster("1088x4")
    jobs = lab.generate(jobs=count, gpus=4352, load=1.0)
    base = cpu_s(jobs, cluster, "fifo+packed")
    print(f"fifo+packed in C++: {count / base:,.0f} jobs/s")
    for policy in (Static(), Every()):
        own = cpu_s(jobs, cluster, policy)
        print(f"order in Python, {policy.when}: {count / own:,.0f} jobs/s, {own / base:.2f} x C++")
    own = cpu_s(jobs, cluster, Placed())
    print(f"place in Python: {count / own:,.0f} jobs/s, one call each")
    unlimited = lab.generate(jobs=count // 5, gpus=4352, load=1.0, limits=False)
    own = cpu_s(unlimited, cluster, Static())
    print(f"order in Python, arrival, jobs without limits: {count // 5 / own:,.0f} jobs/s")
    for name, number in (("one environment", 1), ("64 environments in one", 64)):
        try:
            print(f"{name}: {steps_per_s(number, 128_000):,.0f} steps/s")
        except lab.LabError as error:
            print(f"{name}: not measured: {error}")
    program = "import time; t = time.process_time(); import goban_lab; print(time.process_time() - t)"
    took = min(float(subprocess.check_output([sys.executable, "-c", program])) for _ in range(5))
    print(f"import goban_lab: {took:.3f} s")


if __name__ == "__main__":
    main()
