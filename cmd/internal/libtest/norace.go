//go:build !race

package libtest

// race reports whether the test runs with the race detector.
const race = false
