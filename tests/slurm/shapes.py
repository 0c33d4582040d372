"""Shapes of jobs on a real Slurm: managed partitions with different nodes, jobs of several small parts, parts with equal GPU
indices; allocations of salloc and srun; GPU types by name; nodes that sleep; and those that are left to Slurm, with the reason in squeue and `goban explain`; heterogeneous jobs. Most of its time it
waits for Slurm, which starts heterogeneous jobs in backfill cycles only.

    shapes.py GOBAN     (needs root and Slurm; 77 without them)
"""

import collections
import os
import signal
import sys
import time

from serving import USER, Serving, expect
from slurm_site import skip_where_missing

PARTITIONS = "PartitionName=left Nodes=n[1-2] DefaultTime=10\nPartitionName=right Nodes=n[2-4] DefaultTime=10\nPartitionName=last Nodes=n4 DefaultTime=10\n"
POWER = """[[node]]
name = "test"
gpus = 4
host_idle_w = 120
gpu_idle_w = 30
gpu_max_w = 300
gpu_dynamic_w = 200
[[node.state]]  # a node sleeps after 3 s without a job
name = "sleep"
power_w = 40
enter = "1s"
enter_j = 340
wake = "1s"
wake_j = 340
"""
HETEROGENEOUS = "#!/bin/sh\n#SBATCH -p right --gres=gpu:1\n#SBATCH hetjob\n#SBATCH -p right --gres=gpu:2\nsleep 600\n"


ALIKE = "#!/bin/sh\n#SBATCH --gres=gpu:1 -c2\n#SBATCH hetjob\n#SBATCH --gres=gpu:1 -c2\nsleep 600\n"


def nodes_of(job):
    return {gpu["node"] for gpu in job["gpus"]}


def first_try(serving, number, own=""):
    """It was never declined: the mark has the number of the run, and says what its user named: its nodes, their GPUs."""
    mark = serving.site.job(number)["AdminComment"]
    expect(mark.endswith(f".1:{own}" if own else ".1"), f"{number} was placed more than once: {mark}")


def partitions(serving):
    """A job is placed on nodes of its partition only, and waits for them while others are free."""
    site = serving.site
    left = [site.sbatch("-p", "left", "--gres=gpu:4", user=USER) for _ in range(3)]
    held = [serving.wait_state(number, "running") for number in left[:2]]
    expect(nodes_of(held[0]) | nodes_of(held[1]) == {"n1", "n2"}, f"two nodes of two: {held}")
    serving.wait_state(left[2], "waiting")
    right = [site.sbatch("-p", "right", "--gres=gpu:4", user=USER) for _ in range(2)]
    held = [serving.wait_state(number, "running") for number in right]
    expect(nodes_of(held[0]) | nodes_of(held[1]) == {"n3", "n4"}, f"n2 is taken: {held}")
    site.run("scancel", right[0], check=True)
    serving.wait_state(right[0], "done")
    expect(site.state(left[2]) == "PENDING" and site.job(left[2])["Priority"] == "0", "a node of the other partition is not for it")
    why = "not together on the nodes that it needs"
    site.wait_for(why, lambda: why in serving.daemon.goban_run("explain", f"@{left[2]}").stdout)
    site.run("scancel", left[0], check=True)
    serving.wait_state(left[2], "running")
    for number in (*left[1:], right[1]):
        first_try(serving, number)
    # The owner moves a job that waits.
    more = site.sbatch("-p", "left", "--gres=gpu:4", user=USER)
    serving.wait_state(more, "waiting")
    site.run("scontrol", "update", f"jobid={more}", "partition=right", check=True)
    job = serving.wait_state(more, "running")
    expect(nodes_of(job) <= {"n3", "n4"}, str(job))
    first_try(serving, more)
    site.run("scancel", *left, *right, more)
    for number in (*left, *right, more):
        serving.wait_state(number, "done")


