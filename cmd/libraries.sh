#!/usr/bin/env bash
# Builds the shared libraries and installs them with their accompanying files below PREFIX, for the system GOOS and the
# processor GOARCH (default: this host), with the C compiler CC:
#
#	cmd/libraries.sh PREFIX
#
#	PREFIX/lib/libgemu.so                    on Windows bin/gemu.dll
#	PREFIX/lib/gemu/libcuda.so.1             this and the following libraries only on Linux
#	PREFIX/lib/gemu/libcuda.so               a link
#	PREFIX/lib/gemu/libcudart.so.12, .13
#	PREFIX/lib/gemu/libnvJitLink.so.12, .13
#	PREFIX/lib/gemu/libredirect.so
#	PREFIX/include/gemu.h
#	PREFIX/lib/pkgconfig/gemu.pc             only on Linux
#
# Files with names of NVIDIA's are in lib/gemu, where a program finds them only if the user asks for them. The libraries
# do not depend on the directories in which they are built.
set -euo pipefail
prefix=$(realpath -m "$1")
cd "$(dirname "$0")/.."
# Debug information would contain the names of the directories. Go's default has -g, which revokes -s for zig's compiler.
export CGO_ENABLED=1 CC=${CC:-$(go env CC)} CGO_CFLAGS=${CGO_CFLAGS:--O2} CGO_LDFLAGS=${CGO_LDFLAGS:--O2}
headers=$(mktemp -d)
trap 'rm -rf "$headers"' EXIT

library() { # DIRECTORY FILE FLAG... : the flags are for the linker that the C compiler calls
  local directory=$1 file=$2
  shift 2
  # -buildid: Go's own value would depend on the path of the version script.
  go build -buildmode=c-shared -trimpath -buildvcs=false -o "$file" -ldflags "-s -buildid= -extldflags '$*'" "./cmd/$directory"
  mv -f "${file%.*}.h" "$headers" # cgo's declarations are not for clients
}

elf() { # DIRECTORY SONAME FILE
  library "$1" "$3" "-Wl,-soname,$2" "-Wl,--version-script=$PWD/cmd/$1/exports.map"
}

mkdir -p "$prefix/include"
cp cmd/libgemu/gemu.h "$prefix/include/gemu.h"
case $(go env GOOS) in
windows) library libgemu "$prefix/bin/gemu.dll" ;;
linux)
  mkdir -p "$prefix/lib/gemu" "$prefix/lib/pkgconfig"
  sed "s|@VERSION@|$(cat internal/version/version.txt)|" cmd/libgemu/gemu.pc.in >"$prefix/lib/pkgconfig/gemu.pc"
  elf libgemu libgemu.so "$prefix/lib/libgemu.so"
  elf libcuda libcuda.so.1 "$prefix/lib/gemu/libcuda.so.1"
  ln -sf libcuda.so.1 "$prefix/lib/gemu/libcuda.so"
  for major in 12 13; do
    cmd/libcudart/build.sh "$major" "$prefix/lib/gemu" "$headers"
    cmd/libnvjitlink/build.sh "$major" "$prefix/lib/gemu" "$headers"
  done
  cmd/libredirect/build.sh "$prefix/lib/gemu"
  ;;
*)
  echo "libraries.sh: libraries are built for Linux and Windows, not for $(go env GOOS)" >&2
  exit 1
  ;;
esac
