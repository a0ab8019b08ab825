# SPDX-License-Identifier: MIT
"""Definitions by brute force, for small images: nothing here comes from qfz."""

from __future__ import annotations

import numpy as np

STEPS = {4: [(0, 1), (1, 0)], 8: [(0, 1), (1, 0), (1, 1), (1, -1)]}


def dissimilarity(a, b, distance):
    """Of two vectors of values."""
    d = np.abs(a.astype(np.float64) - b.astype(np.float64))
    if distance == "linf":
        return d.max()
    return d.sum() if distance == "l1" else np.float32(np.sqrt((d * d).sum()))


def edges_of(bands, valid, distance="linf", connectivity=4):
    """List (level, pixel, pixel, direction) of all edges; bands are (B, H, W)."""
    _, h, w = bands.shape
    found = []
    for direction, (dy, dx) in enumerate(STEPS[connectivity]):
        for y in range(h):
            for x in range(w):
                v, u = y + dy, x + dx
                if v < h and 0 <= u < w and valid[y, x] and valid[v, u]:
                    level = dissimilarity(bands[:, y, x], bands[:, v, u], distance)
                    found.append((level, y * w + x, v * w + u, direction))
    return found


def components(n, edges, alpha):
    """Return the set of pixels that each pixel belongs to, joined by edges up to alpha."""
    groups = {p: {p} for p in range(n)}
    for level, p, q, _ in edges:
        if level <= alpha and groups[p] is not groups[q]:
            groups[p] |= groups[q]
            for member in groups[q]:
                groups[member] = groups[p]
    return groups


def numbered(groups, valid):
    """Return labels in raster-scan order of first pixels, and their number."""
    labels = np.zeros(valid.shape, np.uint32)
    seen = {}
    for p in np.flatnonzero(valid):
        labels.flat[p] = seen.setdefault(id(groups[p]), len(seen) + 1)
    return labels, len(seen)


def label(bands, valid, alpha, distance="linf", connectivity=4):
    edges = edges_of(bands, valid, distance, connectivity)
    return numbered(components(valid.size, edges, alpha), valid)


def alpha_omega(bands, valid, alpha, omega, distance="linf", connectivity=4):
    """Of each pixel, the largest component of any alpha' up to alpha that omega allows."""
    edges = edges_of(bands, valid, distance, connectivity)
    flat = bands.reshape(len(bands), -1).astype(np.float64)
    best = components(valid.size, [], 0)
    for level in sorted({e[0] for e in edges if e[0] <= alpha} | {0}):
        for p, group in components(valid.size, edges, level).items():
            values = flat[:, sorted(group)]
            if (values.max(1) - values.min(1) <= omega).all():
                best[p] = group
    return numbered({p: _same(g) for p, g in best.items()}, valid)


_kept = {}


def _same(group):
    """Return one object for equal sets."""
    return _kept.setdefault(frozenset(group), group)


def saliency(bands, valid, distance="linf", connectivity=4):
    """Return the least alpha that joins the pixels of each edge; infinity where there is none."""
    edges = edges_of(bands, valid, distance, connectivity)
    levels = np.full((len(STEPS[connectivity]), *valid.shape), np.inf)
    for alpha in sorted({e[0] for e in edges}, reverse=True):
        groups = components(valid.size, edges, alpha)
        for _, p, q, direction in edges:
            if groups[p] is groups[q]:
                levels[direction].flat[p] = alpha
    return levels