def several_partitions(serving):
    """A job that names several partitions is placed on the nodes of any of them, and of no other."""
    site = serving.site
    words = ("-p", "last,left", "--gres=gpu:4")
    held = [site.sbatch(*words, user=USER) for _ in range(3)]
    nodes = {number: nodes_of(serving.wait_state(number, "running")) for number in held}
    expect(set().union(*nodes.values()) == {"n1", "n2", "n4"}, f"the nodes of both: {nodes}")
    waits = site.sbatch("-p", "left,last", "--gres=gpu:4", user=USER)
    serving.wait_state(waits, "waiting")
    why = "not together on the nodes that it needs"
    site.wait_for(why, lambda: why in serving.daemon.goban_run("explain", f"@{waits}").stdout)
    expect(site.job(waits)["Priority"] == "0", "n3 is free, but not for it")
    again = held[1]
    expect(serving.daemon.goban_run("requeue", f"@{again}").returncode == 0, "requeue")
    for number in (waits, again):  # one of them gets the node, whatever partition it ran in before
        site.run("scancel", *(other for other in held if other != again))
        expect(nodes_of(serving.wait_state(number, "running")) <= {"n1", "n2", "n4"}, number)
    for number in (*held[::2], waits):
        first_try(serving, number)
    site.run("scancel", *held, waits)
    for number in (*held, waits):
        serving.wait_state(number, "done")
    mixed = site.sbatch("-p", "left,other", "--gres=gpu:1", user=USER)
    site.wait_for("a job of a partition that is not managed, too", lambda: site.state(mixed) == "RUNNING")
    expect(site.job(mixed)["AdminComment"] == "goban:slurm:other-partitions", str(site.job(mixed)))
    site.run("scancel", mixed)


def small_parts(serving):
    site = serving.site
    for words, gpus in ((("-N2", "--gres=gpu:1"), 1), (("-N3", "--gpus-per-node=2"), 2), (("-N2", "--gpus=2"), 1)):
        number = site.sbatch("-p", "right", *words, user=USER)
        counts = collections.Counter(gpu["node"] for gpu in serving.wait_state(number, "running")["gpus"])
        expect(len(counts) == int(words[0][2:]) and set(counts.values()) == {gpus}, f"{words}: {counts}")
        expect(set(counts) <= {"n2", "n3", "n4"}, str(counts))
        first_try(serving, number)
        site.run("scancel", number, check=True)
        serving.wait_state(number, "done")


def own_nodes(serving):
    """Nodes and features that a job names are where it is placed, in its turn; every time."""
    site = serving.site
    site.run("scontrol", "update", "nodename=n4", "AvailableFeatures=ib", "ActiveFeatures=ib", check=True)
    site.wait_for("a feature", lambda: "ActiveFeatures=ib" in site.run("scontrol", "show", "node", "n4").stdout)
    fill = {}
    for number in [site.sbatch("-p", "right", "--gres=gpu:4", user=USER) for _ in range(3)]:
        fill[nodes_of(serving.wait_state(number, "running")).pop()] = number
    named = site.sbatch("-p", "right", "-w", "n3", "--gres=gpu:2", user=USER)
    serving.wait_state(named, "waiting")
    both = site.sbatch("-p", "right", "-w", "n3,n4", "-N2", "--gres=gpu:1", user=USER)
    by_feature = site.sbatch("-p", "right", "-C", "ib", "--gres=gpu:2", user=USER)
    for number in (both, by_feature):
        serving.wait_state(number, "waiting")
    site.run("scancel", fill["n2"], check=True)
    other = site.sbatch("-p", "right", "--gres=gpu:1", user=USER)
    expect(nodes_of(serving.wait_state(other, "running")) == {"n2"}, "free, but not for the others")
    for number in (named, both, by_feature):
        expect(site.job(number)["Reason"] == "JobHeldUser", f"{number} waits for its nodes")
    site.run("scancel", fill["n3"], fill["n4"], check=True)
    for number, nodes in ((named, {"n3"}), (both, {"n3", "n4"}), (by_feature, {"n4"})):
        job = serving.wait_state(number, "running")
        expect(nodes_of(job) == nodes, f"{nodes}: {job}")
        first_try(serving, number, own="nodes" if number != by_feature else "")
    # Another daemon, and another run: what Goban wrote into the request is still known as its user's choice.
    serving.restart()
    serving.wait_state(named, "running")
    site.run("scancel", other, both, by_feature, check=True)
    expect(serving.daemon.goban_run("requeue", f"@{named}").returncode == 0, "requeue")
    site.wait_for("its next run", lambda: site.job(named).get("Restarts") == "1" and site.state(named) == "RUNNING", 60)
    expect(nodes_of(serving.wait_state(named, "running")) == {"n3"}, str(serving.job(named)))
    expect(site.job(named)["ReqNodeList"] == "n3" and site.job(named)["AdminComment"].endswith(":nodes"), str(site.job(named)))
    site.run("scancel", named, check=True)
    for number in (named, both, by_feature, other):
        serving.wait_state(number, "done")


