#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Arrays on a GPU through the Python package equal those of NumPy, bit for bit.

device_arrays.py [SEED [CASES]]

Needs CuPy, and a libqfz with CUDA, which QFZ_LIBRARY names; PYTHONPATH names the folder python/.
PyTorch and JAX are tested where they are installed with CUDA.  Exit status 77: skipped.
"""

from __future__ import annotations

import sys

import numpy as np

try:
    import cupy
except ImportError:
    print("skipped: CuPy is not installed")
    sys.exit(77)
if cupy.cuda.runtime.getDeviceCount() == 0:
    print("skipped: no GPU")
    sys.exit(77)

import qfz

TYPES = ["u1", "i1", "u2", "i2", "u4", "i4", "f4"]
checks = 0


def same(what, got, expected):
    global checks
    checks += 1
    got = to_numpy(got)
    if got.shape != expected.shape or got.tobytes() != expected.astype(got.dtype).tobytes():
        sys.exit(f"{what}: {got.dtype} {got.shape} differs from {expected.dtype} {expected.shape}")


def to_numpy(array):
    if isinstance(array, cupy.ndarray):
        return array.get()
    return array.cpu().numpy() if hasattr(array, "cpu") else np.asarray(array)


def with_cupy():
    return "cupy", cupy.asarray, cupy.ndarray


def with_torch():
    import torch

    if not torch.cuda.is_available():
        raise ImportError("torch has no CUDA")
    return "torch", lambda array: torch.from_numpy(array).cuda(), torch.Tensor


def with_jax():
    import jax

    if not any(device.platform == "gpu" for device in jax.devices()):
        raise ImportError("jax has no GPU")
    return "jax", jax.numpy.asarray, jax.Array


def one_case(rng, name, send, kind):
    dtype = np.dtype(str(rng.choice(["u1", "i2", "i4", "f4"] if name == "torch" else TYPES)))
    n_bands, h, w = int(rng.integers(1, 4)), *(int(n) for n in rng.integers(1, 200, 2))
    image = rng.integers(0, rng.choice([3, 20, 120]), (n_bands, h, w)).astype(dtype)
    if dtype.kind == "f" and rng.random() < 0.5:
        image[rng.random(image.shape) < 0.1] = np.nan
    mask = rng.random((h, w)) < 0.9 if rng.random() < 0.5 else None
    rule = {"connectivity": int(rng.choice([4, 8])), "channel_axis": 0, "mask": mask}
    rule["distance"] = "linf" if dtype.itemsize == 4 else str(rng.choice(["l1", "l2", "linf"]))
    alpha, omega = float(rng.integers(0, 8)), float(rng.integers(0, 30))
    what = f"{name}, {dtype} {image.shape}, {rule['distance']}, {rule['connectivity']}"
    there = send(image)
    for least in (None, int(rng.integers(2, 30))):
        limits = {"min_area": least, **rule}
        one_with_limits(f"{what}, min_area {least}", there, image, kind, (alpha, omega), limits)
    edges = rng.integers(0, 9, (rule["connectivity"] // 2, h, w))
    edges = edges.astype("f4" if rng.random() < 0.5 else "i4")
    if edges.dtype.kind == "f":
        edges[rng.random(edges.shape) < 0.3] = np.nan
    one_with_edges(f"edges, {what}", there, image, (send(edges), edges), (alpha, omega), rule)
    last = np.ascontiguousarray(np.moveaxis(image, 0, 2))
    labels, _ = qfz.label(send(last), alpha, **{**rule, "channel_axis": -1})
    same(f"bands last, {what}", labels, qfz.label(image, alpha, engine="cpu", **rule)[0])


def one_with_limits(what, there, image, kind, alpha_omega, rule):
    alpha, omega = alpha_omega
    for given in (None, omega):
        labels, n = qfz.label(there, alpha, omega=given, **rule)
        expected = qfz.label(image, alpha, omega=given, engine="cpu", **rule)
        assert isinstance(labels, kind) and n == expected[1], what
        same(f"labels, omega {given}, {what}", labels, expected[0])
    painted = qfz.simplify(there, alpha, omega=omega, **rule)
    expected = qfz.simplify(image, alpha, omega=omega, engine="cpu", **rule)
    same(f"simplify, {what}", painted, expected)
    levels = qfz.saliency(there, **rule)
    expected = qfz.saliency(image, engine="cpu", **rule)
    same(f"saliency, {what}", levels, expected)
    for mask in (None, rule["mask"]):
        labels, n = qfz.cut(levels, alpha, mask)
        cut = qfz.cut(expected, alpha, mask)
        assert isinstance(labels, kind) and n == cut[1], what
        same(f"cut, {what}", labels, cut[0])


def one_with_edges(what, there, image, edges, alpha_omega, rule):
    alpha, omega = alpha_omega
    on_gpu, on_host = {"edges": edges[0], **rule}, {"edges": edges[1], "engine": "cpu", **rule}
    same(f"labels, {what}", qfz.label(there, alpha, **on_gpu)[0], qfz.label(image, alpha, **on_host)[0])
    same(f"saliency, {what}", qfz.saliency(there, **on_gpu), qfz.saliency(image, **on_host))
    painted = qfz.simplify(there, alpha, omega=omega, **on_gpu)
    same(f"simplify, {what}", painted, qfz.simplify(image, alpha, omega=omega, **on_host))


def on_a_stream(rng):
    """The image is still being computed when qfz is called, and the result is used at once."""
    image = rng.integers(0, 50, (3000, 3000)).astype(np.int32)
    streams = cupy.cuda.Stream(non_blocking=True), cupy.cuda.Stream.null
    for stream, least in [(stream, least) for stream in streams for least in (None, 20)]:
        expected = qfz.label(image + 7 * image, 4, min_area=least, engine="cpu")[0]
        with stream:
            there = cupy.asarray(image)
            for _ in range(50):  # keeps the stream busy
                slow = cupy.sort(there, axis=1)
            labels, _ = qfz.label(there + 7 * there, 4, min_area=least)
            total = labels.astype(cupy.uint64).sum()
            cut, _ = qfz.cut(qfz.saliency(there + 7 * there, min_area=least), 4)
            same("stream", labels, expected)
            same("cut in a stream", cut, expected)
            same("sum", total, expected.sum(dtype=np.uint64).reshape(()))
        del slow


def main():
    seed, cases = (int(a) for a in sys.argv[1:] + ["1", "60"][len(sys.argv) - 1 :])
    for library in (with_cupy, with_torch, with_jax):
        try:
            name, send, kind = library()
        except ImportError as error:
            print(f"{library.__name__[5:]}: skipped: {error}")
            continue
        rng = np.random.default_rng(seed)
        before = checks
        for _ in range(cases):
            one_case(rng, name, send, kind)
        print(f"{name}: {checks - before} results equal those of NumPy")
    on_a_stream(np.random.default_rng(seed))
    print(f"{checks} checks passed")


if __name__ == "__main__":
    main()
