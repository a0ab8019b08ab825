# SPDX-License-Identifier: MIT
"""Arrays on a GPU, without a GPU: NumPy plays CuPy and PyTorch, and the CPU engine the CUDA engine.

The stand-in for the library checks that all memory is said to be on the device, and on which stream;
then it computes in host memory, where the arrays really are.  `tests/gpu/device_arrays.py` runs the
real libraries on a GPU.
"""

from __future__ import annotations

import contextlib
import ctypes
import types

import numpy as np
import pytest
import qfz
from qfz import _device, _library, _structs

STREAM, NUMBER = 4242, 1


class DeviceArray(np.ndarray):
    """A NumPy array that says that it is on a GPU."""

    @property
    def __cuda_array_interface__(self):
        there = self.__array_interface__
        if self.flags.c_contiguous:
            there["strides"] = None
        return {**there, "version": 3, "stream": STREAM}

    @property
    def device(self):
        return types.SimpleNamespace(id=NUMBER)

    def get_device(self):
        return NUMBER

    def detach(self):
        return self

    def contiguous(self):
        return np.ascontiguousarray(self).view(DeviceArray)


def on_device(array):
    return np.asarray(array).view(DeviceArray)


def as_device(function):
    return lambda *a, **k: on_device(function(*a, **k))


class Module(types.SimpleNamespace):
    """The functions of CuPy and PyTorch that qfz calls."""

    def __init__(self, seen):
        stream = types.SimpleNamespace(ptr=STREAM, cuda_stream=STREAM, synchronize=lambda: None)

        @contextlib.contextmanager
        def device(number):
            seen.append(number)
            yield

        super().__init__(
            cuda=types.SimpleNamespace(
                get_current_stream=lambda: stream,
                current_stream=lambda number: stream,
                Device=device,
                device=device,
            ),
            empty=lambda shape, dtype, device=None: on_device(np.empty(shape, dtype)),
            moveaxis=as_device(np.moveaxis),
            movedim=as_device(np.moveaxis),
            ascontiguousarray=as_device(np.ascontiguousarray),
            as_tensor=lambda mask, device: on_device(mask),
            asarray=on_device,
            isnan=as_device(np.isnan),
            where=as_device(np.where),
            empty_like=as_device(np.empty_like),
            float32=np.float32,
            int32=np.int32,
            uint32=np.uint32,
        )


class Library:
    """The real library, for which device memory is host memory."""

    def __init__(self):
        self.real = _library.for_arrays()

    def __getattr__(self, name):
        return getattr(self.real, name)

    @staticmethod
    def _to_host(struct):
        assert struct._obj.memory == _structs.MEMORY_DEVICE
        struct._obj.memory = 0

    def qfz_session_open(self, session, image, rule, options, error):
        given = options._obj
        assert (given.engine, given.gpu, given.cuda_stream) == (2, NUMBER, STREAM)
        self._to_host(image)
        return self.real.qfz_session_open(session, image, rule, None, error)

    def qfz_session_run(self, session, part, into, error):
        self._to_host(into)
        return self.real.qfz_session_run(session, part, into, error)

    def qfz_session_cut(self, session, alpha, levels, into, error):
        self._to_host(into)
        return self.real.qfz_session_cut(session, alpha, levels, into, error)

    def qfz_session_paint(self, session, band, invalid, memory, out, error):
        assert memory == _structs.MEMORY_DEVICE
        return self.real.qfz_session_paint(session, band, invalid, 0, out, error)


@pytest.fixture(params=[_device.CuPy, _device.Torch])
def device(request, monkeypatch):
    """The GPUs that were made the current one."""
    seen = []
    module = Module(seen)
    monkeypatch.setattr(_device, "library_of", lambda _: request.param(module))
    monkeypatch.setattr(_library, "for_devices", Library)
    return seen


def rule_of(given, axis):
    return {
        "distance": given.distance,
        "connectivity": given.connectivity,
        "mask": given.valid,
        "channel_axis": axis,
    }


