"""Reports: structure, profile, machines, register files, recordings. Expected counts are counted by hand."""

import numpy as np
import pytest

import gemu

pandas = pytest.importorskip("pandas")


def test_structure(module, x, y):
    result = module.saxpy[4, 32](100, 2.0, x, y, structure=True, policy="kim")
    s = result.structure
    assert s.policy == "kim" and s.summary.dynamic_instructions == 72 and s["schema"] == "gemu-structure/2"
    assert [i.text for i in s.instructions[:2]] == ["ld.param.u32 %r0, [n];", "ld.param.f32 %f0, [a];"] and len(s.instructions) == 18
    by_text = {i.text: i for i in s.instructions}
    assert by_text["mov.u32 %r3, %tid.x;"].a == 4  # affine in each of 4 warps
    frame = s.instructions.frame()
    assert len(frame) == 18 and frame.execs.sum() == 72 and "address.affine" in frame.columns
    assert s.lines.frame().execs.sum() == 72
    with pytest.raises(ValueError, match="launch with structure"):
        module.saxpy[4, 32](100, 2.0, x, y).structure
    with pytest.raises(AttributeError, match="no field nothing"):
        s.nothing


def test_profile(module, x, y):
    p = module.saxpy[4, 32](100, 2.0, x, y, profile=True).profile
    assert p.total.execs == 72 and p.lines.frame()["counts.execs"].sum() == 72
    load = next(line for line in p.lines if "ld.global.f32 %f1" in module.ptx.splitlines()[line.line - 1])
    # Four warps load 128, 128, 128 and 16 bytes: 4 + 4 + 4 + 1 sectors of 32 bytes.
    assert load.counts["global"].requests == 4 and load.counts["global"].sectors == 13
    assert {o.kernel for o in p.occupancy} == {"saxpy"} and p.occupancy.frame().threads.unique().tolist() == [32]
    assert isinstance(p.to_dict()["lines"][0]["counts"], dict)
    with pytest.raises(gemu.Trap) as e:
        module.saxpy[4, 32](104, 2.0, x, y, profile=True, record="all")
    assert "out-of-bounds" in e.value.result.profile.trapped and len(e.value.result.recording.events) > 0


def test_machines_and_register_files(module, x, y):
    result = module.saxpy[4, 32](100, 2.0, x, y, machine=["v100", "h100"], regfile="kim")
    assert [m.name for m in result.machines] == ["v100", "h100"]
    # The three accesses of four warps, the sectors as above.
    assert result.machines[0].total.requests == 12
    assert result.machines[0].kernels[0].lines.frame()["counts.requests"].sum() == 12
    assert [m.model for m in result.models] == ["kim"]
    with pytest.raises(ValueError, match="launch with machine"):
        module.saxpy[4, 32](100, 2.0, x, y).machines


def test_recording(module, x, y, tmp_path):
    result = module.saxpy[4, 32](100, 2.0, x, y, record=["results", "accesses", "source"])
    r = result.recording
    assert r.frame("events").kind.value_counts()["instruction"] == 72
    assert r.launches.kernel == ["saxpy"] and r.launches.block_x.tolist() == [32]
    frame = r.frame("accesses")
    assert len(frame) >= 12 and "load" in set(frame.kind)
    r.save(tmp_path / "saxpy.gemu")
    again = gemu.Recording.load(tmp_path / "saxpy.gemu")
    assert (again.events.lanes == r.events.lanes).all() and len(again.results) == len(r.results)
    assert len(module.saxpy[4, 32](100, 2.0, x, y, record=True).recording.events) == len(r.events)
    with pytest.raises(ValueError, match="launch with record"):
        module.saxpy[4, 32](100, 2.0, x, y).recording
    with pytest.raises(KeyError, match="no table nothing"):
        r.frame("nothing")


def test_compute_capability(module, x, y):
    r = module.saxpy[4, 32](100, 2.0, x, y, record=True, sm=9.0).recording
    assert r.launches.sm.tolist() == [90]
    with pytest.raises(gemu.CallError, match="sm=nine"):
        module.saxpy[4, 32](100, 2.0, x, y, sm="nine")
