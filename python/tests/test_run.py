"""Launches step by step, forward and back."""

import gc

import numpy as np
import pytest

import gemu


def test_steps(module, x, y):
    with module.saxpy[1, 40].start(40, 2.0, x, y) as run:
        steps = run.next(3)
        assert [s.kind for s in steps] == ["cta", "instruction", "instruction"] and run.position == 3 and not run.ended
        assert steps[1].instruction.startswith("ld.param.u32 %r0") and steps[1].results["%r0"] == {lane: 40 for lane in range(32)}
        seen = [*steps]
        for step in run:
            seen.append(step)
            if step.accesses and step.accesses[0].kind == "store":
                lanes = step.accesses[0].addresses
                stored = 32 * step.warp
                assert y[stored] == 2 * stored + 1  # the array has the contents at this step
                assert lanes[0] + 4 == lanes[1]
        assert run.ended and run.error is None
    executed = [s for s in seen if s.kind == "instruction"]
    assert len(executed) == 2 * 18 and {len(s.lanes) for s in executed if s.warp == 1} == {8, 0}  # 0: no lane returns early
    assert (y[:40] == 2 * x[:40] + 1).all() and (y[40:] == 1).all()
    module.saxpy[1, 40](40, 1.0, x, y)  # the device is free again


def test_back(module, x, y):
    buffer = gemu.zeros(4)
    run = module.saxpy[1, 4].start(4, 2.0, x, y)
    first = run.next(30)
    assert run.ended and y[3] == 7
    run.back(8)
    assert y[3] == 1 and run.position == len(first) - 8 and not run.ended
    assert run.next(30) == first[-8:] and y[3] == 7
    run.back(run.position)
    assert y[3] == 1 and run.position == 0
    with pytest.raises(ValueError, match="0 steps have happened"):
        run.back()
    run.finish()
    assert y[3] == 7
    with pytest.raises(gemu.CallError, match="stopped"):
        run.read_shared(0, 4)
    buffer.free()


def test_back_fails(module, x, y, monkeypatch):
    """A launch that cannot begin again, as after Ctrl-C: the run has ended, and its arrays are no longer shared."""
    run = module.saxpy[1, 4].start(4, 2.0, x, y)
    run.next(3)
    address = run._shares.address(y)

    def begin():
        raise KeyboardInterrupt

    monkeypatch.setattr(run, "_begin", begin)
    with pytest.raises(KeyboardInterrupt):
        run.back()
    assert run.ended
    with pytest.raises(gemu.CallError, match="stopped"):
        run.next()
    with pytest.raises(gemu.Trap, match="which has been freed"):
        module.store[1, 1](address, 5)


def test_a_trap_is_the_last_step(module, x, y):
    run = module.saxpy[1, 32].start(32, 2.0, x[:30], y)
    steps = run.next(1000)
    assert steps[-1].kind == "trap" and "out-of-bounds" in steps[-1].message and steps[-1].lanes == [30, 31]
    assert isinstance(run.error, gemu.Trap) and run.error.lanes == [30, 31] and run.ended
    run.back(3)
    assert run.error is None and not run.ended
    with pytest.raises(gemu.Trap):
        run.finish()


def test_shared_memory(module):
    out = np.zeros(1, np.uint32)
    with module.race[1, 64].start(out, workers=1) as run:
        for step in run:
            if "st.shared" in step.instruction:
                assert run.read_shared(0, 256, dtype=np.uint32)[step.warp * 32 + 5] == step.warp * 32 + 5
                break
        else:
            raise AssertionError("no store")


def test_the_device_is_busy(module, x, y):
    run = module.saxpy[1, 4].start(4, 2.0, x, y)
    with pytest.raises(gemu.CallError, match=r"^a run is open: end it with Run.stop\(\)"):
        module.saxpy[1, 4](4, 2.0, x, y)
    del run
    gc.collect()
    module.saxpy[1, 4](4, 2.0, x, y)
    with pytest.raises(gemu.CallError, match="do not work with start: a run has no result"):
        module.saxpy[1, 4].start(4, 2.0, x, y, profile=True)
    module.saxpy[1, 4](4, 2.0, x, y)


def test_wrong_counts(module, x, y):
    run = module.saxpy[1, 4].start(4, 2.0, x, y)
    for f in (run.next, run.back):
        with pytest.raises(TypeError, match="integer"):
            f(1.5)
    assert len(run.next(np.int64(2))) == 2
    run.stop()
    with pytest.raises(gemu.CallError, match="the run has been stopped"):
        run.next()
