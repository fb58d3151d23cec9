"""Programs of public repositories, built as they are, from checkouts in the folder that
GEMU_SAMPLES names: GEMU_SAMPLES/cuda-samples is one of NVIDIA/cuda-samples, and so on. A repository
without a checkout is skipped."""

import dataclasses
import os
import pathlib
import re

import pytest
import toolkit


@dataclasses.dataclass(frozen=True)
class Sample:
    """A program of a repository: its sources, its arguments, and its expected output (a regular
    expression)."""

    repository: str
    sources: str
    prints: str = ""
    arguments: str = ""
    options: tuple = ()


RDC = ("-rdc=true",)
INTRODUCTION = "Samples/0_Introduction"
TECHNIQUES = "Samples/2_Concepts_and_Techniques"
FEATURES = "Samples/3_CUDA_Features"
PERFORMANCE = "Samples/6_Performance"
SAMPLES = [
    Sample("cuda-samples", f"{INTRODUCTION}/asyncAPI/asyncAPI.cu", "CPU executed"),
    Sample("cuda-samples", f"{INTRODUCTION}/simpleAssert/simpleAssert.cu", "returned OK"),
    Sample("cuda-samples", f"{INTRODUCTION}/simpleAWBarrier/simpleAWBarrier.cu", "Result = PASSED"),
    Sample("cuda-samples", f"{INTRODUCTION}/simpleCubemapTexture/simpleCubemapTexture.cu"),
    Sample("cuda-samples", f"{INTRODUCTION}/simpleHyperQ/simpleHyperQ.cu", "Measured time"),
    Sample("cuda-samples", f"{INTRODUCTION}/simpleLayeredTexture/simpleLayeredTexture.cu"),
    Sample("cuda-samples", f"{INTRODUCTION}/simplePitchLinearTexture/simplePitchLinearTexture.cu", "returned OK"),
    Sample("cuda-samples", " ".join(f"{INTRODUCTION}/simpleSeparateCompilation/simple{n}.cu" for n in ("SeparateCompilation", "DeviceLibrary")), "returned OK", options=RDC),
    Sample("cuda-samples", f"{INTRODUCTION}/systemWideAtomics/systemWideAtomics.cu", "returned OK"),
    Sample("cuda-samples", f"{TECHNIQUES}/inlinePTX/inlinePTX.cu", "Test Successful"),
    Sample("cuda-samples", f"{TECHNIQUES}/shfl_scan/shfl_scan.cu", r"CheckSum: 2073600"),
    Sample("cuda-samples", f"{TECHNIQUES}/streamOrderedAllocation/streamOrderedAllocation.cu", "PostSync PASSED"),
    Sample("cuda-samples", f"{FEATURES}/binaryPartitionCG/binaryPartitionCG.cu", "Num of Odds = [1-9]"),
    Sample("cuda-samples", f"{FEATURES}/cdpSimplePrint/cdpSimplePrint.cu", "BLOCK 9 launched by thread", options=RDC),
    Sample("cuda-samples", f"{FEATURES}/graphMemoryFootprint/graphMemoryFootprint.cu", "Sample complete"),
    Sample("cuda-samples", f"{FEATURES}/graphMemoryNodes/graphMemoryNodes.cu", "Validation PASSED"),
    Sample("cuda-samples", f"{FEATURES}/newdelete/newdelete.cu", "Test Summary: 3/3"),
    Sample("cuda-samples", f"{FEATURES}/simpleCudaGraphs/simpleCudaGraphs.cu", r"StreamCapture\] Host callback final reduced sum = 0.996214"),
    Sample("cuda-samples", f"{PERFORMANCE}/LargeKernelParameter/LargeKernelParameter.cu", "Test passed"),
    Sample("code-samples", "posts/unified-memory/dataElem_um_c++_2.cu", r"after by-value\):   name=rello, value=12"),
    Sample("cuda_programming", "03_sum_reduction/cooperative_groups/sumReduction.cu", "COMPLETED SUCCESSFULLY"),
    Sample("gpu-rodinia", "cuda/pathfinder/pathfinder.cu", "", "1000 20 5"),
]


@pytest.mark.parametrize("options", [toolkit.PTX, ()], ids=["ptx", "default"])
@pytest.mark.parametrize("major", toolkit.MAJORS)
@pytest.mark.parametrize("sample", SAMPLES, ids=lambda s: f"{s.repository}-{pathlib.Path(s.sources).stem}")
def test_sample(sample, major, options, tmp_path):
    checkout = pathlib.Path(os.environ.get("GEMU_SAMPLES", "samples")) / sample.repository
    if not checkout.exists():
        pytest.skip(f"GEMU_SAMPLES has no checkout of {sample.repository}")
    sources = [checkout / s for s in sample.sources.split()]
    program = toolkit.build(major, tmp_path, sources, f"-I{checkout}/Common", *sample.options, *options)
    output = toolkit.run(program, *sample.arguments.split())
    assert "FAILED" not in output and re.search(sample.prints, output)
