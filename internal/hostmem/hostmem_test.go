package hostmem

import (
	"errors"
	"math"
	"testing"
)

// TestReserveMoreThanHostHas reserves more than a host has, touches a little of it, zeroes it, and releases it.
func TestReserveMoreThanHostHas(t *testing.T) {
	const size = 1<<36 + 5
	for range 3 {
		b, err := Reserve(size)
		if errors.Is(err, ErrNoMemory) {
			skipUnlessOvercommitted(t, err)
		}
		if err != nil || len(b) != size || !IsZero(b[:1<<16]) || !IsZero(b[size-5:]) {
			t.Fatal(len(b), err)
		}
		for _, i := range []int{0, 1 << 20, size - 1} {
			b[i] = 7
		}
		nonZero := b[:2<<20]
		Zero(nonZero)
		if !IsZero(nonZero) || b[size-1] != 7 {
			t.Error("it is not zero, or too much is")
		}
		Release(b)
	}
}

// TestImpossibleReservations shows that impossible amounts are refused with ErrNoMemory.
func TestImpossibleReservations(t *testing.T) {
	for _, n := range []uint64{1 << 62, math.MaxUint64} {
		if _, err := Reserve(n); !errors.Is(err, ErrNoMemory) {
			t.Errorf("reserve %d: %v", n, err)
		}
		if _, err := Make(n); !errors.Is(err, ErrNoMemory) {
			t.Errorf("make %d: %v", n, err)
		}
		if err := Check(n); !errors.Is(err, ErrNoMemory) {
			t.Errorf("check %d: %v", n, err)
		}
	}
	if b, err := Reserve(0); err != nil || len(b) != 0 {
		t.Error(b, err)
	}
	Release(nil)
	if _, limit := Free(); Check(limit.Bytes) == nil { // a part of it is in use
		t.Errorf("the process may have all of %s again", limit.Name)
	}
	if err := Check(1 << 16); err != nil {
		t.Error(err)
	}
}

// TestZeroTouched shows that memory is zero after ZeroTouched, also at the ends of pages.
func TestZeroTouched(t *testing.T) {
	b := make([]byte, 3*pageSize+7)
	for _, i := range []int{0, pageSize - 1, 3*pageSize + 6} {
		b[i] = 1
	}
	ZeroTouched(b)
	if !IsZero(b) {
		t.Error("it is not zero")
	}
	for i := range b {
		b[i] = 1
		if IsZero(b) {
			t.Errorf("byte %d of %d is not seen", i, len(b))
		}
		b[i] = 0
	}
}

// TestSoftLimit: GOMEMLIMIT is a target of Go's garbage collector. It bounds the plans of launches, and refuses no
// memory.
func TestSoftLimit(t *testing.T) {
	kept := limits
	defer func() { limits = kept }()
	limits = func() []Limit {
		return []Limit{{Bytes: 1 << 45, Name: "the host"}, {Bytes: 1, Name: "GOMEMLIMIT", soft: true}}
	}
	if err := Check(1 << 30); err != nil {
		t.Error(err)
	}
	if err := CheckLow(); err != nil {
		t.Error(err)
	}
	if Budget() > 1 {
		t.Errorf("a launch may plan with %d bytes", Budget())
	}
	limits = func() []Limit { return []Limit{{Bytes: 1, Name: "a control group"}} }
	if err := Check(1 << 30); err == nil {
		t.Error("a hard limit refuses nothing")
	}
}
