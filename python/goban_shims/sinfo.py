"""sinfo."""

from goban_shims.client import ask, fail, note
from goban_shims.hosts import compress, expand
from goban_shims.options import listed, read_simple
from goban_shims.tables import long_form, print_form

FULL = {"alloc": "allocated", "mix": "mixed", "drain": "drained", "drng": "draining"}
TITLES = {"P": "PARTITION", "R": "PARTITION", "a": "AVAIL", "l": "TIMELIMIT", "D": "NODES", "t": "STATE", "T": "STATE",
          "N": "NODELIST", "n": "HOSTNAMES", "c": "CPUS", "m": "MEMORY", "G": "GRES", "E": "REASON", "f": "AVAIL_FEATURES",
          "O": "CPU_LOAD", "C": "CPUS(A/I/O/T)", "z": "S:C:T", "e": "FREE_MEM", "A": "NODES(A/I)", "F": "NODES(A/I/O/T)",
          "X": "SOCKETS", "w": "WEIGHT", "d": "TMP_DISK", "b": "ACTIVE_FEATURES", "u": "USER", "s": "JOB_SIZE", "g": "GROUPS",
          "h": "OVERSUBSCRIBE", "p": "PRIO_TIER", "o": "NODE_ADDR", "H": "TIMESTAMP", "U": "GRES_USED"}
LONG = {"partition": "P", "partitionname": "R", "available": "a", "time": "l", "nodes": "D", "statecompact": "t", "statelong": "T",
        "nodelist": "N", "nodehost": "n", "cpus": "c", "memory": "m", "gres": "G", "gresused": "U", "reason": "E", "features": "f",
        "cpusload": "O", "cpusstate": "C", "nodeai": "A", "nodeaiot": "F", "freemem": "e", "nodeaddr": "o"}


def state_of(node):
    held = [(node.get("held_gpus", 0), node.get("num_gpus", 0)), (node.get("held_cores", 0), node.get("cores", 0))]
    is_full = any(total and used >= total for used, total in held)
    return {"down": "down", "draining": "drng", "drained": "drain"}.get(
        node["state"], "alloc" if is_full else "mix" if any(used for used, _ in held) else "idle")


def gres_of(node):
    if not node.get("num_gpus"):
        return "(null)"
    return f"gpu:{node.get('gpu_model') or 'gpu'}:{node['num_gpus']}".replace(" ", "_")


def cells(row):
    nodes, short = row
    node, count = nodes[0], len(nodes)
    names = compress([each["node"] for each in nodes])
    busy, out = count if short in ("alloc", "mix") else 0, count if short in ("down", "drain") else 0
    cores = sum(each.get("cores", 0) for each in nodes)
    used = sum(each.get("held_cores", 0) for each in nodes)
    idle = 0 if out else cores - used
    return {"P": "goban*", "R": "goban", "a": "up", "l": "infinite", "D": str(count), "t": short, "T": FULL.get(short, short),
            "N": names, "n": names, "c": f"{node.get('cores', 0):.0f}", "m": f"{node.get('mem_bytes', 0) / 2 ** 20:.0f}",
            "G": gres_of(node), "U": f"gpu:{node.get('held_gpus', 0)}", "E": node.get("reason") or "none", "f": "(null)",
            "b": "(null)", "O": "N/A", "C": f"{used:.0f}/{idle:.0f}/{cores if out else 0:.0f}/{cores:.0f}", "z": "N/A", "e": "N/A",
            "A": f"{busy}/{count - busy - out}", "F": f"{busy}/{count - busy - out}/{out}/{count}", "X": "N/A", "w": "1", "d": "0",
            "u": "root", "s": "1-infinite", "g": "all", "h": "NO", "p": "1", "o": names, "H": "Unknown"}


def unknown_field(name):
    fail(f"Invalid field requested: {name}")


def sinfo(words):
    got, _ = read_simple(words, set("opntSMOi"), set("NhlsRaerdv"), {
        "format": "o", "Format": "O", "partition": "p", "nodes": "n", "states": "t", "state": "t", "Node": "N", "noheader": "h",
        "long": "l", "summarize": "s", "list-reasons": "R", "exact": "e", "all": "a", "sort": "S", "responding": "r", "dead": "d",
        "verbose": "v", "clusters": "M", "iterate": "i"})
    if got.get("i"):
        note("warning: it prints once")
    states = {text.lower().rstrip("*") for text in listed(got.get("t"))} - {"all"}
    try:
        names = expand(got["n"]) if got.get("n") else []
    except ValueError:
        fail(f"Invalid node list: {got['n']}")
    rows = []
    for node in ask("nodes"):
        short = state_of(node)
        if states and not states & {short, FULL.get(short, short)} or names and node["node"] not in names:
            continue
        if got.get("p") and "goban" not in listed(got["p"]) or got.get("d") and short != "down":
            continue
        rows.append(([node], short))
    if not got.get("N"):
        grouped = {}
        for nodes, short in rows:
            grouped.setdefault((short, nodes[0].get("num_gpus"), nodes[0].get("gpu_model")), []).extend(nodes)
        rows = [(nodes, key[0]) for key, nodes in grouped.items()]
    form = "%N %.6D %.9P %t" if got.get("N") else "%.9P %.5a %.10l %.6D %.6t %N"
    if got.get("s"):
        form = "%.9P %.5a %.10l %.16F %N"
    if got.get("R"):
        rows = [row for row in rows if row[1] in ("down", "drain", "drng")]
        form = "%20E %.9u %19H %N"
    if got.get("O"):
        form = long_form(got["O"], LONG, unknown_field)
    print_form(got.get("o") or form, cells, rows, TITLES, not got.get("h"))
    return 0
