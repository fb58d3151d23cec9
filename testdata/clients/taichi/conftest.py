"""Each test has a Taichi of its own, on the device."""

import pytest
import taichi as ti


@pytest.fixture(autouse=True)
def device(request):
    """Starts Taichi; the marker `init` has further arguments of ti.init."""
    marker = request.node.get_closest_marker("init")
    ti.init(arch=ti.cuda, **(marker.kwargs if marker else {}))
    assert ti.lang.impl.current_cfg().arch == ti.cuda
    yield
    ti.reset()


def pytest_configure(config):
    config.addinivalue_line("markers", "init(**arguments): further arguments of ti.init")
