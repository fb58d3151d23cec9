// Package part tells tests how much to try: which programs, how many seeds, which extents. There are four amounts:
//
//	go test -short ./...        the least, in a minute
//	go test ./...               a few of everything, in minutes
//	GEMU_TEST=ci go test ./...  the sample that .ci/run tries
//	GEMU_TEST=all go test ./... everything, in hours, which .ci/full tries
package part

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// TrySample reports whether tests try at least the sample of .ci/run: GEMU_TEST is "ci" or "all".
func TrySample() bool {
	switch s := os.Getenv("GEMU_TEST"); s {
	case "":
		return false
	case "ci", "all":
		return true
	default:
		panic(fmt.Sprintf("GEMU_TEST is %q: it must be ci, all or empty", s))
	}
}

// TryAll reports whether tests try everything, which takes hours: GEMU_TEST is "all".
func TryAll() bool { return TrySample() && os.Getenv("GEMU_TEST") == "all" }

// SkipLong skips a test that takes minutes, unless GEMU_TEST is "ci" or "all".
func SkipLong(t testing.TB) {
	t.Helper()
	if !TrySample() {
		t.Skip("this test takes minutes: GEMU_TEST=ci runs it")
	}
}

// Short reports whether tests try the least: -short is set, and GEMU_TEST is empty.
func Short() bool { return testing.Short() && !TrySample() }

// SkipShort skips a test that takes seconds if -short is set.
func SkipShort(t testing.TB) {
	t.Helper()
	if Short() {
		t.Skip("this test takes seconds: -short leaves it out")
	}
}

// Seed returns the seed with which a test that tries a part begins, and logs it: GEMU_SEED; or 1 if CI is set, so that a
// failure there is due to the change; or else a new seed each time.
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

// Share chooses the cases of a test: it returns a function that reports whether case i is tried. The test tries every n-th
// case, from one that depends on Seed. n is few; or sample if GEMU_TEST is "ci", or all if it is "all".
func Share(t testing.TB, few, sample, all int) func(i int) bool {
	t.Helper()
	share := uint64(Count(few, sample, all))
	first := Seed(t) % share
	return func(i int) bool { return (uint64(i)+first)%share == 0 }
}

// Stencil returns the only stencil that tests of machine code try, many times: GEMU_STENCIL. It is "" for all stencils.
func Stencil() string { return os.Getenv("GEMU_STENCIL") }

// Count returns few, or sample if GEMU_TEST is "ci", or all if it is "all". sample must be between the other two.
func Count(few, sample, all int) int {
	if sample < min(few, all) || sample > max(few, all) {
		panic(fmt.Sprintf("the sample of .ci/run, %d, is not between %d and %d", sample, few, all))
	}
	switch {
	case TryAll():
		return all
	case TrySample():
		return sample
	}
	return few
}
