package dispatch

import (
	"slices"
	"strings"
	"testing"

	"gemu/ptx"
)

// orderOf returns the order of a list.
func orderOf(list ...int) func(int) int { return func(position int) int { return list[position] } }

// TestHugeGrids: a launch of nearly 2^63 CTAs can trap in its first one. Each dispatcher begins it, and takes no memory for each CTA.
func TestHugeGrids(t *testing.T) {
	grid := ptx.Dim(1<<31-1, 1<<16-1, 1<<16-1)
	for _, c := range []struct {
		policy       string
		first, third int // CTAs of multiprocessor 0
	}{{"rotation", 0, 4}, {"pairs", 0, 4}, {"cluster:1x4x1", 0, 2 * (1<<31 - 1)}, {"cluster:1", 0, 4}, {"parts:2", 0, 2}} {
		p, err := Find(c.policy, nil)
		if err != nil {
			t.Fatal(err)
		}
		d := NewChecked(p, &Launch{Grid: grid, SMs: 2, Places: 1})
		var got []int
		for range 3 {
			for sm := range 2 {
				if cta, ok := d.Next(sm); ok && sm == 0 {
					got = append(got, cta)
				}
			}
		}
		if len(got) != 3 || got[0] != c.first || got[2] != c.third {
			t.Errorf("%s: %v, want CTAs %d and %d", c.policy, got, c.first, c.third)
		}
	}
}

// TestAssign has the multiprocessors of CTAs by hand.
func TestAssign(t *testing.T) {
	for _, c := range []struct {
		policy string
		launch Launch
		want   []int // by CTA
	}{
		{"rotation", Launch{Grid: ptx.Dim(5), SMs: 2}, []int{0, 1, 0, 1, 0}},
		{"rotation", Launch{Grid: ptx.Dim(5), SMs: 2, Order: orderOf(4, 3, 2, 1, 0)}, []int{0, 1, 0, 1, 0}},
		{"rotation", Launch{Grid: ptx.Dim(4), SMs: 2, Order: orderOf(0, 2, 1, 3)}, []int{0, 0, 1, 1}},
		{"pairs", Launch{Grid: ptx.Dim(8), SMs: 2}, []int{0, 0, 1, 1, 0, 0, 1, 1}},
		// Three pairs on two multiprocessors: the third pair is split.
		{"pairs", Launch{Grid: ptx.Dim(6), SMs: 2}, []int{0, 0, 1, 1, 0, 1}},
		// Columns of a grid of 4×2 on two multiprocessors: columns 0 and 2, 1 and 3.
		{"cluster:1x2", Launch{Grid: ptx.Dim(4, 2), SMs: 2}, []int{0, 1, 0, 1, 0, 1, 0, 1}},
		// Rows of a grid of 2×4.
		{"cluster:2", Launch{Grid: ptx.Dim(2, 4), SMs: 2}, []int{0, 0, 1, 1, 0, 0, 1, 1}},
		// Figure 18: three multiprocessors, four columns of three CTAs; the fourth column is spread over all.
		{"cluster:1x3", Launch{Grid: ptx.Dim(4, 3), SMs: 3}, []int{0, 1, 2, 0, 0, 1, 2, 1, 0, 1, 2, 2}},
		// A single group of the whole grid is as rotation.
		{"cluster:9x9x9", Launch{Grid: ptx.Dim(3), SMs: 2}, []int{0, 1, 0}},
		// Two zones of two multiprocessors, with three CTAs each.
		{"parts:2", Launch{Grid: ptx.Dim(6), SMs: 4}, []int{0, 1, 0, 2, 3, 2}},
	} {
		p, err := Find(c.policy, nil)
		if err != nil {
			t.Fatal(err)
		}
		c.launch.Places = 1
		if got, err := Assign(p, &c.launch); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, %v; want %v", c.policy, got, err, c.want)
		}
	}
	// As figure 18, but the fourth column is on multiprocessor 0.
	if got, err := Assign(WholeClusters(ptx.Dim(1, 3)), &Launch{Grid: ptx.Dim(4, 3), SMs: 3, Places: 1}); err != nil || !slices.Equal(got, []int{0, 1, 2, 0, 0, 1, 2, 0, 0, 1, 2, 0}) {
		t.Errorf("whole groups: %v, %v", got, err)
	}
}

// TestZoneGroups: of a grid of 4×4 CTAs the left half is in zone 0 and the rest in zone 1, of two multiprocessors each, in groups of a column. A zone has two
// columns, one for each multiprocessor. With three columns in zone 0 the third is given CTA by CTA, and a row of it in zone 1 is a group there.
func TestZoneGroups(t *testing.T) {
	zones := func(third int) []int {
		var list []int
		for cta := range 16 {
			zone := 0
			if x, y := cta%4, cta/4; x == 3 || x == 2 && y >= third {
				zone = 1
			}
			list = append(list, zone)
		}
		return list
	}
	for _, c := range []struct {
		third int
		want  []int
	}{
		{0, []int{0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3}},
		{3, []int{0, 1, 0, 3, 0, 1, 1, 3, 0, 1, 0, 3, 0, 1, 2, 3}},
	} {
		p := &Policy{Name: "zones", New: func(l *Launch) Dispatcher { return NewZoneGroups(l, ptx.Dim(1, 4), 2, zones(c.third)) }}
		if got, err := Assign(p, &Launch{Grid: ptx.Dim(4, 4), SMs: 4, Places: 1}); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%d: %v, %v; want %v", c.third, got, err, c.want)
		}
	}
}

// list is a dispatcher that returns the CTAs of a list.
type list []int

func (l *list) Next(int) (int, bool) {
	if len(*l) == 0 {
		return 0, false
	}
	cta := (*l)[0]
	*l = (*l)[1:]
	return cta, true
}

func (l *list) Ended(int, int) {}

// TestWrongDispatchers: a dispatcher must return each CTA once.
func TestWrongDispatchers(t *testing.T) {
	for _, c := range []struct {
		list list
		want string
	}{
		{list{0, 1, 1}, "returns CTA 1 twice"},
		{list{0, 3}, "returns CTA 3; the CTAs are 0 to 2"},
		{list{0, 2}, "has left out 1 of 3 CTAs, among them CTA 1"},
	} {
		p := &Policy{Name: "wrong", New: func(*Launch) Dispatcher { return &c.list }}
		if _, err := Assign(p, &Launch{Grid: ptx.Dim(3), SMs: 2, Places: 1}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %s", c.list, err, c.want)
		}
	}
}

// TestFindErrors has names without a dispatcher.
func TestFindErrors(t *testing.T) {
	for _, name := range []string{"", "cluster", "cluster:0x1", "cluster:1x", "parts:0", "parts:65", "parts:x", "cluster:1x2,3", "spiral"} {
		if _, err := Find(name, []*Policy{{Name: "mine"}}); err == nil {
			t.Errorf("%q is a dispatcher", name)
		}
	}
	if _, err := Find("4", nil); err == nil || !strings.Contains(err.Error(), "cluster:2x4x1") { // --sweep dispatch=cluster:2,4,1
		t.Errorf("%v", err)
	}
	if p, err := Find("mine", []*Policy{{Name: "mine"}}); err != nil || p.Name != "mine" {
		t.Errorf("%v, %v", p, err)
	}
}
