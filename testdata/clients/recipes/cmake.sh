#!/usr/bin/env bash
# A project of CMake and CUDA C++, whose tests ctest runs; JUnit XML and SARIF in FOLDER. Needs cmake 3.24 and a C++ compiler. The
# second test has a planted race: gemu exec must find it, and end with status 3.
source "$(dirname "$0")/common.sh"
requires cmake c++
packages nvidia-cuda-nvcc nvidia-cuda-crt nvidia-nvvm nvidia-cuda-runtime nvidia-cuda-cccl nvidia-cuda-nvrtc nvidia-cuda-profiler-api
gemu toolkit "$work/cuda" --python "$work/venv/bin/python"
exec=(gemu exec -q --toolkit "$work/cuda")
"${exec[@]}" -- cmake -S "$here/cmake" -B "$work/build" -DCMAKE_CUDA_RUNTIME_LIBRARY=Shared -DCMAKE_CUDA_ARCHITECTURES=80 -DCMAKE_CUDA_FLAGS=-lineinfo
"${exec[@]}" -- cmake --build "$work/build"
status=0
"${exec[@]}" --sanitize all --junit "$work/junit.xml" --sarif "$work/findings.sarif" -- ctest --test-dir "$work/build" --output-on-failure || status=$?
[ "$status" = 3 ]
grep -q '"uri": ".*demo.cu"' "$work/findings.sarif"
"${exec[@]}" --sanitize all --write-baseline "$work/baseline.txt" -- ctest --test-dir "$work/build"
"${exec[@]}" --sanitize all --baseline "$work/baseline.txt" -- ctest --test-dir "$work/build"
# With a launcher the second test fails by itself, and the outer command reports the processes of both.
"${exec[@]}" -- cmake -S "$here/cmake" -B "$work/build" "-DCMAKE_CROSSCOMPILING_EMULATOR=gemu;exec;-q;--sanitize=all;--" "-DCMAKE_TEST_LAUNCHER=gemu;exec;-q;--sanitize=all;--"
status=0
"${exec[@]}" --sanitize all --junit "$work/launcher.xml" -- ctest --test-dir "$work/build" > "$work/ctest.txt" || status=$?
[ "$status" = 3 ]
grep -q "1 tests failed out of 2" "$work/ctest.txt"
grep -q 'testsuite name="demo race"' "$work/launcher.xml"
