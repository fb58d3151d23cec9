// Package part says to tests which part of too much they try: programs, seeds, extents.
package part

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// TryAll reports whether tests try all there is, which takes an hour: GEMU_TEST is "all".
func TryAll() bool { return os.Getenv("GEMU_TEST") == "all" }

// Seed is where a test begins that tries a part: another place each time, which the test
// logs; or GEMU_SEED; or with CI set always the same, so that a red run there is the change's.
func Seed(t testing.TB) uint64 {
	t.Helper()
	seed := rand.Uint64()
	if s := os.Getenv("GEMU_SEED"); s != "" {
		var err error
		if seed, err = strconv.ParseUint(s, 0, 64); err != nil {
			t.Fatal(err)
		}
	} else if os.Getenv("CI") != "" {
		seed = 1
	}
	t.Logf("seed %#x", seed)
	return seed
}

// Stencil is the stencil that tests of machine code are to try, often, and no other: GEMU_STENCIL. It is "" for all.
func Stencil() string { return os.Getenv("GEMU_STENCIL") }

// Count is n, of which a test with -short tries a part and one of all of them many.
func Count(short, normal, all int) int {
	switch {
	case TryAll():
		return all
	case testing.Short():
		return short
	}
	return normal
}