def own_indices(goban):
    """GPUs that a job names by their index types are what it gets, in its turn; every time."""
    with Serving(goban, indices="types", nodes=2) as serving:
        site = serving.site
        places = lambda job: {(gpu["node"], gpu["index"]) for gpu in job["gpus"]}
        first = site.sbatch("-w", "n1", "--gres=gpu:g1:1,gpu:g3:1", user=USER)
        expect(places(serving.wait_state(first, "running")) == {("n1", 1), ("n1", 3)}, str(serving.job(first)))
        first_try(serving, first, own="nodes:indices")
        second = site.sbatch("-w", "n1", "--gres=gpu:g1:1", user=USER)
        gang = site.sbatch("-N2", "--gres=gpu:g1:1", user=USER)
        for number in (second, gang):
            serving.wait_state(number, "waiting")
            expect(site.job(number)["Reason"] == "JobHeldUser", f"{number} waits for its GPUs, though others are free")
        site.run("scancel", first, check=True)
        expect(places(serving.wait_state(second, "running")) == {("n1", 1)}, str(serving.job(second)))
        first_try(serving, second, own="nodes:indices")
        # Another daemon, and another run: what Goban wrote into the request is still known as its user's choice.
        serving.restart()
        serving.wait_state(second, "running")
        expect(serving.daemon.goban_run("requeue", f"@{second}").returncode == 0, "requeue")
        expect(places(serving.wait_state(gang, "running")) == {("n1", 1), ("n2", 1)}, str(serving.job(gang)))
        first_try(serving, gang, own="indices")
        serving.wait_state(second, "waiting")
        site.run("scancel", gang, check=True)
        expect(places(serving.wait_state(second, "running")) == {("n1", 1)}, str(serving.job(second)))
        expect(site.job(second)["Restarts"] == "1" and site.job(second)["AdminComment"].endswith(".2:nodes:indices"), str(site.job(second)))
        # Its owner may change his choice while it waits.
        changing = site.sbatch("-w", "n1", "--gres=gpu:g1:1", user=USER)
        serving.wait_state(changing, "waiting")
        changed = site.run("scontrol", "update", f"jobid={changing}", "TresPerNode=gres:gpu:g2:1", user=USER)
        expect(changed.returncode == 0, changed.stderr)
        # (Slurm 22.05 does not give it another GPU of the node while the one that it named first is taken.)
        site.run("scancel", second, check=True)
        expect(places(serving.wait_state(changing, "running", limit_s=60)) == {("n1", 2)}, str(serving.job(changing)))
        for twice in ("gpu:g1:2", "gpu:g1:1,gpu:g1:1"):
            ran = site.run("sbatch", f"--gres={twice}", "--wrap", "true", user=USER)
            expect(ran.returncode != 0 and "one GPU of type g1" in ran.stderr, ran.stderr)
        number = site.sbatch("--gpus=g0:1", user=USER)
        mark = "goban:slurm:gpu-by-index"
        site.wait_for(mark, lambda: mark in site.run("squeue", "-h", "-j", number, "-O", "admin_comment:60").stdout)
        serving.daemon.stop(9)
        serving.replay()


