"""Arrays that a stand-in for CuPy says to be in device memory: what is refused before C reads them."""

import numpy as np
import pytest
import scipy.sparse as sp
import trireme as tr
from trireme._arrays import check_device_values, dense
from trireme._matrix import compressed


class Gpu:
    id = 0


class Array:
    """What CuPy's arrays show, of a NumPy array, whose memory no GPU has."""

    def __init__(self, array):
        self._array, self.device, self.dtype, self.shape = array, Gpu(), array.dtype, array.shape
        self.__cuda_array_interface__ = {"typestr": array.dtype.str, "shape": array.shape, "version": 3,
                                         "strides": array.strides, "data": (array.ctypes.data, False)}


Array.__module__ = "cupy"


class Csr:
    format, shape = "csr", (2, 2)

    def __init__(self, values):
        self.indptr, self.indices = Array(np.array([0, 1, 2], np.int32)), Array(np.array([0, 1], np.int32))
        self.data = Array(values)


def test_relaxation_on_the_cpu_refuses_device_arrays():
    R = tr.relaxation(sp.csr_array(np.diag([2.0, 4.0])), 1, device="serial")
    x, b = np.zeros(2), np.ones(2)
    for pair, name in ((x, Array(b)), "b"), ((Array(x), b), "x"):
        with pytest.raises(TypeError, match=f"{name} is on a GPU, the relaxation on the CPU: copy {name}"):
            R.sweep(*pair)
    R.sweep(x, b, 3)
    assert np.allclose(x, [0.5, 0.25])


def test_values_in_device_memory_are_of_one_type_and_order():
    check_device_values(dense(Array(np.ones(6))), "values", np.dtype("f8"))
    check_device_values(dense(Array(np.ones(6)[::6])), "values", np.dtype("f8"))  # one element has no gaps
    with pytest.raises(TypeError, match="float64 with gaps between them in device memory: contiguous float64"):
        check_device_values(dense(Array(np.ones(6)[::2])), "values", np.dtype("f8"))
    with pytest.raises(TypeError, match="values of type float32 in device memory: contiguous float64"):
        check_device_values(dense(Array(np.ones(6, np.float32))), "values", np.dtype("f8"))


def test_matrices_in_device_memory_have_no_gaps():
    assert compressed(Csr(np.ones(2))).val.device == 0
    with pytest.raises(TypeError, match="values .* with gaps"):
        compressed(Csr(np.ones(4)[::2]))
    gaps = Csr(np.ones(2))
    gaps.indices = Array(np.zeros(4, np.int32)[::2])
    with pytest.raises(TypeError, match="indices .* with gaps"):
        compressed(gaps)


def test_new_values_of_a_plan_on_a_gpu_are_checked(monkeypatch):
    """A plan that believes to be on a GPU: it refuses before C is called."""
    p = tr.plan(sp.csr_array(np.diag([2.0, 4.0])), device="serial")
    p._on_gpu, p._matrix_device = True, 0
    p.__dict__["_refresh"] = lambda new: None
    p.update(Array(np.ones(2)))
    for wrong in (np.ones(2, np.float32), np.ones(4)[::2]):
        with pytest.raises(TypeError, match="contiguous float64 is wanted"):
            p.update(Array(wrong))
