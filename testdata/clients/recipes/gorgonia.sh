#!/usr/bin/env bash
# gorgonia's cu: go test, with the driver API by cgo. Needs Go and a C compiler. A Go program ends without the exit handlers of C, in
# which gemu judges the launches: the function Exit of the package calls them.
source "$(dirname "$0")/common.sh"
requires go cc
packages "nvidia-cuda-runtime-cu12==12.9.*"
gemu toolkit "$work/cuda" --python "$work/venv/bin/python"
mkdir -p "$work/saxpy"
cp "$here"/gorgonia/*.go "$work/saxpy"
cd "$work/saxpy"
[ -f go.mod ] || go mod init saxpy
fetch go get gorgonia.org/cu@v0.9.6
export CGO_CFLAGS=-I$work/cuda/include CGO_LDFLAGS=-L$work/cuda/lib64/stubs SAXPY=$(realpath "$here/../../../kernels/cuda/saxpy.ptx")
gemu exec --toolkit "$work/cuda" --sanitize all --require-launches -- go test -count=1 ./...
