#!/usr/bin/env bash
# Builds the tests of cudarc 0.18.2 into cudarc of the current folder: the program tests, and lib with NVRTC by the name that it
# looks for.
#
#	testdata/clients/cudarc/build.sh NVRTC
set -euo pipefail
mkdir -p cudarc/lib cudarc/src
ln -sf "$1"/libnvrtc.so.12 cudarc/lib/libnvrtc.so
cd cudarc
features=std,driver,nvrtc,dynamic-loading,cuda-12090
cat >Cargo.toml <<END
[package]
name = "sources"
version = "0.1.0"
edition = "2021"
[dependencies]
cudarc = { version = "=0.18.2", default-features = false, features = ["${features//,/\",\"}"] }
END
echo 'fn main() {}' >src/main.rs
cargo vendor vendor >vendor.log 2>&1
cd vendor/cudarc
cargo test --no-run --lib --no-default-features --features "$features" --message-format=json |
  python3 -c 'import json, shutil, sys; [shutil.copy(m["executable"], "../../tests") for m in map(json.loads, sys.stdin) if m.get("executable")]'
