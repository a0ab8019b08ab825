# SPDX-License-Identifier: MIT
"""The structs and constants of qfz.h, in its order.

A struct that begins with ``struct_size`` may be shorter than the library's: the library takes the
members that it lacks as their defaults.  The tests compare every member with the layout that the
library's own tests hold.
"""

from __future__ import annotations

import ctypes
from ctypes import (
    CFUNCTYPE,
    POINTER,
    c_bool,
    c_char,
    c_char_p,
    c_double,
    c_int,
    c_int32,
    c_int64,
    c_size_t,
    c_uint32,
    c_uint64,
    c_void_p,
)
from typing import Any

OK = 0
ECANCEL = 5

DISTANCES = {"l1": 0, "l2": 1, "linf": 2, "sam": 3}
ENGINES = {"auto": 0, "cpu": 1, "cuda": 2}
TASKS = {"label": 0, "simplify": 1, "saliency": 2, "cut": 3, "curve": 4, "regions": 5, "forest": 6}
LAYOUTS = {"edges": 0, "pixel": 1, "khalimsky": 2}
QUICKLOOK_STYLES = {"colors": 0, "means": 1, "image": 2}
OVERVIEWS = {"none": 0, "nearest": 1, "mode": 2}
NODATA_RULES = {"all": 0, "any": 1}

MEMORY_DEVICE = 1

PART_LABEL, PART_TREE, PART_SALIENCY, PART_ALPHA_OMEGA, PART_FEATURES = range(5)

#: The level that stands for "no edge".
NO_EDGE = 0xFFFFFFFF

STEPS = 16


class Error(ctypes.Structure):
    _fields_ = [("status", c_int), ("message", c_char * 1024)]


class Criterion(ctypes.Structure):
    _fields_ = [
        ("connectivity", c_int),
        ("distance", c_int),
        ("has_alpha", c_bool),
        ("alpha", c_double),
        ("omega", POINTER(c_double)),
        ("n_omega", c_int),
        ("n_weights", c_int),
        ("min_area", c_uint64),
        ("weights", POINTER(c_double)),
        ("reserved", c_uint64 * 4),
    ]


class Progress(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("done", c_double),
        ("step", c_char_p),
        ("tiles_done", c_int64),
        ("tiles", c_int64),
    ]


ProgressFunction = CFUNCTYPE(c_int, POINTER(Progress), c_void_p)


class Curve(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("n", c_int64),
        ("alpha", POINTER(c_double)),
        ("regions", POINTER(c_uint64)),
        ("exact_below", c_double),
    ]


class Job(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("task", c_int),
        ("src", c_char_p),
        ("dst", c_char_p),
        ("count_only", c_bool),
        ("labels", c_char_p),
        ("regions", c_char_p),
        ("bands", POINTER(c_int)),
        ("n_bands", c_int),
        ("open_options", POINTER(c_char_p)),
        ("config", POINTER(c_char_p)),
        ("mask", c_char_p),
        ("has_nodata", c_bool),
        ("nodata", c_double),
        ("nodata_rule", c_int),
        ("has_background", c_bool),
        ("background", c_double),
        ("criterion", Criterion),
        ("layout", c_int),
        ("format", c_char_p),
        ("type", c_char_p),
        ("creation_options", POINTER(c_char_p)),
        ("merge", c_bool),
        ("overwrite", c_bool),
        ("tile_px", c_int32),
        ("memory_bytes", c_int64),
        ("n_threads", c_int),
        ("retries", c_int),
        ("retry_wait_s", c_double),
        ("engine", c_int),
        ("gpus", POINTER(c_int)),
        ("n_gpus", c_int),
        ("px_per_gpu", c_int64),
        ("gpu_view", c_void_p),
        ("gpu_memory_bytes", c_int64),
        ("gpu_method", c_char_p),
        ("ranks", c_void_p),
        ("work", c_char_p),
        ("resume", c_bool),
        ("phase", c_int),
        ("part", c_int),
        ("n_parts", c_int),
        ("progress", ProgressFunction),
        ("progress_arg", c_void_p),
        ("min_area_m2", c_double),
        ("curve", POINTER(Curve)),
        ("allow_network", c_bool),
        ("trust_source", c_bool),
        ("unused_flags", c_bool * 2),
        ("overviews", c_int),
        ("edges", c_char_p),
        ("neighbours", c_char_p),
        ("stats", c_char_p),
        ("stats_bands", POINTER(c_int)),
        ("n_stats_bands", c_int64),
        ("colors", c_char_p),
        ("quicklook", c_char_p),
        ("forest", c_char_p),
        ("polygons", c_char_p),
        ("simplify_tolerance", c_double),
        ("columns", c_char_p),
        ("regions_target", c_uint64),
        ("alphas", POINTER(c_double)),
        ("n_alphas", c_int64),
        ("alpha_regions", POINTER(c_uint64)),
        ("quicklook_style", c_int),
        ("attribute_table", c_bool),
        ("unused_flags_too", c_bool * 3),
    ]


class StepTime(ctypes.Structure):
    _fields_ = [("name", c_char * 32), ("seconds", c_double)]


class Report(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("regions", c_uint64),
        ("pixels", c_uint64),
        ("width", c_int64),
        ("height", c_int64),
        ("tiles", c_int64),
        ("engine", c_char * 16),
        ("n_gpus", c_int),
        ("warning", c_char * 256),
        ("seconds", c_double),
        ("n_steps", c_int),
        ("steps", StepTime * STEPS),
        ("peak_rss_bytes", c_int64),
        ("next", c_int),
        ("reserved", c_int),
        ("alpha", c_double),
        ("retries", c_int64),
        ("wide_pixels", c_uint64),
    ]


