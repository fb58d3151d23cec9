package core_test

import (
	"testing"

	"gemu/machine/core"
)

// TestSchedulers: each number of schedulers makes a multiprocessor. Each scheduler keeps its units; a unit of four schedulers is that of
// fewer. A number of units that is given, before or after the schedulers, stays.
func TestSchedulers(t *testing.T) {
	for _, start := range []core.Spec{core.Volta, core.Ampere, core.Hopper, core.Fermi} {
		for n := range int64(8) {
			s := start
			if err := s.Set("schedulers", string(rune('1'+n)), nil); err != nil {
				t.Fatal(err)
			}
			if err := s.Check(); err != nil || s.Value("schedulers") != n+1 {
				t.Errorf("%d schedulers instead of %d: %v", n+1, start.Schedulers, err)
			}
		}
	}
	for _, c := range []struct {
		set  []string // names and values
		want [3]int64 // units for integers, special functions, and textures
	}{
		{[]string{"schedulers", "2"}, [3]int64{2, 2, 1}},
		{[]string{"schedulers", "8"}, [3]int64{8, 8, 2}},
		{[]string{"int.units", "1", "schedulers", "2"}, [3]int64{1, 2, 1}},
		{[]string{"schedulers", "2", "int.units", "1", "texture.units", "2"}, [3]int64{1, 2, 2}},
	} {
		s := core.Volta
		for i := 0; i < len(c.set); i += 2 {
			if err := s.Set(c.set[i], c.set[i+1], nil); err != nil {
				t.Fatal(err)
			}
		}
		if got := [3]int64{s.Value("int.units"), s.Value("special.units"), s.Value("texture.units")}; got != c.want {
			t.Errorf("%v: units %v, want %v", c.set, got, c.want)
		}
	}
	s := core.Volta
	if err := s.Set("int.units", "4", nil); err != nil {
		t.Fatal(err)
	}
	if err := s.Set("schedulers", "2", nil); err != nil {
		t.Fatal(err)
	}
	if err := s.Check(); err == nil || err.Error() != "int.units = 4: want a divisor of the 2 schedulers" {
		t.Errorf("%v", err)
	}
}
