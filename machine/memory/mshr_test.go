package memory

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"gemu/internal/part"
)

// TestMSHRs follows accesses by hand: two entries of two accesses.
func TestMSHRs(t *testing.T) {
	m := &MSHRs[string]{Entries: 2, Merges: 2}
	add := func(line uint64, missing uint8, name string, want string) {
		t.Helper()
		fetch, ok := m.Add(line, missing, name)
		if got := fmt.Sprintf("%04b %v", fetch, ok); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	fill := func(line uint64, sectors uint8, want ...string) {
		t.Helper()
		var got []string
		m.Fill(line, sectors, func(name *string) { got = append(got, *name) })
		if !slices.Equal(got, want) {
			t.Errorf("line %d, sectors %04b wake %v, want %v", line, sectors, got, want)
		}
	}
	add(7, 0b0011, "a", "0011 true")
	add(7, 0b0110, "b", "0100 true") // sector 1 is in flight
	add(7, 0b0001, "c", "0000 false")
	add(8, 0b0001, "d", "0001 true")
	add(9, 0b0001, "e", "0000 false")
	inFlight := func(line uint64) uint8 {
		sectors, _ := m.Look(line)
		return sectors
	}
	if inFlight(7) != 0b0111 || inFlight(9) != 0 || m.Len() != 2 {
		t.Errorf("sectors %04b of line 7, %04b of line 9, %d lines", inFlight(7), inFlight(9), m.Len())
	}
	fill(7, 0b0100) // a and b wait for sector 1
	fill(7, 0b0010, "b")
	add(7, 0b1001, "f", "1000 true")
	fill(7, 0b0001, "a")
	fill(9, 0b0001)
	fill(7, 0b1000, "f")
	add(9, 0b0001, "e", "0001 true")
	fill(9, 0b0001, "e")
	fill(8, 0b1111, "d")
	if m.Len() != 0 {
		t.Errorf("%d lines remain", m.Len())
	}
}

// TestMSHRsAgainstList compares random accesses with a list of accesses in the order of arrival.
func TestMSHRsAgainstList(t *testing.T) {
	rng := rand.New(rand.NewPCG(part.Seed(t), 1))
	type access struct {
		line    uint64
		missing uint8
		id      int
	}
	for range part.Count(20, 100, 1000) {
		m := &MSHRs[int]{Entries: rng.IntN(12), Merges: rng.IntN(5)}
		inFlight, list := map[uint64]uint8{}, []access{}
		for id := range 300 {
			line, set := uint64(rng.IntN(40))<<uint(8*rng.IntN(2)), uint8(1+rng.IntN(15))
			waiting := 0
			for _, a := range list {
				if a.line == line {
					waiting++
				}
			}
			if rng.IntN(2) == 0 {
				wantOK := waiting == 0 && (m.Entries == 0 || len(inFlight) < m.Entries) || waiting > 0 && (m.Merges == 0 || waiting < m.Merges)
				wantFetch := uint8(0)
				if wantOK {
					wantFetch = set &^ inFlight[line]
					inFlight[line] |= set
					list = append(list, access{line, set, id})
				}
				if fetch, ok := m.Add(line, set, id); fetch != wantFetch || ok != wantOK {
					t.Fatalf("access %d: %04b %v, want %04b %v", id, fetch, ok, wantFetch, wantOK)
				}
			} else {
				var got, want []int
				m.Fill(line, set, func(id *int) { got = append(got, *id) })
				if _, ok := inFlight[line]; ok {
					inFlight[line] &^= set
				}
				left := 0
				for i := range list {
					if a := &list[i]; a.line == line {
						if a.missing &^= set; a.missing == 0 {
							want = append(want, a.id)
						} else {
							left++
						}
					}
				}
				list = slices.DeleteFunc(list, func(a access) bool { return a.missing == 0 })
				if left == 0 {
					delete(inFlight, line)
				}
				if !slices.Equal(got, want) {
					t.Fatalf("line %d wakes %v, want %v", line, got, want)
				}
			}
			if sectors, _ := m.Look(line); sectors != inFlight[line] || m.Len() != len(inFlight) {
				t.Fatalf("line %d: %04b in flight of %d lines, want %04b of %d", line, sectors, m.Len(), inFlight[line], len(inFlight))
			}
		}
	}
}

// TestFixed: replies arrive after the latency, in the order of their requests; a store has none.
func TestFixed(t *testing.T) {
	f := NewFixed(10)
	if f.Next() != Never {
		t.Error("an event without requests")
	}
	f.Send(3, &Request{SM: 1, ID: 5, Line: 9, Sectors: 2})
	f.Send(3, &Request{ID: 6, Kind: 1})
	f.Send(4, &Request{ID: 7})
	if f.Next() != 13 || len(f.Advance(12, nil)) != 0 {
		t.Errorf("the next reply is in cycle %d", f.Next())
	}
	if got := f.Advance(14, nil); len(got) != 2 || got[0] != (Reply{SM: 1, ID: 5, Line: 9, Sectors: 2, At: 13}) || got[1].ID != 7 || got[1].At != 14 {
		t.Errorf("%+v", got)
	}
}
