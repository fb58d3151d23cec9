#!/usr/bin/env bash
# Runs gemu and the tests of the stencils on processors that this host is not, by qemu-user: on one
# without AVX2, where there is no machine code and the command has to say so, and on one that has no more than
# the stencils want. What it does not run: any other test; kernels with more than one thread of the host at work.
set -euo pipefail
cd "$(dirname "$0")/../../.."
qemu=$(command -v qemu-x86_64) || { echo 'there is no qemu-x86_64: apt-get install qemu-user'; exit 2; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
go build -o "$dir/gemu" ./cmd/gemu
go test -c -o "$dir/native.test" ./interp/internal/native

# CPU STATUS TEXT COMMAND...: the command ends with a status, and says so.
expect() {
  local cpu=$1 status=$2 text=$3 got=0
  shift 3
  "$qemu" -cpu "$cpu" "$@" >"$dir/out" 2>&1 || got=$?
  if [ "$got" != "$status" ] || ! grep -q -- "$text" "$dir/out"; then
    printf 'on %s, %s: status %s, want %s and %q:\n' "$cpu" "$*" "$got" "$status" "$text"
    cat "$dir/out"
    exit 1
  fi
  printf 'on %s: %s: as it should be\n' "$cpu" "${*##*/}"
}

for old in Nehalem SandyBridge; do # AVX2 came with Haswell
  expect $old 2 'there is no machine code for this host' "$dir/gemu" run @saxpy --mode vector --engine native
  expect $old 0 '' "$dir/gemu" run @saxpy --mode vector
  expect $old 0 'SKIP: TestStencils' "$dir/native.test" -test.short -test.v -test.run Stencils
done
expect Haswell 0 '' "$dir/gemu" run @saxpy --mode vector --engine native
expect Haswell 0 'PASS: TestStencils' "$dir/native.test" -test.short -test.v -test.run Stencils