def interactive(serving):
    """A gang that somebody waits for at a terminal is placed as batch jobs are; without its client it does not stay."""
    site = serving.site
    fill = [site.sbatch("-p", "right", "--gres=gpu:4", user=USER) for _ in range(3)]
    nodes = set().union(*(nodes_of(serving.wait_state(number, "running")) for number in fill))
    gang, number = site.salloc("gang", "-p", "right", "-N2", "--gres=gpu:4", "srun", "--interactive", "--preserve-env", "hostname", user=USER)
    serving.wait_state(number, "waiting")
    expect(site.job(number)["Priority"] == "0", "held")
    lone, gone = site.salloc("gone", "-p", "right", "--gres=gpu:4", "sleep", "600", user=USER)
    serving.wait_state(gone, "waiting")
    refused = serving.daemon.goban_run("requeue", f"@{gone}")
    expect(refused.returncode == 1, "it does not run")
    os.killpg(lone.pid, signal.SIGKILL)
    lone.wait()
    site.run("scancel", *fill[:2], check=True)
    said = gang.communicate(timeout=60)[0]
    expect(gang.returncode == 0 and "Granted" in said, said)
    facts = site.job(number)
    expect(facts["AdminComment"].startswith("goban:") and facts["NumNodes"] == "2", str(facts))
    expect(serving.wait_state(number, "done")["result"] == "completed", f"nodes of fill: {nodes}")
    # The client of the other one is gone: Slurm starts it when a node is free, and ends it as nobody answers.
    site.wait_for("the end of an allocation without a client", lambda: site.state(gone) not in ("PENDING", "RUNNING"), 60)
    serving.wait_state(gone, "done")
    site.run("scancel", fill[2], check=True)
    serving.wait_state(fill[2], "done")
    kept, number = site.salloc("kept", "-p", "right", "--gres=gpu:1", "srun", "--interactive", "--preserve-env", "sleep", "600", user=USER)
    serving.wait_state(number, "running")
    first_try(serving, number)
    refused = serving.daemon.goban_run("requeue", f"@{number}")
    expect(refused.returncode == 1 and "cannot be requeued" in refused.stderr, refused.stderr)
    serving.restart()
    serving.wait_state(number, "running")
    expect(serving.daemon.goban_run("cancel", f"@{number}").returncode == 0, "cancel")
    serving.wait_state(number, "done")
    kept.communicate(timeout=60)


def left_to_slurm(serving):
    site = serving.site
    shapes = ((("-N2", "--gpus=3"), "unequal-nodes", {}), ((), "unlike-components", {"script": HETEROGENEOUS}),
              (("-x", "n2,n4", "--gres=gpu:1"), "own-choice-of-nodes", {}), (("-w", "n3", "-N2", "--gres=gpu:1"), "own-choice-of-nodes", {}))
    for words, why, options in shapes:
        number = site.sbatch(*(("-p", "right") if words else ()), *words, user=USER, **options)
        site.wait_for(f"{words} by Slurm", lambda n=number: site.state(n).startswith("RUNNING"))
        mark = f"goban:slurm:{why}"
        site.wait_for(mark, lambda n=number, m=mark: m in site.run("squeue", "-h", "-j", n, "-O", "admin_comment:60").stdout)
        text = f"left to Slurm: {why.replace('-', ' ')}"
        site.wait_for(text, lambda n=number, t=text: t in serving.daemon.goban_run("explain", f"@{n}").stdout)
        site.run("scancel", number, check=True)
        site.wait_for("its end", lambda n=number: "RUNNING" not in site.state(n))
    # So are those that their user held first.
    held = site.sbatch("-H", "-p", "right", "-w", "n3", "-N2", "--gres=gpu:1", user=USER)
    serving.wait_state(held, "depends")
    site.run("scontrol", "release", held, user=USER, check=True)
    site.wait_for("its start by Slurm", lambda: site.state(held).startswith("RUNNING"))
    expect("n3" in site.run("scontrol", "show", "hostnames", site.job(held)["NodeList"]).stdout.split(), str(site.job(held)))
    site.run("scancel", held, check=True)


