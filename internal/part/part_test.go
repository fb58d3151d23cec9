package part

import "testing"

// TestAmountFromEnvironment: GEMU_TEST alone chooses the amount, and no other text of it is accepted.
func TestAmountFromEnvironment(t *testing.T) {
	for value, want := range map[string]int{"": 1, "ci": 2, "all": 3} {
		t.Setenv("GEMU_TEST", value)
		if got := Count(1, 2, 3); got != want || TryAll() != (value == "all") || TrySample() != (value != "") {
			t.Errorf("GEMU_TEST=%s: count %d, want %d; sample %v, all %v", value, got, want, TrySample(), TryAll())
		}
	}
	t.Setenv("GEMU_TEST", "ci")
	t.Setenv("GEMU_SEED", "5")
	tries := Share(t, 100, 3, 1)
	for i := range 9 {
		if want := i%3 == 1; tries(i) != want {
			t.Errorf("case %d is tried: %v, want %v with one of three cases and seed 5", i, tries(i), want)
		}
	}
	t.Setenv("GEMU_TEST", "most")
	defer func() {
		if r := recover(); r != `GEMU_TEST is "most": it must be ci, all or empty` {
			t.Errorf("GEMU_TEST=most: %v", r)
		}
	}()
	Count(1, 2, 3)
}
