#!/usr/bin/env bash
# Fills DIR with a Python of Windows for x86-64, with pip and NumPy, which wine can run:
#
#	tools/release/windows_python.sh DIR
#
# The Python comes from Maven, from the CPython of JavaCPP's presets: python.org has no registry of packages. Wine 8 lacks functions of
# the C runtime that NumPy 2 needs.
set -euo pipefail
dir=$(realpath -m "$1")
[ -e "$dir/python.exe" ] && exit
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mvn -q -B dependency:copy -Dartifact=org.bytedeco:cpython:3.11.3-1.5.9:jar:windows-x86_64 -DoutputDirectory="$work"
python3 -m zipfile -e "$work"/cpython-*.jar "$work"
python=$work/org/bytedeco/cpython/windows-x86_64
cp "$python"/lib/*.dll "$python" # next to the program, where Windows looks for them
rm -rf "$python/lib/test"
python3 -m pip install --quiet --target "$python/lib/site-packages" --platform win_amd64 --python-version 3.11 --implementation cp --only-binary :all: numpy==1.26.4
mkdir -p "$(dirname "$dir")"
mv "$python" "$dir"
