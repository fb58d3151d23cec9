#!/usr/bin/env bash
# Builds libnvJitLink.so.MAJOR in DIRECTORY, which must contain libcuda.so.1. HEADERS is the directory with
# libcuda.so.h, which go build wrote.
#
#	cmd/libnvjitlink/build.sh MAJOR DIRECTORY HEADERS
set -euo pipefail
major=$1 out=$(realpath "$2") headers=$(realpath "$3")
cd "$(dirname "$0")"
case $major in # the last minor version of each
12) minor=9 ;;
13) minor=5 ;;
*) echo "build.sh: there is no libnvJitLink.so.$major" >&2; exit 2 ;;
esac
cc=${CC:-$(go env CC)}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
flags=(-std=gnu11 -D_GNU_SOURCE -O2 -fPIC -Wall -Wextra -Werror -DMAJOR="$major" -DMINOR="$minor" -I"$headers" -I../libcuda -I"$work")

touch "$work/versions.h"
$cc "${flags[@]}" -c src/nvjitlink.c -o "$work/plain.o"
for name in $(nm --defined-only -g "$work/plain.o" | awk '$3 != "nvJitLinkVersion" { print $3 }'); do
  for i in $(seq 0 "$minor"); do
    echo "extern __typeof__($name) __${name}_${major}_$i __attribute__((alias(\"$name\")));"
  done
done >"$work/versions.h"
$cc "${flags[@]}" -c src/nvjitlink.c -o "$work/nvjitlink.o"
echo "libnvJitLink.so.$major { global: nvJitLink*; __nvJitLink*; local: *; };" >"$work/exports.map"
$cc -shared -s -o "$out/libnvJitLink.so.$major" "$work/nvjitlink.o" "$out/libcuda.so.1" -ldl -pthread \
  -Wl,-soname,"libnvJitLink.so.$major" -Wl,--version-script="$work/exports.map" -Wl,-rpath,'$ORIGIN' -Wl,--no-undefined
