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

library() { # DIRECTORY SONAME FILE
  go build -buildmode=c-shared -trimpath -o "$3" \
    -ldflags "-s -extldflags '-Wl,-soname,$2 -Wl,--version-script=$PWD/cmd/$1/exports.map'" "./cmd/$1"
  mv -f "${3%.*}.h" "$headers" # cgo's declarations are not for clients
}

headers=$(mktemp -d)
trap 'rm -rf "$headers"' EXIT
mkdir -p "$root/bin" "$root/lib/gemu" "$root/lib/pkgconfig" "$root/include"
go build -trimpath -ldflags -s -o "$root/bin/gemu" ./cmd/gemu
ln -sf ../../bin/gemu "$root/lib/gemu/ptxas"
library libgemu libgemu.so "$root/lib/libgemu.so"
library libcuda libcuda.so.1 "$root/lib/gemu/libcuda.so.1"
for major in 12 13; do
  cmd/libcudart/build.sh "$major" "$root/lib/gemu" "$headers"
  cmd/libnvjitlink/build.sh "$major" "$root/lib/gemu" "$headers"
done
ln -sf libcuda.so.1 "$root/lib/gemu/libcuda.so"
cmd/libredirect/build.sh "$root/lib/gemu"
cp cmd/libgemu/gemu.h "$root/include/gemu.h"
sed "s|@PREFIX@|$prefix|" cmd/libgemu/gemu.pc.in >"$root/lib/pkgconfig/gemu.pc"
