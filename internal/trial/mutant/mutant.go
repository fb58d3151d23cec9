// Package mutant is what mutated code calls: every mutant of a build is compiled into it,
// and a variable chooses the one that is active. See package mutate.
package mutant

import (
	"fmt"
	"os"
	"strconv"
)

// Max is the largest number of mutants in a build.
const Max = 1 << 15

// Variable is the environment variable with the number of the active mutant, and ReachedVariable that with the name of a
// file that gets the number of each mutant whose place is reached, a line for each: of a test, which says nothing itself.
const (
	Variable        = "MUTANT"
	ReachedVariable = "MUTANT_REACHED"
)

var (
	active  = choose()
	noted   = notes()
	reached [Max]bool
)

// notes opens the file that ReachedVariable names; nil without.
func notes() *os.File {
	name := os.Getenv(ReachedVariable)
	if name == "" {
		return nil
	}
	file, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutant:", err)
		os.Exit(2)
	}
	return file
}

// choose reads the number of the active mutant; 0, which is none's, without.
func choose() int {
	n, _ := strconv.Atoi(os.Getenv(Variable))
	return n
}

// On reports whether a mutant is active, and notes that its place was reached.
func On(id int) bool {
	if at := &reached[id%Max]; !*at {
		*at = true
		if noted != nil {
			fmt.Fprintln(noted, id)
		}
	}
	return id == active
}

// Reached is the set of mutants whose places were reached since the last call: bit i%8 of
// byte i/8 is that of mutant i.
func Reached() []byte {
	var set []byte
	for id, r := range reached {
		if r {
			for len(set) <= id/8 {
				set = append(set, 0)
			}
			set[id/8] |= 1 << (id % 8)
		}
	}
	clear(reached[:])
	return set
}

// Integer is a type whose values can be moved and masked.
type Integer interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr
}

// Up is v + 1 if the mutant is active.
func Up[T Integer](id int, v T) T {
	if On(id) {
		return v + 1
	}
	return v
}

// Down is v − 1 if the mutant is active.
func Down[T Integer](id int, v T) T {
	if On(id) {
		return v - 1
	}
	return v
}

// Neg is −v if the mutant is active.
func Neg[T Integer](id int, v T) T {
	if On(id) {
		return -v
	}
	return v
}

// All has all bits set if the mutant is active.
func All[T Integer](id int, v T) T {
	if On(id) {
		return ^T(0)
	}
	return v
}

// None has no bit set if the mutant is active.
func None[T Integer](id int, v T) T {
	if On(id) {
		return 0
	}
	return v
}

// Pick is the other value if the mutant is active.
func Pick[T any](id int, v, other T) T {
	if On(id) {
		return other
	}
	return v
}
