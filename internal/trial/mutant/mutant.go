// Package mutant is called by mutated code. A build contains all its mutants, and an environment variable selects the
// active one. See tools/mutate.
package mutant

import (
	"fmt"
	"os"
	"strconv"
)

// Max is the largest number of mutants in a build.
const Max = 1 << 15

// Variable is the environment variable with the number of the active mutant. ReachedVariable has the name of a file
// to which a test process appends the number of each mutant whose place is reached, a line each.
const (
	Variable        = "MUTANT"
	ReachedVariable = "MUTANT_REACHED"
)

var (
	active  = choose()
	noted   = notes()
	reached [Max]bool
)

// notes opens the file that ReachedVariable names; nil if it is unset.
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

// choose returns the number of the active mutant; 0 for none.
func choose() int {
	n, _ := strconv.Atoi(os.Getenv(Variable))
	return n
}

// On reports whether a mutant is active, and records that its place was reached.
func On(id int) bool {
	if at := &reached[id%Max]; !*at {
		*at = true
		if noted != nil {
			fmt.Fprintln(noted, id)
		}
	}
	return id == active
}

// Reached returns the mutants whose places were reached since the last call: bit i%8 of byte i/8 is mutant i.
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

// Integer is a type whose values can be masked and changed by 1.
type Integer interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr
}

// Up returns v + 1 if the mutant is active.
func Up[T Integer](id int, v T) T {
	if On(id) {
		return v + 1
	}
	return v
}

// Down returns v − 1 if the mutant is active.
func Down[T Integer](id int, v T) T {
	if On(id) {
		return v - 1
	}
	return v
}

// Neg returns −v if the mutant is active.
func Neg[T Integer](id int, v T) T {
	if On(id) {
		return -v
	}
	return v
}

// All returns all bits set if the mutant is active.
func All[T Integer](id int, v T) T {
	if On(id) {
		return ^T(0)
	}
	return v
}

// None returns no bit set if the mutant is active.
func None[T Integer](id int, v T) T {
	if On(id) {
		return 0
	}
	return v
}

// Pick returns other if the mutant is active.
func Pick[T any](id int, v, other T) T {
	if On(id) {
		return other
	}
	return v
}
