"""Lists of nodes as Slurm writes them: n[1-3,07],login."""

import re


def _split(text):
    """The parts of a list at the commas outside of brackets."""
    parts, depth, part = [], 0, ""
    for letter in text:
        depth += (letter == "[") - (letter == "]")
        if depth < 0:
            raise ValueError(text)
        if letter == "," and depth == 0:
            parts.append(part)
            part = ""
        else:
            part += letter
    if depth:
        raise ValueError(text)
    return [each for each in [*parts, part] if each]


def expand(text):
    """The names, in order. Raises ValueError for what is no list."""
    names = []
    for part in _split(text):
        found = re.fullmatch(r"([^\[\]]*)\[([^\[\]]+)\](.*)", part)
        if not found:
            if re.search(r"[\[\]\s]", part):
                raise ValueError(part)
            names.append(part)
            continue
        start, ranges, rest = found.groups()
        for each in ranges.split(","):
            least, _, most = each.partition("-")
            if not least.isdigit() or most and not most.isdigit() or int(most or least) - int(least) > 65536:
                raise ValueError(part)
            for number in range(int(least), int(most or least) + 1):
                names += [f"{start}{number:0{len(least)}}{tail}" for tail in (expand(rest) if rest else [""])]
    return names


def ranges(numbers):
    """1,2,3,7 as 1-3,7. `numbers`: texts of digits of one width, in order."""
    out = []
    for each in numbers:
        if out and int(each) == int(out[-1][1]) + 1 and len(out[-1][1]) in (len(each), len(each) - 1):
            out[-1][1] = each
        else:
            out.append([each, each])
    return ",".join(least if least == most else f"{least}-{most}" for least, most in out)


def compress(names):
    """The list of these names, shortened: neighbours of one start and width of number."""
    out = []
    for name in names:
        start, number = re.fullmatch(r"(.*?)(\d*)", name, re.S).groups()
        padded = len(number) if number.startswith("0") else 0
        if out and number and out[-1][0] == start and out[-1][2] and out[-1][1] in (padded, len(number)):
            out[-1][2].append(number)
        else:
            out.append((start, padded, [number] if number else []))
    return ",".join(start + (f"[{ranges(numbers)}]" if len(numbers) > 1 else "".join(numbers)) for start, _, numbers in out)