def test_results_equal_those_of_numpy(device, random_image):
    given, (image, axis) = random_image, random_image.given()
    rule = rule_of(given, axis)
    labels, n = qfz.label(on_device(image), given.alpha, **rule)
    expected = qfz.label(image, given.alpha, **rule)
    assert isinstance(labels, DeviceArray) and set(device) == {NUMBER}
    np.testing.assert_array_equal(labels, expected[0])
    assert n == expected[1]
    limits = {"omega": given.omega, "min_area": 3}
    labels, n = qfz.label(on_device(image), **limits, **rule)
    np.testing.assert_array_equal(labels, qfz.label(image, **limits, **rule)[0])
    levels = qfz.saliency(on_device(image), **rule)
    expected = qfz.saliency(image, **rule)
    np.testing.assert_array_equal(levels, expected)
    assert levels.dtype == expected.dtype
    filtered = qfz.saliency(on_device(image), min_area=3, **rule)
    np.testing.assert_array_equal(filtered, qfz.saliency(image, min_area=3, **rule))
    painted = qfz.simplify(on_device(image), **limits, **rule)
    np.testing.assert_array_equal(painted, qfz.simplify(image, **limits, **rule))
    assert painted.dtype == image.dtype and painted.shape == image.shape


@pytest.mark.parametrize("dtype", ["u4", "i4", "f4"])
def test_results_of_edges_equal_those_of_numpy(device, random_image, dtype):
    given, (image, axis) = random_image, random_image.given()
    rule = rule_of(given, axis)
    edges = given.rng.integers(0, 9, (given.connectivity // 2, *given.valid.shape)).astype(dtype)
    missing = given.rng.random(edges.shape) < 0.3
    if dtype != "i4":
        edges[missing] = _structs.NO_EDGE if dtype == "u4" else np.nan
    of_device, of_host = {"edges": on_device(edges), **rule}, {"edges": edges, **rule}
    labels, n = qfz.label(on_device(image), 3, min_area=2, **of_device)
    expected = qfz.label(image, 3, min_area=2, **of_host)
    assert isinstance(labels, DeviceArray) and set(device) == {NUMBER}
    np.testing.assert_array_equal(labels, expected[0])
    assert n == expected[1]
    levels, expected = qfz.saliency(on_device(image), **of_device), qfz.saliency(image, **of_host)
    np.testing.assert_array_equal(levels, expected)
    assert levels.dtype == expected.dtype
    painted = qfz.simplify(on_device(image), 3, omega=given.omega, **of_device)
    np.testing.assert_array_equal(painted, qfz.simplify(image, 3, omega=given.omega, **of_host))


@pytest.mark.parametrize("dtype", ["u4", "i4", "f4"])
def test_cuts_equal_those_of_numpy(device, random_image, dtype):
    given = random_image
    levels = given.rng.integers(0, 9, (given.connectivity // 2, *given.valid.shape)).astype(dtype)
    if dtype == "f4":
        levels[given.rng.random(levels.shape) < 0.5] = np.nan
        levels = levels / -4 * -1
    if dtype == "u4":
        levels[given.rng.random(levels.shape) < 0.5] = _structs.NO_EDGE
    for mask in (None, given.valid):
        for alpha in (0, 0.3, 1.5, 4, np.inf):
            labels, n = qfz.cut(on_device(levels), alpha, mask)
            expected = qfz.cut(levels, alpha, mask)
            assert isinstance(labels, DeviceArray) and set(device) == {NUMBER}
            np.testing.assert_array_equal(labels, expected[0])
            assert n == expected[1]


def test_singles_beside_alpha(device):
    """0.1 as a single is above 0.1, and 0.3 as a single is above 0.3; 0.7 is below."""
    for alpha in (0.1, 0.3, 0.7, 1e300):
        levels = np.full((2, 1, 2), np.float32(alpha) if alpha < 1 else np.float32(np.inf))
        assert qfz.cut(on_device(levels), alpha)[1] == qfz.cut(levels, alpha)[1]


def test_bad_device_levels_are_refused(device):
    levels = np.zeros((2, 4, 5), np.float32)
    with pytest.raises(qfz.QfzArgumentError, match="alpha is -1"):
        qfz.cut(on_device(levels), -1)
    with pytest.raises(ValueError, match="must be at least 0"):
        qfz.cut(on_device(levels - 1), 1)
    with pytest.raises(ValueError, match=r"levels of shape \(3, 4, 5\)"):
        qfz.cut(on_device(np.zeros((3, 4, 5), np.uint32)), 1)
    with pytest.raises(TypeError, match="levels on a GPU of type float64"):
        qfz.cut(on_device(levels.astype(float)), 1)


def test_nan_and_background_are_invalid(device):
    image = np.array([[1, np.nan, 3], [7, 3, 3]], np.float32)
    labels, n = qfz.label(on_device(image), background=7)
    assert labels.tolist() == [[1, 0, 2], [0, 2, 2]] and n == 2


def test_bad_device_arrays_are_refused(device):
    image = on_device(np.zeros((4, 5), np.uint8))
    with pytest.raises(TypeError, match="float64"):
        qfz.label(on_device(np.zeros((4, 5))))
    with pytest.raises(ValueError, match="channel_axis"):
        qfz.label(on_device(np.zeros((4, 5, 3), np.uint8)))
    with pytest.raises(ValueError, match="mask has shape"):
        qfz.label(image, mask=np.ones((4, 4)))
    edges = np.zeros((2, 4, 5), np.uint32)
    with pytest.raises(TypeError, match="edges of an image on a GPU are an array.*same.*cuda"):
        qfz.label(image, edges=edges)
    with pytest.raises(ValueError, match=r"edges have shape \(2, 4, 5\); .* needs \(4, 4, 5\)"):
        qfz.label(image, connectivity=8, edges=on_device(edges))
    with pytest.raises(ValueError, match="auto or cuda"):
        qfz.saliency(image, engine="cpu")
    with pytest.raises(ValueError, match="strides"):
        _device.interface(on_device(np.zeros((4, 6)))[:, ::2])


def test_functions_without_a_gpu_name_the_copy(device):
    image, levels = on_device(np.zeros((4, 5), np.uint8)), on_device(np.zeros((2, 4, 5), np.uint32))
    for function in qfz.regions, qfz.tree, qfz.curve, qfz.neighbours:
        with pytest.raises(TypeError, match="memory of a GPU, and is needed in that of the host"):
            function(image)
    with pytest.raises(TypeError, match="mask: the array"):
        qfz.label(np.zeros((4, 5), np.uint8), mask=image)
    with pytest.raises(TypeError, match="edges: the array"):
        qfz.label(np.zeros((4, 5), np.uint8), edges=levels)


def test_which_objects_are_on_a_device():
    class Dlpack:
        def __init__(self, kind):
            self.kind = kind

        def __dlpack_device__(self):
            return self.kind, 0

    assert _device.is_device_array(on_device(np.zeros((2, 2))))
    assert _device.is_device_array(Dlpack(2)) and _device.is_device_array(Dlpack(13))
    assert not _device.is_device_array(Dlpack(1))
    assert not _device.is_device_array(np.zeros((2, 2)))
    assert not _device.is_device_array([[1]])


def test_a_library_without_cuda_is_named(monkeypatch):
    if _library.for_arrays().has("CUDA"):
        pytest.skip("this library has CUDA")
    monkeypatch.setattr(_device, "library_of", lambda _: _device.CuPy(Module([])))
    with pytest.raises(qfz.QfzLibraryError, match="arrays on a GPU need a libqfz with CUDA"):
        qfz.label(on_device(np.zeros((4, 5), np.uint8)))


def test_the_addresses_are_those_of_the_array():
    image = on_device(np.arange(12, dtype=np.uint16).reshape(3, 4))
    where, dtype, shape = _device.interface(image)
    assert (dtype, shape) == (np.uint16, (3, 4))
    assert ctypes.c_uint16.from_address(where + 2 * 5).value == 5
