# SPDX-License-Identifier: MIT
"""The options of the command that is installed, and how each one is asked for."""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess

#: Algorithms: title, command, what the first operand is, outputs that have a parameter of their own
#: (the first is made by default; DST is the second operand), and defaults that differ from those of
#: the command.
ALGORITHMS = {
    "label": {
        "title": "Label regions",
        "command": "label",
        "outputs": ["DST", "--regions", "--neighbours", "--polygons", "--colors", "--quicklook"],
        "defaults": {"--distance": "linf"},
    },
    "simplify": {
        "title": "Simplify to a map of regions",
        "command": "simplify",
        "outputs": ["DST", "--labels", "--regions", "--neighbours", "--polygons", "--colors"],
        "defaults": {"--distance": "linf", "--omega": "20", "--min-area": "25"},
    },
    "saliency": {
        "title": "Saliency: the hierarchy of all regions",
        "command": "saliency",
        "outputs": ["DST", "--quicklook"],
        "defaults": {"--distance": "linf"},
    },
    "cut": {
        "title": "Cut a hierarchy",
        "command": "cut",
        "outputs": ["DST", "--regions", "--neighbours", "--polygons", "--colors", "--quicklook"],
        "defaults": {"--alpha": "10"},
    },
    "regions": {
        "title": "Table and statistics of regions",
        "command": "regions",
        "outputs": ["--regions", "--neighbours", "--colors", "--quicklook"],
        "defaults": {},
    },
    "polygons": {
        "title": "Polygons of regions",
        "command": "regions",
        "outputs": ["--polygons"],
        "defaults": {},
    },
}

#: What Processing itself does, and what is for batch systems.
NOT_HERE = {
    "--help", "--version", "--quiet", "--json", "--log", "--metrics", "--overwrite",
    "--count-only", "--merge", "--work", "--resume", "--phase", "--part",
}  # fmt: skip

#: Options whose value is a raster that exists; all other FILEs are outputs.
RASTERS = {"--mask", "--edges"}
VECTORS = {"--regions", "--neighbours", "--polygons"}
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


@functools.lru_cache(maxsize=None)
def load(command: str) -> dict[str, list[dict[str, str]]]:
    """Return the options of an installed command, which prints them."""
    words = [command, "help", "--markdown"]
    return parse(subprocess.run(words, check=True, capture_output=True, encoding="utf-8").stdout)


def parameters_of(command: str, algorithm: str) -> list[dict[str, str]]:
    """Return the options that an algorithm asks for, with kind, default and level.

    kind is one of flag, choice, number, raster, text, or, of outputs, file_raster, file_vector,
    file_image.
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
                "kind": _kind(name, value, is_output),
                "default": about["defaults"].get(name, ""),
                "level": "basic" if name in BASIC or is_output else "advanced",
            }
        )
    return found


def _kind(name: str, value: str, is_output: bool) -> str:
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
    # One alpha: an algorithm has one result.
    return "number" if name == "--alpha" or value in ("D", "V") else "text"
