// Package libredirect has no Go code. Its directory holds the source of libredirect.so in C, which gemu exec sets for the loader:
// programs that bring NVIDIA's libraries with them load gemu's instead, and processes that end by _exit end gemu's driver first.
// build.sh builds the library. docs/design/exec.md has the reasons.
package libredirect
