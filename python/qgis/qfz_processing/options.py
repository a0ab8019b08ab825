# SPDX-License-Identifier: MIT
"""The options of the command that is installed, and how each one is asked for."""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess

#: Algorithms: title, command, outputs that have a parameter of their own (DST is the second
#: operand), those that a dialogue offers to make, and defaults that differ from the command's.
ALGORITHMS = {
    "label": {
        "title": "Label regions",
        "command": "label",
        "outputs": ["DST", "--regions", "--neighbours", "--polygons", "--colors", "--quicklook"],
        "made": ["DST", "--colors"],
        "defaults": {"--distance": "linf"},
    },
    "simplify": {
        "title": "Simplify to a map of regions",
        "command": "simplify",
        "outputs": ["DST", "--labels", "--regions", "--neighbours", "--polygons", "--colors"],
        "made": ["DST"],
        "defaults": {"--distance": "linf", "--omega": "20", "--min-area": "25"},
    },
    "saliency": {
        "title": "Saliency: the hierarchy of all regions",
        "command": "saliency",
        "outputs": ["DST", "--quicklook"],
        "made": ["DST"],
        "defaults": {"--distance": "linf"},
    },
    "cut": {
        "title": "Cut a hierarchy",
        "command": "cut",
        "outputs": ["DST", "--regions", "--neighbours", "--polygons", "--colors", "--quicklook"],
        "made": ["DST", "--colors"],
        "defaults": {"--alpha": "10"},
    },
    "regions": {
        "title": "Table and statistics of regions",
        "command": "regions",
        "outputs": ["--regions", "--neighbours", "--colors", "--quicklook"],
        "made": ["--regions"],
        "defaults": {},
    },
    "polygons": {
        "title": "Polygons of regions",
        "command": "regions",
        "outputs": ["--polygons"],
        "made": ["--polygons"],
        "defaults": {},
    },
}

#: What Processing itself does, and what is for batch systems.
NOT_HERE = {
    "--help", "--version", "-q", "--json", "--log", "--metrics", "--overwrite",
    "--count-only", "--merge", "--work", "--resume", "--phase", "--part",
}  # fmt: skip

#: Options whose value is a raster that exists; all other FILEs are outputs.
RASTERS = {"--mask", "--edges"}
VECTORS = {"--regions", "--neighbours", "--polygons"}
INTEGERS = {"--regions-target", "--tile", "-j", "--retries"}
#: Names of outputs, which are names of layers, too.
LAYERS = {
    "DST": "Result", "--labels": "Labels", "--regions": "Table of regions",
    "--neighbours": "Table of neighbours", "--polygons": "Polygons", "--colors": "Colours",
    "--quicklook": "Quicklook",
}  # fmt: skip
#: Options that stand first; the others are advanced.
BASIC = {"--alpha", "--omega", "--min-area", "--connectivity", "--distance", "--stats", "--layout"}

_LINE = re.compile(r"- `(?P<name>--?[a-z-]+)(?: (?P<value>[^`]+))?`(?:, `[^`]+`)*: (?P<help>.*)")


def parse(markdown: str) -> dict[str, list[dict[str, str]]]:
    """Return the options of each command from the page of options."""
    commands: dict[str, list[dict[str, str]]] = {}
    options: list[dict[str, str]] = []
    for line in markdown.splitlines():
        if line.startswith("## qfz "):
            options = commands.setdefault(line.split()[2], [])
        found = _LINE.match(line)
        if found:
            text = re.sub(r"\\(.)", r"\1", found["help"])
            options.append({"name": found["name"], "value": found["value"] or "", "help": text})
    used = {algorithm["command"] for algorithm in ALGORITHMS.values()}
    return {name: options for name, options in commands.items() if name in used}


def program() -> str | None:
    """Return the command qfz: the environment variable QFZ_COMMAND, or the one in PATH."""
    return os.environ.get("QFZ_COMMAND") or shutil.which("qfz")


def fault(command: str | None) -> str:
    """Return why there are no algorithms, or nothing."""
    remedy = (
        "install qfz, or name the program in the environment variable QFZ_COMMAND, and start QGIS "
        "again."
    )
    if not command:
        return f"The command qfz is missing: {remedy}"
    try:
        missing = {a["command"] for a in ALGORITHMS.values()} - set(load(command))
    except (OSError, subprocess.SubprocessError, UnicodeError) as error:
        return f"{command} cannot be run ({error}): {remedy}"
    if missing:
        return f"{command} has no command {', '.join(sorted(missing))}: {remedy}"
    return ""


@functools.lru_cache(maxsize=None)
def load(command: str) -> dict[str, list[dict[str, str]]]:
    """Return the options of an installed command, which prints them."""
    words = [command, "help", "--markdown"]
    return parse(subprocess.run(words, check=True, capture_output=True, encoding="utf-8").stdout)


def parameters_of(command: str, algorithm: str) -> list[dict[str, str]]:
    """Return the options that an algorithm asks for, with kind, title, default and level.

    kind is one of flag, choice, integer, number, raster, stats (a raster, and its bands), list (of
    repeated options), text, or, of outputs, file_raster, file_vector, file_image.
    """
    about = ALGORITHMS[algorithm]
    found = []
    for option in load(command)[about["command"]]:
        name, value = option["name"], option["value"]
        is_output = value == "FILE" and name not in RASTERS
        if name in NOT_HERE or (is_output and name not in about["outputs"]):
            continue
        if algorithm != "polygons" and name == "--simplify-tolerance":
            if "--polygons" not in about["outputs"]:
                continue
        found.append(
            {
                **option,
                "key": name.lstrip("-").replace("-", "_").upper(),
                "kind": _kind(name, value, is_output, "Repeatable." in option["help"]),
                "title": _title(name, option["help"]),
                "default": about["defaults"].get(name, ""),
                "level": "basic" if name in BASIC or is_output else "advanced",
            }
        )
    return found


def _title(name: str, text: str) -> str:
    """Return the first words of the help, or the name of an output."""
    return LAYERS.get(name) or text.split(". ")[0].split(": ")[0].rstrip(".")


def _kind(name: str, value: str, is_output: bool, is_repeatable: bool) -> str:
    if is_output:
        if name in VECTORS:
            return "file_vector"
        return "file_image" if name == "--quicklook" else "file_raster"
    if not value:
        return "flag"
    if re.fullmatch(r"[a-z0-9-]+(\|[a-z0-9-]+)+", value):
        return "choice"
    if name in RASTERS:
        return "raster"
    if name == "--stats":
        return "stats"
    if name in INTEGERS:
        return "integer"
    if is_repeatable and value == "KEY=VALUE":
        return "list"
    # One alpha: an algorithm has one result.  A nodata value can be nan, no number of QGIS.
    return "number" if name in ("--alpha", "--background") or value == "D" else "text"
