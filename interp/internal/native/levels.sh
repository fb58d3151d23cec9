#!/usr/bin/env bash
# Runs gemu and the tests of the stencils on processors other than the host's, by qemu-user: on a processor without AVX2,
# where there is no machine code and the command must report this; on a processor with exactly the required extensions; and
# on arm64, there also a part of the tests that compare machine code with Go: a quarter of an hour. It runs no further test.
# qemu does not show caches with old instructions, and different orders of memory between threads.
set -euo pipefail
cd "$(dirname "$0")/../../.."
qemu() { command -v "qemu-$1" || { echo "there is no qemu-$1: apt-get install qemu-user" >&2; exit 2; }; }
x86=$(qemu x86_64)
arm=$(qemu aarch64)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# make ARCH PACKAGE... builds the command and the tests of packages.
make() {
  local arch=$1 p
  mkdir "$dir/$arch"
  GOARCH=$arch go build -o "$dir/$arch/gemu" ./cmd/gemu
  shift
  for p in "$@"; do
    GOARCH=$arch go test -c -o "$dir/$arch/${p##*/}.test" "./$p"
  done
}
make amd64 interp/internal/native
make arm64 interp/internal/native interp/internal/grid interp

# QEMU CPU STATUS TEXT COMMAND...: the command must end with the status, and print the text.
expect() {
  local qemu=$1 cpu=$2 status=$3 text=$4 got=0
  shift 4
  "$qemu" -cpu "$cpu" "$@" >"$dir/out" 2>&1 || got=$?
  if [ "$got" != "$status" ] || ! grep -q -- "$text" "$dir/out"; then
    printf 'on %s, %s: status %s, want %s and %q:\n' "$cpu" "$*" "$got" "$status" "$text"
    cat "$dir/out"
    exit 1
  fi
  printf 'on %s: %s: as it should be\n' "$cpu" "${*##*/}"
}

amd64=$dir/amd64
for old in Nehalem SandyBridge; do # AVX2 came with Haswell
  expect "$x86" $old 2 'there is no machine code for this host' "$amd64/gemu" run @saxpy --mode vector --engine native
  expect "$x86" $old 0 '' "$amd64/gemu" run @saxpy --mode vector
  expect "$x86" $old 0 'SKIP: TestStencils' "$amd64/native.test" -test.short -test.v -test.run Stencils
done
expect "$x86" Haswell 0 '' "$amd64/gemu" run @saxpy --mode vector --engine native
expect "$x86" Haswell 0 'PASS: TestStencils' "$amd64/native.test" -test.short -test.v -test.run Stencils

# tests PACKAGE PATTERN TEST runs tests in their folder; the named test must be among them.
tests() {
  (cd "$1" && expect "$arm" cortex-a53 0 "PASS: $3" "$dir/arm64/${1##*/}.test" -test.short -test.v -test.run "$2" -test.timeout 1h)
}
for kernel in saxpy nqueens; do # in the second, lanes diverge
  for mode in vector affine check; do # cortex-a53 has Armv8.0-A
    expect "$arm" cortex-a53 0 'the result is that of the host reference' "$dir/arm64/gemu" run @$kernel --mode $mode --engine native
  done
done
tests interp/internal/native . TestStencils
tests interp/internal/grid '^Test(Backends|Compact|Checked)' TestCheckedKernels
tests interp '^TestMachineCode' TestMachineCodeOnRandomPrograms
