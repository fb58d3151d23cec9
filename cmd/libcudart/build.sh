#!/usr/bin/env bash
# Builds libcudart.so.MAJOR in DIRECTORY, which must contain libcuda.so.1. HEADERS is the directory with
# libcuda.so.h, which go build wrote. For a function of names.txt that no file of src defines, the library
# has a function that returns cudaErrorNotSupported. The names of these functions are written to LIST.
#
#	cmd/libcudart/build.sh MAJOR DIRECTORY HEADERS [LIST]
set -euo pipefail
major=$1 out=$(realpath "$2") headers=$(realpath "$3") list=$(realpath -m "${4:-/dev/null}")
cd "$(dirname "$0")"
cc=${CC:-$(go env CC)}
flags=(-std=gnu11 -O2 -fPIC -Wall -Wextra -Werror -pthread -DMAJOR="$major" -I"$headers" -I../libcuda)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for c in src/*.c; do
  $cc "${flags[@]}" -c "$c" -o "$work/$(basename "$c").o"
done
nm --defined-only -g "$work"/*.o | awk 'NF == 3 { print $3 }' | LC_ALL=C sort >"$work/have"
awk -v major="$major" '!/^#/ && ($2 == "" || $2 == major) { print $1 }' names.txt | LC_ALL=C sort >"$work/names"
LC_ALL=C comm -13 "$work/have" "$work/names" >"$work/refused"
{
  echo 'int refused(const char *function);'
  sed 's/.*/int &(void) { return refused("&"); }/' "$work/refused"
} >"$work/refused.c"
$cc "${flags[@]}" -c "$work/refused.c" -o "$work/refused.o"
{
  echo "libcudart.so.$major { global:"
  sed 's/$/;/' "$work/names"
  echo 'local: *; };'
} >"$work/exports.map"
$cc -shared -s -pthread -o "$out/libcudart.so.$major" "$work"/*.o "$out/libcuda.so.1" \
  -Wl,-soname,"libcudart.so.$major" -Wl,--version-script="$work/exports.map" -Wl,-rpath,'$ORIGIN' -Wl,--no-undefined
cat "$work/refused" >"$list"
