package ptx

import "testing"

// TestRegisterPressure compares with pressures counted by hand.
func TestRegisterPressure(t *testing.T) {
	for _, c := range []struct {
		body string
		want int
	}{
		{"ret;", 0},
		{"mov.u32 %a, 1; ret;", 1}, // the written register counts
		{"mov.u64 %x, 1; mov.u32 %a, 2; st.global.u32 [%x], %a; ret;", 3},          // both are live at the store
		{"mov.u64 %x, 1; mov.u64 %x, 2; st.global.u64 [%x], %x; ret;", 2},          // only one is live at a time
		{"setp.eq.u32 %p, 1, 1; mov.u32 %a, 1; @%p st.local.u32 [4], %a; ret;", 1}, // a predicate counts 0
		{"mov.u32 %a, 1; mov.u32 %b, 2; L: add.u32 %a, %a, %b; setp.eq.u32 %p, %a, %b; @%p bra L; mov.u64 %x, 3; ret;", 4},
	} {
		m, err := ParseString("pressure.ptx", ".version 7.0\n.target sm_80\n.address_size 64\n.func f() { .reg .u32 %a, %b; .reg .u64 %x; .reg .pred %p; "+c.body+" }")
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Lookup("f").(*Func).Liveness().Pressure(); got != c.want {
			t.Errorf("%s: %d words, want %d", c.body, got, c.want)
		}
	}
}
