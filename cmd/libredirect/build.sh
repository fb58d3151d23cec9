#!/usr/bin/env bash
# Builds libredirect.so in DIRECTORY, which has the libraries to which it redirects the loader.
#
#	cmd/libredirect/build.sh DIRECTORY
set -euo pipefail
out=$(realpath "$1")
cd "$(dirname "$0")"
${CC:-$(go env CC)} -shared -s -std=gnu11 -O2 -fPIC -fvisibility=hidden -Wall -Wextra -Werror -o "$out/libredirect.so" src/redirect.c
