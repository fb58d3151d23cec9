package trace

import (
	"fmt"
	"strconv"
	"strings"
)

// Ranges is a set of numbers. The empty Ranges contains all numbers.
type Ranges []Range

// Range is the numbers from From to To, inclusive.
type Range struct{ From, To uint64 }

// UnmarshalText parses "0-3,7".
func (r *Ranges) UnmarshalText(text []byte) error {
	*r = nil
	for _, s := range strings.Split(string(text), ",") {
		from, to, both := strings.Cut(s, "-")
		if !both {
			to = from
		}
		a, err := strconv.ParseUint(from, 10, 64)
		b, err2 := strconv.ParseUint(to, 10, 64)
		if err != nil || err2 != nil || a > b {
			return fmt.Errorf("%q: want numbers such as 0-3,7", s)
		}
		*r = append(*r, Range{a, b})
	}
	return nil
}

// MarshalText returns the text that UnmarshalText parses; "" for empty Ranges.
func (r Ranges) MarshalText() ([]byte, error) {
	var b []byte
	for i, x := range r {
		if i > 0 {
			b = append(b, ',')
		}
		if b = strconv.AppendUint(b, x.From, 10); x.To != x.From {
			b = strconv.AppendUint(append(b, '-'), x.To, 10)
		}
	}
	return b, nil
}

func (r Ranges) String() string {
	b, _ := r.MarshalText()
	return string(b)
}

// Has reports whether the set contains a number.
func (r Ranges) Has(n uint64) bool {
	for _, x := range r {
		if x.From <= n && n <= x.To {
			return true
		}
	}
	return len(r) == 0
}

// after returns the lowest number of the set that is at least n; the largest uint64 if there is none.
func (r Ranges) after(n uint64) uint64 {
	if len(r) == 0 || r.Has(n) {
		return n
	}
	first := ^uint64(0)
	for _, x := range r {
		if x.From >= n {
			first = min(first, x.From)
		}
	}
	return first
}
