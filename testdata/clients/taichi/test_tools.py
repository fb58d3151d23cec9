"""Tools for authors of kernels: printing, assertions, times."""

import pytest
import taichi as ti


def test_print(capfd):
    @ti.kernel
    def work():
        for i in range(4):
            print("lane", i, 1.5 * i, ti.Vector([i, -i]))

    work()
    ti.sync()
    printed = sorted(capfd.readouterr().out.splitlines())
    assert printed == [f"lane {i} {1.5 * i:f} [{i}, {-i}]" for i in range(4)]


@pytest.mark.init(debug=True)
def test_assert():
    @ti.kernel
    def work(n: ti.i32):
        for i in range(n):
            assert i < 10, f"too large: {i}"

    work(10)
    ti.sync()
    with pytest.raises(ti.TaichiAssertionError, match="too large: 10"):
        work(11)
        ti.sync()


@pytest.mark.init(debug=True)
def test_bounds():
    x = ti.field(ti.i32, 10)

    @ti.kernel
    def work(i: ti.i32):
        x[i] = 1

    with pytest.raises(ti.TaichiAssertionError, match="with indices \\(11\\)"):
        work(11)
        ti.sync()


@pytest.mark.init(kernel_profiler=True)
def test_profiler():
    x = ti.field(ti.f32, 1000)

    @ti.kernel
    def work():
        for i in x:
            x[i] = i

    for _ in range(3):
        work()
    ti.sync()
    assert ti.profiler.query_kernel_profiler_info(work.__name__).counter == 3
    assert ti.profiler.get_kernel_profiler_total_time() > 0