class Image(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("h", c_int64),
        ("w", c_int64),
        ("n_bands", c_int),
        ("type", c_int),
        ("pixels", c_void_p),
        ("valid", c_void_p),
        ("memory", c_int),
        ("edges_are_float", c_int),
        ("zeroed", c_void_p),
        ("edges", c_void_p),
    ]


class SessionOptions(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("engine", c_int),
        ("n_threads", c_int),
        ("gpu", c_int),
        ("gpu_method", c_char_p),
        ("cuda_stream", c_void_p),
        ("progress", ProgressFunction),
        ("progress_arg", c_void_p),
    ]


class Buffers(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("memory", c_int),
        ("labels", c_void_p),
        ("levels", c_void_p),
        ("tree_parent", c_void_p),
        ("tree_level", c_void_p),
        ("tree_room", c_int64),
    ]


class Tree(ctypes.Structure):
    _fields_ = [("n_nodes", c_int64), ("parent", c_void_p), ("level", c_void_p)]


class Features(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("pixels", c_void_p),
        ("x", c_void_p),
        ("y", c_void_p),
        ("x0", c_void_p),
        ("y0", c_void_p),
        ("x1", c_void_p),
        ("y1", c_void_p),
        ("mean", c_void_p),
        ("min", c_void_p),
        ("max", c_void_p),
        ("stddev", c_void_p),
    ]


class TreeTable(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("n_regions", c_int64),
        ("n", c_int64),
        ("a", c_void_p),
        ("b", c_void_p),
        ("level", c_void_p),
    ]


class Check(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("raster", c_char_p),
        ("job", POINTER(Job)),
        ("has_connectivity", c_int),
        ("has_distance", c_int),
        ("table", c_char_p),
    ]


class CheckReport(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("faults", c_uint64),
        ("x", c_int64),
        ("y", c_int64),
        ("what", c_char * 256),
        ("regions", c_uint64),
        ("pixels", c_uint64),
        ("width", c_int64),
        ("height", c_int64),
        ("task", c_int),
        ("compared", c_int),
        ("seconds", c_double),
        ("peak_rss_bytes", c_int64),
    ]


class Chunks(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("part", c_int),
        ("type", c_int),
        ("criterion", Criterion),
        ("h", c_int64),
        ("w", c_int64),
        ("chunk_h", c_int64),
        ("chunk_w", c_int64),
        ("n_bands", c_int),
        ("has_edges", c_int),
        ("edges_are_float", c_int),
        ("n_threads", c_int),
    ]


class Bytes(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("size", c_size_t)]


class ChunkBuffers(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("labels", c_void_p),
        ("wide_labels", c_void_p),
        ("levels", c_void_p),
    ]


_error = POINTER(Error)

#: Function: result, parameters.
FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "qfz_version_number": (c_int, []),
    "qfz_version": (c_char_p, []),
    "qfz_build_info": (c_char_p, []),
    "qfz_curve_release": (None, [POINTER(Curve)]),
    "qfz_curve_plot": (c_int, [POINTER(Curve), c_char_p, c_bool, _error]),
    "qfz_job_init": (None, [POINTER(Job), c_size_t, c_int]),
    "qfz_job_run": (c_int, [POINTER(Job), POINTER(Report), _error]),
    "qfz_check_run": (c_int, [POINTER(Check), POINTER(CheckReport), _error]),
    "qfz_session_open": (
        c_int,
        [
            POINTER(c_void_p),
            POINTER(Image),
            POINTER(Criterion),
            POINTER(SessionOptions),
            _error,
        ],
    ),
    "qfz_session_close": (None, [c_void_p]),
    "qfz_session_run": (c_int, [c_void_p, c_int, POINTER(Buffers), _error]),
    "qfz_session_cut": (c_int, [c_void_p, c_double, c_void_p, POINTER(Buffers), _error]),
    "qfz_session_n_regions": (c_uint32, [c_void_p]),
    "qfz_session_tree": (Tree, [c_void_p]),
    "qfz_session_tree_room": (c_int64, [c_void_p]),
    "qfz_session_features": (c_int, [c_void_p, c_uint32, c_uint32, POINTER(Features), _error]),
    "qfz_tree_table_linkage": (c_int, [POINTER(TreeTable), c_void_p, _error]),
    "qfz_session_paint": (c_int, [c_void_p, c_int, c_void_p, c_int, c_void_p, _error]),
    "qfz_bytes_release": (None, [POINTER(Bytes)]),
    "qfz_chunk_summarise": (
        c_int,
        [POINTER(Chunks), c_int64, c_int64, POINTER(Image), POINTER(Bytes), _error],
    ),
    "qfz_chunks_rounds": (c_int, [POINTER(Chunks), POINTER(c_int), _error]),
    "qfz_chunk_continue": (
        c_int,
        [POINTER(Chunks), c_int64, c_int64, POINTER(Image), POINTER(Bytes), POINTER(Bytes), _error],
    ),
    "qfz_chunks_stitch": (
        c_int,
        [POINTER(Chunks), POINTER(Bytes), POINTER(Bytes), POINTER(c_uint64), _error],
    ),
    "qfz_chunk_resolve": (
        c_int,
        [
            POINTER(Chunks),
            c_int64,
            c_int64,
            POINTER(Image),
            POINTER(Bytes),
            POINTER(ChunkBuffers),
            _error,
        ],
    ),
}
