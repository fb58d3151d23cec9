"""Algorithms of Thrust and CUB, and libcu++, by programs that check them against the host."""

import pathlib

import pytest
import toolkit

PROGRAMS = pathlib.Path(__file__).parent / "programs"


@pytest.mark.parametrize("major", toolkit.MAJORS)
@pytest.mark.parametrize("name", sorted(p.stem for p in PROGRAMS.glob("*.cu")))
def test_program(name, major, tmp_path):
    program = toolkit.build(major, tmp_path, [PROGRAMS / f"{name}.cu"], "--extended-lambda", *toolkit.PTX)
    assert toolkit.run(program) == "ok\n"
