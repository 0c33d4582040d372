"""Formats such as "%.18i %j" of squeue and sinfo, and "jobid:10,name" of their --Format."""

import re


def print_form(form, cells_of, rows, titles, header):
    """`cells_of(row)` gives texts by letter."""
    def line(cells):
        def cell(match):
            dot, width, letter = match.groups()
            text = str(cells.get(letter, ""))
            if width:
                text = text[:int(width)]
                text = text.rjust(int(width)) if dot else text.ljust(int(width))
            return text
        return re.sub(r"%(\.?)(\d*)([a-zA-Z#])", cell, form.replace("%#P", "%P"))
    if header:
        print(line(titles))
    for row in rows:
        print(line(cells_of(row)))


def letters_in(form):
    return set(re.findall(r"%\.?\d*([a-zA-Z])", form))


def long_form(text, letters, unknown):
    """ "JobID:10,Name:.8" as a form of letters. `letters`: by lower-case name. `unknown(name)` is called for others."""
    out = ""
    for part in text.split(","):
        name, sign, width = part.strip().partition(":")
        letter = letters.get(name.lower())
        if letter is None:
            unknown(name)
        right = "." if width.startswith(".") else ""
        digits = re.match(r"\d*", width.removeprefix("."))[0]
        out += f"%{right}{digits or 20}{letter}"
    return out
