#!/usr/bin/env bash
# JCuda: the driver API in Java. Needs a JDK of version 11 or later, and Maven. Its runtime API (the class JCuda) contains NVIDIA's
# runtime, and does not run.
source "$(dirname "$0")/common.sh"
requires java mvn
fetch mvn -q -B -f "$here/jcuda/pom.xml" dependency:copy-dependencies -DoutputDirectory="$work/jars"
gemu exec --sanitize all --require-launches -- java -cp "$work/jars/*" "$here/jcuda/Saxpy.java" "$here/../../../kernels/cuda/saxpy.ptx"
