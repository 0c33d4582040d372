"""Command lines as Slurm's commands read them."""

import re

from goban_shims.client import fail, note

# Long options whose value is absent or behind "=".
FLAGS = set("""exclusive hold requeue no-requeue parsable wait quiet verbose contiguous overcommit oversubscribe share
    test-only spread-job use-min-nodes ignore-pbs get-user-env propagate nice no-kill hetjob packjob reboot unbuffered
    label pty exact overlap no-allocate preserve-env disable-status kill-on-bad-exit multi-prog help version usage
    export-none whole interactive immediate join send-libs external-launcher no-shell""".split())
# Letters with a value, and what letters without one mean.
SBATCH_LETTERS = set("AaBbCcDdeFGiJLMmNnopqStwx")
SBATCH_NAMES = {"n": "ntasks", "W": "wait", "Q": "quiet", "v": "verbose", "k": "no-kill", "h": "help", "V": "version",
                "H": "hold", "O": "overcommit", "s": "oversubscribe"}
SRUN_LETTERS = SBATCH_LETTERS | set("rTW")
SRUN_NAMES = {**SBATCH_NAMES, "u": "unbuffered", "l": "label", "K": "kill-on-bad-exit", "N": "nodes", "c": "cpus-per-task",
              "o": "output", "e": "error", "i": "input", "t": "time", "D": "chdir", "G": "gpus", "w": "nodelist",
              "J": "job-name", "I": "immediate", "Z": "no-allocate", "X": "disable-status", "m": "distribution",
              "E": "preserve-env", "T": "threads", "r": "relative", "p": "partition", "A": "account", "q": "qos",
              "d": "dependency", "C": "constraint", "x": "exclude"}


def split_options(words, letters_with_value=SBATCH_LETTERS, names=SBATCH_NAMES, with_value=()):
    """[(name, value or None)] of sbatch or srun, and the words from the script or the command on. `with_value`: flags
    that have a value here."""
    options, at = [], 0
    while at < len(words):
        word = words[at]
        if word == "--":
            return options, words[at + 1:]
        if not word.startswith("-") or word == "-":
            break
        at += 1
        if word.startswith("--"):
            name, sign, value = word[2:].partition("=")
            if not sign and (name not in FLAGS or name in with_value):
                if at == len(words):
                    fail(f"option --{name} needs a value")
                value, sign = words[at], "="
                at += 1
            options.append((name, value if sign else None))
            continue
        letters = word[1:]
        while letters:
            letter, letters = letters[0], letters[1:]
            name = names.get(letter, letter)
            if letter not in letters_with_value:
                # -K1: the value of a flag can only follow at once.
                is_value = letters.isdigit() and name in ("kill-on-bad-exit", "immediate")
                options.append((name, letters if is_value else None))
                letters = "" if is_value else letters
                continue
            if not letters:
                if at == len(words):
                    fail(f"option -{letter} needs a value")
                letters = words[at]
                at += 1
            options.append((name, letters.removeprefix("=")))
            letters = ""
    return options, words[at:]


def dashed(name):
    return f"-{name}" if len(name) == 1 else f"--{name}"


def as_words(options):
    """The options as goban reads them."""
    words = []
    for name, value in options:
        if name == "exclusive":
            value = None
        if name == "nice":  # whose value is optional
            value = value or "100"
        if value is None:
            words.append(dashed(name))
        elif len(name) == 1:
            words += [dashed(name), value]
        else:
            words.append(f"{dashed(name)}={value}")
    return words


def read_simple(words, with_value, flags, long_names):
    """Options of a table command as a dictionary by their letter, and the other words."""
    got, rest, at = {}, [], 0
    while at < len(words):
        word = words[at]
        at += 1
        if word.startswith("--") and len(word) > 2:
            name, sign, value = word[2:].partition("=")
            letter = long_names.get(name)
            if letter is None:
                note(f"warning: --{name} has no effect here")
            elif letter in with_value:
                if not sign and at < len(words):
                    value = words[at]
                    at += 1
                got[letter] = value
            else:
                got[letter] = True
        elif word.startswith("-") and len(word) > 1 and word != "--":
            letters = word[1:]
            while letters:
                letter, letters = letters[0], letters[1:]
                if letter in with_value:
                    if not letters and at < len(words):
                        letters = words[at]
                        at += 1
                    got[letter], letters = letters.removeprefix("="), ""
                elif letter in flags:
                    got[letter] = True
                else:
                    note(f"warning: -{letter} has no effect here")
        else:
            rest.append(word)
    return got, rest


def listed(value):
    return [part for part in (value or "").split(",") if part]


def time_limit_s(text):
    """Slurm's "90" (minutes), "MM:SS", "H:MM:SS", "D-HH[:MM[:SS]]" in seconds; None: no limit."""
    if text.upper() in ("UNLIMITED", "INFINITE", "0"):
        return None
    days, dash, clock = text.rpartition("-")
    parts = clock.split(":")
    if len(parts) > 3 or not re.fullmatch(r"\d*", days) or not all(re.fullmatch(r"\d+", part) for part in parts):
        fail(f"Invalid time limit specification: {text}")
    numbers = [int(part) for part in parts]
    if dash:
        hours, minutes, seconds = (numbers + [0, 0])[:3]
    else:
        hours, minutes, seconds = {1: [0, numbers[0], 0], 2: [0, *numbers], 3: numbers}[len(numbers)]
    return int(days or 0) * 86400 + hours * 3600 + minutes * 60 + seconds