def drained_choice(serving):
    """A job whose nodes are out of service stands in nobody's way, and says why it waits."""
    site = serving.site
    site.run("scontrol", "update", "nodename=n3", "state=drain", "reason=repair", check=True)
    number = site.sbatch("-p", "right", "-w", "n3", "--gres=gpu:1", user=USER)
    why = "n3 is drained (repair"
    site.wait_for(why, lambda: why in serving.daemon.goban_run("explain", f"@{number}").stdout)
    site.run("scontrol", "update", "nodename=n3", "state=resume", check=True)
    expect(nodes_of(serving.wait_state(number, "running", limit_s=60)) == {"n3"}, "in service again")
    site.run("scancel", number, check=True)
    serving.wait_state(number, "done")


def equal_indices(goban):
    """With types per index, all nodes of a job give it the same indices."""
    with Serving(goban, indices="types", nodes=3, sleep=True) as serving:
        site = serving.site
        others = [site.sbatch("-p", "other", "-w", node, *(f"--gres=gpu:{gpu}:1" for gpu in gpus), user=USER)
                  for node, gpus in (("n1", ("g0",)), ("n2", ("g1",)), ("n3", ("g2",)))]
        for number in others:
            serving.wait_state(number, "running")
        number = site.sbatch("-N3", "--gres=gpu:1", user=USER)
        job = serving.wait_state(number, "running")
        expect({(gpu["node"], gpu["index"]) for gpu in job["gpus"]} == {("n1", 3), ("n2", 3), ("n3", 3)}, str(job["gpus"]))
        expect(site.job(number)["GRES"] == "gpu:g3:1(IDX:3)", str(site.job(number)))
        first_try(serving, number)
        wide = site.sbatch("-N2", "--gres=gpu:2", user=USER)
        serving.wait_state(wide, "waiting")  # two are free on each node, but not the same two
        site.run("scancel", others[0], check=True)
        by_node = collections.defaultdict(set)
        for gpu in serving.wait_state(wide, "running")["gpus"]:
            by_node[gpu["node"]].add(gpu["index"])
        expect(len(by_node) == 2 and len({frozenset(each) for each in by_node.values()}) == 1, str(by_node))
        first_try(serving, wide)
        site.run("scancel", wide, check=True)
        serving.wait_state(wide, "done")
        ran = site.run("srun", "-J", "step", "--gres=gpu:1", "sh", "-c", "echo $CUDA_VISIBLE_DEVICES", user=USER)
        facts = site.job(site.number_of("step"))
        expect(ran.returncode == 0 and facts["AdminComment"].startswith("goban:"), f"{ran.stderr} {facts}")
        expect(f"gpu:g{ran.stdout.strip()}:1" in facts["TresPerNode"], f"the GPU that was chosen: {ran.stdout} {facts}")
        serving.daemon.stop(9)
        serving.replay()
        sleeps(serving)


