# SPDX-License-Identifier: MIT
"""The page of `qfz explore`, which the command writes: the page is no part of the library."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from typing import Any

from ._job import Name
from .errors import QfzError, QfzLibraryError

Window = tuple[int, int, int, int]


def _command() -> str:
    command = os.environ.get("QFZ_COMMAND") or shutil.which("qfz")
    if not command:
        raise QfzLibraryError(
            "explore_file runs the command qfz, which is missing: install qfz, or name the program "
            "in the environment variable QFZ_COMMAND"
        )
    return command


def _listed(values: Sequence[object]) -> str:
    return ",".join(str(value) for value in values)


def _name(name: Name) -> str:
    own: Any = name if isinstance(name, (str, os.PathLike)) else getattr(name, "name", name)
    return os.fsdecode(own)


def _windows(window: Window | Sequence[Window] | None) -> list[Window]:
    if window is None:
        return []
    several: Any = [window] if isinstance(window[0], int) else window
    return list(several)


def _words(options: Mapping[str, Any]) -> list[str]:
    """Return options as words of the command line, without those that are None or False."""
    words: list[str] = []
    for name, value in options.items():
        if value is None or value is False:
            continue
        if isinstance(value, Mapping):
            for key, item in value.items():
                words += [name, f"{key}={item}"]
        else:
            words += [name] if value is True else [name, str(value)]
    return words


def explore_file(
    src: Name,
    dst: str | os.PathLike[str],
    *,
    window: Window | Sequence[Window] | None = None,
    no_curve: bool = False,
    distance: str = "linf",
    connectivity: int = 4,
    weights: Sequence[float] | None = None,
    bands: Sequence[int] | None = None,
    mask: Name | None = None,
    nodata: float | None = None,
    nodata_rule: str | None = None,
    open_options: Mapping[str, object] | None = None,
    config: Mapping[str, object] | None = None,
    allow_network: bool = False,
    overwrite: bool = False,
    tile: int | None = None,
    memory: int | None = None,
    threads: int | None = None,
    retries: int | None = None,
) -> str:
    """Write a page for the browser to choose alpha, omega and the minimum area; ``qfz explore``.

    The command qfz of the system writes the page: the program in the environment variable
    QFZ_COMMAND, or the one in PATH.

    Parameters
    ----------
    src : str, path, or open rasterio dataset
        Any name of a raster that GDAL can read.
    dst : str or path
        The page, such as "scene.html".
    window : (x, y, w, h) in pixels, or a sequence of such windows, optional
        What the page shows, one tab each; None: the centre of src, at most 1024 x 1024 pixels.
    no_curve : bool
        Leave the curve of the whole raster out, and read only the windows.
    distance, connectivity, weights
        As those of `label`; distance and connectivity can be changed on the page.
    bands, mask, nodata, nodata_rule, open_options, config, allow_network, overwrite
        See `Options`.
    tile, memory, threads, retries
        See `Options`.

    Returns
    -------
    str
        dst.

    Raises
    ------
    QfzError
        The message of the command.
    QfzLibraryError
        There is no command qfz.

    Examples
    --------
    >>> page = explore_file("scene.tif", "scene.html", window=(0, 0, 512, 512))  # doctest: +SKIP
    """
    options = {
        "--no-curve": no_curve,
        "--distance": distance,
        "--connectivity": {1: 4, 2: 8}.get(connectivity, connectivity),
        "--weights": None if weights is None else _listed(weights),
        "-b": None if bands is None else _listed(bands),
        "--mask": None if mask is None else _name(mask),
        "--nodata": nodata,
        "--nodata-rule": nodata_rule,
        "-oo": open_options,
        "--config": config,
        "--allow-network": allow_network,
        "--overwrite": overwrite,
        "--tile": tile,
        "--memory": memory,
        "-j": threads,
        "--retries": retries,
    }
    shown = [word for each in _windows(window) for word in ("--window", _listed(each))]
    words = [_command(), "explore", "--quiet", *_words(options), *shown, "--", _name(src)]
    page = os.fspath(dst)
    try:
        done = subprocess.run([*words, page], capture_output=True, text=True, errors="replace")
    except OSError as error:
        raise QfzLibraryError(f"{words[0]} cannot be run: {error.strerror}") from None
    if done.returncode != 0:
        message = done.stderr.strip().removeprefix("qfz explore: ")
        raise QfzError(message or f"{words[0]}: exit status {done.returncode}")
    return page
