"""An independent implementation of PAL and its baselines: the oracle for `goban simulate`.

The rules are those of R. Jain et al., "PAL: A Variability-Aware Policy for Scheduling ML Workloads
in GPU Clusters" (SC24, arXiv 2408.11919), with the details of its public artifact: rounds, FIFO, LAS
or SRTF order, and the placement rules Packed (sticky and non-sticky), PM-First and PAL. It shares no
code with goban or the artifact, and prefers clarity to speed: PAL's choice within a node enumerates
all combinations of GPUs.
"""

from dataclasses import dataclass, field
from itertools import combinations

BASE_S = {"BERT": 0.179, "DCGAN": 0.0469266931, "GPT2": 3.5714, "PointNet": 0.28125,
          "resnet50": 0.17540429367763434, "vgg19": 0.300610341}  # seconds per iteration
CLASS_OF = {"resnet50": "A", "BERT": "B", "DCGAN": "B", "GPT2": "B", "vgg19": "C", "PointNet": "D"}
STARVED_S = 1000 * 3600  # a job that has waited this long without interruption precedes all others


@dataclass
class Job:
    id: int
    num_gpus: int
    submit_s: int
    iterations: float
    model: str
    executed: float = 0.0
    attained_s: int = 0
    waiting_s: int = 0  # without interruption
    starved: bool = False
    gpus: list = field(default_factory=list)  # empty: not running
    finish_s: int = -1

    @property
    def app_class(self):
        return CLASS_OF[self.model]


@dataclass
class Cluster:
    """GPU id = gpus_per_node * node + local index. Scores and bins: lists by GPU, by class."""
    nodes: int
    gpus_per_node: int
    raw: dict
    bins: dict

    @property
    def num_gpus(self):
        return self.nodes * self.gpus_per_node

    def node(self, gpu):
        return gpu // self.gpus_per_node


# ---- Placement rules: the GPUs for a job in the order of their selection, or None. ---------------

def packed(cluster, free, job, _penalty):
    """A node with exactly N free GPUs, else the fewest free GPUs >= N, else nodes with most free GPUs."""
    wanted = job.num_gpus
    if len(free) < wanted:
        return None
    by_node = {}
    for gpu in sorted(free):
        by_node.setdefault(cluster.node(gpu), []).append(gpu)
    enough = [(len(gpus), node) for node, gpus in by_node.items() if len(gpus) >= wanted]
    if enough:
        return by_node[min(enough)[1]][:wanted]
    chosen = []
    for gpus in sorted(by_node.values(), key=lambda gpus: (-len(gpus), gpus[0])):
        chosen += gpus[:wanted - len(chosen)]
    return chosen


def pm_first(cluster, free, job, _penalty):
    """The lowest bins; among equal ones, groups of the same bin and node whose size fits best."""
    wanted = job.num_gpus
    if len(free) < wanted:
        return None
    bins = cluster.bins[job.app_class]
    group = {}
    for gpu in free:
        key = (bins[gpu], cluster.node(gpu))
        group[key] = group.get(key, 0) + 1
    return sorted(free, key=lambda gpu: (bins[gpu],
                                         abs(group[bins[gpu], cluster.node(gpu)] - wanted),
                                         gpu))[:wanted]


def pal(cluster, free, job, penalty):
    """The first entry of the locality x variability matrix, by product, that has enough GPUs."""
    wanted = job.num_gpus
    if wanted == 1 or wanted > cluster.gpus_per_node:
        return pm_first(cluster, free, job, penalty)
    bins = cluster.bins[job.app_class]
    entries = []
    for bin_value in dict.fromkeys(bins):  # in the order of the first GPU that has it
        entries.append((bin_value * 1.0, bin_value, True))
        entries.append((bin_value * penalty, bin_value, False))
    for _, bin_value, within in sorted(entries, key=lambda entry: entry[0]):
        eligible = [gpu for gpu in sorted(free) if bins[gpu] <= bin_value]
        if not within:
            if len(eligible) >= wanted:
                return pm_first(cluster, eligible, job, penalty)
            continue
        choices = []
        for node in range(cluster.nodes):
            here = [gpu for gpu in eligible if cluster.node(gpu) == node]
            for gpus in combinations(here, wanted):
                choices.append((max(bins[gpu] for gpu in gpus), -len(here), node, gpus))
        if choices:
            return list(min(choices)[3])
    return None


# ---- One round: the launches in order, [[job, gpus], ...], and the terminated jobs. --------------