def heterogeneous(goban):
    """A heterogeneous job of alike components is one job, with other indices on each node; others are Slurm's."""
    with Serving(goban, indices="types", nodes=2, gpus=2, scheduler="sched_interval=2,bf_interval=2") as serving:
        site = serving.site

        def leader(number):
            ran = site.run("scontrol", "-o", "show", "job", "-d", number)
            return dict(word.split("=", 1) for word in ran.stdout.splitlines()[0].split() if "=" in word)

        def component(number):
            return site.job(int(number) + 1)

        def check(number, expected):
            job = serving.wait_state(number, "running")
            expect({(gpu["node"], gpu["index"]) for gpu in job["gpus"]} == expected, str(job["gpus"]))
            found = {(facts["NodeList"], facts["GRES"]) for facts in (leader(number), component(number))}
            expect(found == {(node, f"gpu:g{index}:1(IDX:{index})") for node, index in expected}, f"{found}")

        # g1 of n1 and g0 of n2 are free: no index is free on both.
        others = [site.sbatch("-p", "other", "-w", node, f"--gres=gpu:g{gpu}:1", user=USER) for node, gpu in (("n1", 0), ("n2", 1))]
        for number in others:
            serving.wait_state(number, "running")
        free = {("n1", 1), ("n2", 0)}
        began = time.monotonic()
        number = site.sbatch(script=ALIKE, user=USER)
        check(number, free)
        print(f"a heterogeneous job ran after {time.monotonic() - began:.1f} s", flush=True)
        first_try(serving, number)
        expect(str(int(number) + 1) not in serving.jobs(), "its components are one job")
        expect(component(number)["AdminComment"] == leader(number)["AdminComment"], "each is marked")
        serving.restart()
        check(number, free)
        second = site.sbatch(script=ALIKE, user=USER)
        serving.wait_state(second, "waiting")
        for change in ("TresPerNode=gres:gpu:g0:1", "ExcNodeList=n1"):  # of one that is placed, and of one that waits
            refused = site.run("scontrol", "update", f"jobid={int(number if 'Tres' in change else second) + 1}", change, user=USER)
            expect(refused.returncode != 0, change)
        requeued = serving.daemon.goban_run("requeue", f"@{number}")
        expect(requeued.returncode == 0, requeued.stderr)
        site.wait_for("its end", lambda: leader(number).get("Restarts") == "1" and component(number).get("Restarts") == "1", 60)
        for each in (second, number) if serving.job(second)["state"] != "waiting" else (number, second):
            check(each, free)
            expect(serving.daemon.goban_run("cancel", f"@{each}").returncode == 0, "cancel")
            serving.wait_state(each, "done")
            expect(component(each)["JobState"] == "CANCELLED", str(component(each)))
        # An owner's hold, and its end.
        held = site.sbatch("-H", script=ALIKE, user=USER)
        serving.wait_state(held, "depends")
        site.run("scontrol", "release", held, user=USER, check=True)
        check(held, free)
        first_try(serving, held)
        # A node fails: all of it waits again, and is placed again when the node is back.
        site.run("scontrol", "update", "nodename=n2", "state=down", "reason=test", check=True)
        site.wait_for("its next run", lambda: all(facts.get("Restarts") == "1" and facts["JobState"] == "RUNNING"
                                                  for facts in (leader(held), component(held))), 90)
        check(held, free)
        site.run("scancel", held, *others, check=True)
        for number in (held, *others):
            serving.wait_state(number, "done")
        # Unlike components: Slurm's, and it says so while it waits.
        fill = site.sbatch("-N2", "--gres=gpu:2", user=USER)
        serving.wait_state(fill, "running")
        unlike = site.sbatch(script=ALIKE.replace("-c2\nsleep", "-c1\nsleep"), user=USER)
        text = "left to Slurm: unlike components"
        site.wait_for(text, lambda: text in serving.daemon.goban_run("explain", f"@{unlike}").stdout)
        expect(site.state(unlike).startswith("PENDING"), "it waits")
        site.run("scancel", fill, check=True)
        site.wait_for("its start", lambda: site.state(unlike).startswith("RUNNING"))
        site.wait_for(text, lambda: text in serving.daemon.goban_run("explain", f"@{unlike}").stdout)
        serving.daemon.stop(9)
        print(f"{serving.replay()} decisions replayed equal")


def named_types(goban):
    """Nodes with GPUs of different types: a type that a job names decides where it is placed."""
    with Serving(goban, models=("a100", "v100", "v100"), nodes=3) as serving:
        site = serving.site
        for words, nodes in ((("--gres=gpu:v100:3",), ("n2", "n3")), (("-N2", "--gres=gpu:v100:1"), ("n2", "n3")),
                             (("--gpus=a100:2",), ("n1",)), (("--gres=gpu:4",), ("n1", "n2", "n3"))):
            number = site.sbatch(*words, user=USER)
            job = serving.wait_state(number, "running")
            expect(nodes_of(job) <= set(nodes) and len(nodes_of(job)) == (2 if "-N2" in words else 1), f"{words}: {job}")
            first_try(serving, number)
            site.run("scancel", number, check=True)
            serving.wait_state(number, "done")
        fill = [site.sbatch("--gres=gpu:v100:4", user=USER) for _ in range(3)]
        for number in fill[:2]:
            serving.wait_state(number, "running")
        serving.wait_state(fill[2], "waiting")  # while n1 is free
        expect(site.job(fill[2])["Priority"] == "0", "held")
        refused = site.run("sbatch", "--gres=gpu:h100:1", "--wrap", "true", user=USER)
        expect(refused.returncode != 0 and "no GPUs of type h100" in refused.stderr, refused.stderr)
        both = site.sbatch("--gres=gpu:a100:1,gpu:v100:1", user=USER)
        site.wait_for("why Slurm decides", lambda: site.job(both).get("AdminComment") == "goban:slurm:several-gpu-types")
        site.run("scancel", *fill, both)
    with Serving(goban, models=("a100+v100", "v100"), nodes=2) as serving:
        site = serving.site
        named = site.sbatch("--gres=gpu:v100:1", user=USER)
        site.wait_for("why Slurm decides", lambda: site.job(named).get("AdminComment") == "goban:slurm:gpu-type-of-mixed-nodes")
        site.wait_for("its start", lambda: site.state(named) == "RUNNING")
        any_type = site.sbatch("-N2", "--gres=gpu:1", user=USER)
        expect(nodes_of(serving.wait_state(any_type, "running")) == {"n1", "n2"}, "a job that names none is ours")
        first_try(serving, any_type)


