#!/usr/bin/env bash
# Builds the command and the shared libraries and installs them with their accompanying files:
#
#	cmd/install.sh [PREFIX]        (default /usr/local; the environment variable DESTDIR is put before PREFIX)
#
#	PREFIX/bin/gemu
#	PREFIX/lib/gemu/ptxas          a link to gemu
#	PREFIX/lib/libgemu.so
#	PREFIX/lib/gemu/libcuda.so.1
#	PREFIX/lib/gemu/libcudart.so.12, .13
#	PREFIX/lib/gemu/libnvJitLink.so.12, .13
#	PREFIX/lib/gemu/libredirect.so (Linux)
#	PREFIX/include/gemu.h
#	PREFIX/lib/pkgconfig/gemu.pc
#
# Files with names of NVIDIA's are in lib/gemu, where a program finds them only if the user asks for them.
set -euo pipefail
prefix=$(realpath -m "${1:-/usr/local}")
root=${DESTDIR:-}$prefix
cd "$(dirname "$0")/.."

mkdir -p "$root/bin" "$root/lib/gemu"
go build -buildvcs=auto -trimpath -ldflags -s -o "$root/bin/gemu" ./cmd/gemu
ln -sf ../../bin/gemu "$root/lib/gemu/ptxas"
cmd/libraries.sh "$root"