def place_sticky(cluster, queue, layout, penalty):
    """Running jobs stay; a waiting one that does not fit evicts those after it, last first."""
    launched, terminated = [], []
    free = set(range(cluster.num_gpus)) - {gpu for job in queue for gpu in job.gpus}
    for index, job in enumerate(queue):
        if job.gpus:
            continue
        gpus = layout(cluster, free, job, penalty)
        for victim in reversed(queue[index + 1:]):
            if gpus is not None:
                break
            if victim.gpus:
                free.update(victim.gpus)
                victim.gpus = []
                terminated.append(victim.id)
                gpus = layout(cluster, free, job, penalty)
        if gpus is None:
            break
        job.gpus = gpus
        free.difference_update(gpus)
        launched.append([job.id, gpus])
    return launched, terminated


def place_anew(cluster, queue, layout, penalty):
    """Every running job is released; the queue is placed from its head until one does not fit."""
    before = {job.id: job.gpus for job in queue if job.gpus}
    for job in queue:
        job.gpus = []
    free = set(range(cluster.num_gpus))
    launched = []
    for job in queue:
        gpus = layout(cluster, free, job, penalty)
        if gpus is None:
            break
        job.gpus = gpus
        free.difference_update(gpus)
        launched.append([job.id, gpus])
    return launched, before


def place_nonsticky(cluster, queue, layout, penalty):
    """As logged by the artifact: every job that ran counts as terminated, even if it keeps its GPUs."""
    launched, before = place_anew(cluster, queue, layout, penalty)
    return launched, list(before)


def place_by_class(cluster, queue, layout, penalty):
    """The guaranteed prefix of the queue is served by class, A first."""
    demand, head = 0, 0
    while head < len(queue) and demand + queue[head].num_gpus <= cluster.num_gpus:
        demand += queue[head].num_gpus
        head += 1
    served = sorted(queue[:head], key=lambda job: job.app_class) + queue[head:]
    launched, before = place_anew(cluster, served, layout, penalty)
    now = {job.id: set(job.gpus) for job in queue}
    return launched, [job.id for job in queue
                      if job.id in before and now[job.id] != set(before[job.id])]


POLICIES = {
    "pal-artifact": (place_by_class, pal),
    "pm-first-artifact": (place_by_class, pm_first),
    "packed-sticky-artifact": (place_sticky, packed),
    "packed-nonsticky-artifact": (place_nonsticky, packed),
}


def queue_key(order):
    """The order of the queue without starved jobs; ties are served by arrival."""
    if order == "fifo":
        return lambda job: job.submit_s
    if order == "las":
        return lambda job: job.attained_s
    return lambda job: job.iterations * BASE_S[job.model] - job.attained_s  # srtf


# ---- The simulation -----------------------------------------------------------------------------

def arrivals(trace, gaps):
    """The jobs of the trace, then fillers: its rows again, each one gap after the previous job."""
    yield from trace
    submit_s = trace[-1].submit_s
    for k, gap in enumerate(gaps):
        submit_s += gap
        row = trace[k % len(trace)]
        yield Job(len(trace) + k, row.num_gpus, submit_s, row.iterations, row.model)


def simulate(cluster, trace, policy, order="fifo", round_s=360, penalty=1.7, gaps=()):
    """The decisions, one line per round: [time, [[job, gpus], ...], [terminated]]; sets finish_s of the
    jobs of the trace. It ends when the last of them ends; fillers compete but are not counted."""
    place, layout = POLICIES[policy]
    key = queue_key(order)
    coming = arrivals(trace, gaps)
    next_job = next(coming)
    present, lines = [], []
    unfinished = len(trace)
    now_s = 0
    while True:
        for job in present:
            if not job.gpus:
                continue
            job.attained_s += round_s
            spans = len({cluster.node(gpu) for gpu in job.gpus}) > 1
            slowest = max(cluster.raw[job.app_class][gpu] for gpu in job.gpus)
            job.executed += round_s / (slowest * (penalty if spans else 1.0) * BASE_S[job.model])
            if job.executed >= job.iterations:
                job.finish_s = now_s
                unfinished -= job.id < len(trace)
        present = [job for job in present if job.finish_s < 0]
        if unfinished == 0:
            return lines
        while next_job is not None and next_job.submit_s <= now_s:
            present.append(next_job)
            next_job = next(coming, None)
        for job in present:
            job.starved = job.starved or job.waiting_s >= STARVED_S
        queue = sorted(present, key=lambda job: (not job.starved, key(job)))
        launched, terminated = place(cluster, queue, layout, penalty)
        for job in present:
            job.waiting_s = 0 if job.gpus else job.waiting_s + round_s
        lines.append([now_s, launched, terminated])
        now_s += round_s