def sleeps(serving):
    """Idle nodes fall asleep by Slurm's power states, as many as a job needs wake up, and it starts on them."""
    site = serving.site
    site.run("scancel", "--user", USER)
    site.write("etc/power.toml", POWER)
    with open(serving.daemon.config, "w") as config:
        energy = f'energy = "{site.path("etc/power.toml")}"\n'
        config.write(energy + serving.text.replace("fifo+packed", "fifo+packed+sleep").replace("[slurm]", '[slurm]\nsleep = "yes"'))
    serving.daemon.start()

    def asleep():
        return [line.split()[0] for line in site.run("sinfo", "-h", "-N", "-o", "%N %T").stdout.splitlines() if line.endswith("~")]
    site.wait_for("sleep", lambda: len(set(asleep())) == 3, 60)
    number = site.sbatch("-N2", "--gres=gpu:2", user=USER)
    nodes = nodes_of(serving.wait_state(number, "running", limit_s=120))
    first_try(serving, number)
    with open(site.path("log/power")) as log:
        said = log.read().split("\n")
    expect({line.split()[1] for line in said if line.startswith("up")} == nodes, f"no other node was woken: {said}, {nodes}")
    expect(set(asleep()).isdisjoint(nodes) and len(set(asleep())) == 1, str(asleep()))
    serving.restart()
    serving.wait_state(number, "running")
    site.run("scancel", number, check=True)
    site.wait_for("sleep again", lambda: len(set(asleep())) == 3, 60)


def released(goban):
    """A job that was placed and waits again has its GPUs when scheduling is given back to Slurm."""
    with Serving(goban, indices="types", nodes=2, gpus=2) as serving:
        site = serving.site
        number = site.sbatch("--gres=gpu:2", user=USER)
        serving.wait_state(number, "running")
        serving.daemon.stop()
        site.run("scontrol", "requeuehold", number, check=True)
        site.wait_for("its hold", lambda: site.state(number) == "PENDING")
        ran = site.run(goban, "engine", "slurm", "release-all", "--all")
        expect(ran.returncode == 0 and "Released 1 jobs" in ran.stdout, ran.stdout + ran.stderr)
        site.wait_for("its start by Slurm", lambda: site.state(number) == "RUNNING", 60)
        expect(site.job(number)["GRES"] == "gpu:g0:1(IDX:0),gpu:g1:1(IDX:1)", str(site.job(number)))
        serving.daemon.start()


def main():
    skip_where_missing()
    began = time.monotonic()
    with Serving(sys.argv[1], policy="easy-backfill+packed", partitions=("left", "right", "last"), slurm=PARTITIONS) as serving:
        for part in partitions, several_partitions, small_parts, own_nodes, interactive, left_to_slurm, drained_choice:
            part(serving)
            print(f"{part.__name__}: {time.monotonic() - began:.1f} s", flush=True)
        serving.daemon.stop(9)
        print(f"{serving.replay()} decisions replayed equal")
        serving.daemon.start()
    equal_indices(sys.argv[1])
    own_indices(sys.argv[1])
    heterogeneous(sys.argv[1])
    released(sys.argv[1])
    named_types(sys.argv[1])
    print(f"{time.monotonic() - began:.1f} s")


if __name__ == "__main__":
    main()
