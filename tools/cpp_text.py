"""Reads C++ sources as far as the checks need it: comments, and the text without them."""

import re
from functools import lru_cache

SPLICED = "\0"  # stands for a line end inside a comment, a raw string or a continued line
TOKEN = re.compile(r'''
    (?P<raw>(?:\bu8|\b[uUL]|(?<!\w))R"(?P<end>[^\s()\\"]{0,16})\(.*?\)(?P=end)")
  | (?P<string>"(?:\\.|[^"\\\n])*"|(?<![0-9a-zA-Z_])'(?:\\.|[^'\\\n])+')
  | (?P<comment>//(?:\\\n|[^\n])*|/\*.*?(?:\*/|\Z))''', re.DOTALL | re.VERBOSE)
CONDITION = re.compile(r"\s*(?:\#|%:)\s*(if(?:def|ndef)?|elif|else|endif)\b\s*(.*)")


def comments(text):
    """(line number, comment) of each comment; those in strings are none."""
    for match in TOKEN.finditer(text):
        if match["comment"]:
            yield text.count("\n", 0, match.start()) + 1, match["comment"]


@lru_cache(maxsize=4)
def logical_lines(text):
    """[(number of its first line, line)] after joining continued lines, without comments, the contents
    of raw strings, and what `#if 0` excludes."""
    def replaced(match):
        if match["string"]:
            return match.group()
        return ('""' if match["raw"] else " ") + SPLICED * match.group().count("\n")

    lines, number, excluded = [], 1, 0  # excluded: nested conditions, from an `#if 0` on
    for line in re.sub(r"\\[ \t]*\n", SPLICED, TOKEN.sub(replaced, text)).split("\n"):
        plain = line.replace(SPLICED, "")
        condition = CONDITION.match(plain)
        if condition:
            kind, value = condition.groups()
            if excluded:
                excluded += {"endif": -1, "else": -1 if excluded == 1 else 0,
                             "elif": -1 if excluded == 1 else 0}.get(kind, 1)
            elif kind == "if" and value.strip() in ("0", "false"):
                excluded = 1
        elif not excluded:
            lines.append((number, plain))
        number += 1 + line.count(SPLICED)
    return lines
