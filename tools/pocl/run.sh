#!/bin/sh
# Measures gemu and pocl on a single core; see main.go. Arguments are passed to it: -repeat 31. CORE
# selects the core. It needs cc, and pocl with the headers of OpenCL, which it installs from Debian's
# archive if it can.
set -e
cd "$(dirname "$0")"
if ! [ -e /usr/include/CL/cl.h ] || ! ls /etc/OpenCL/vendors/pocl*.icd >/dev/null 2>&1; then
	apt-get install -y --no-install-recommends pocl-opencl-icd ocl-icd-opencl-dev
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cc -O2 -Wall -o "$work/host" opencl/host.c -lOpenCL
go build -o "$work/pocl" .
# pocl caches its compiled code, for the same program only.
export POCL_CACHE_DIR="$work" POCL_MAX_PTHREAD_COUNT=1 POCL_CPU_MAX_CU_COUNT=1 OCL_ICD_VENDORS=/etc/OpenCL/vendors GOMAXPROCS=1
taskset -c "${CORE:-0}" "$work/pocl" -host "$work/host" "$@"
