package driver

import (
	"strings"
	"testing"

	"gemu/profile"
)

// TestProfileOfKernels: the profile of GEMU_PROFILE has the sums over the launches of each kernel, by line. Each warp of add executes the
// lines of its 12 instructions once, and accesses 128 bytes twice. A failed launch counts up to its fault.
func TestProfileOfKernels(t *testing.T) {
	c := newClient(t, func(s *Settings) { s.Profile, s.ContinueOnFault, s.Stats = "source", true, t.TempDir()+"/s.json" })
	at := c.alloc(256)
	for range 3 {
		c.ok(c.launch("add", 1, 64, at, 10))
	}
	c.ok(c.CtxSynchronize(0))
	_ = c.launch("poke", 1, 1, 0, 1) // at an invalid address
	if err := c.CtxSynchronize(0); err == nil {
		t.Fatal("no fault")
	}
	list := c.d.Statistics().Profile
	if len(list) != 2 {
		t.Fatalf("%+v", list)
	}
	first := strings.Count(kernels[:strings.Index(kernels, "ld.param.u64 %rd0, [x]")], "\n") + 1
	k := list[0]
	if k.Kernel != "add" || k.Launches != 3 || k.Warps != 6 || k.Total.Execs != 6*12 || len(k.Lines) != 6 {
		t.Fatalf("%+v", k)
	}
	for i, instructions := range []int64{2, 3, 1, 2, 3, 1} {
		if l := k.Lines[i]; l.Line != first+i || l.Counts.Execs != 6*instructions || l.Counts.Lanes != 6*32*instructions {
			t.Errorf("line %d: %+v", i, l)
		}
	}
	l := k.Lines[4]
	if want := (profile.Traffic{Requests: 12, Bytes: 12 * 128, Sectors: 12 * 4, Ideal: 12 * 4, Lines: 12}); l.Counts.Global != want || !strings.HasPrefix(l.Text, "ld.global.u32 %r4, [%rd0]; add") {
		t.Errorf("%+v, want %+v", l, want)
	}
	if l.U+l.A+l.G != l.Counts.Execs { // each execution has a class
		t.Errorf("classes: %+v", l)
	}
	if k := list[1]; k.Kernel != "poke" || k.Launches != 1 || k.Total.Execs != 2 {
		t.Errorf("%+v", k)
	}
}

// TestProfileNeedsFile: a profile that is in no file, or would be wrong, is refused.
func TestProfileNeedsFile(t *testing.T) {
	for _, c := range []struct {
		variables map[string]string
		want      string
	}{
		{map[string]string{"GEMU_PROFILE": "source"}, "GEMU_STATS, which is not set"},
		{map[string]string{"GEMU_PROFILE": "ptx", "GEMU_STATS": "s", "GEMU_DEBUG": "1"}, "unset GEMU_DEBUG"},
		{map[string]string{"GEMU_PROFILE": "both", "GEMU_STATS": "s"}, "GEMU_PROFILE=both: want source or ptx"},
		{map[string]string{"GEMU_PROFILE": "ptx", "GEMU_REPORT": "d"}, ""},
		{map[string]string{"GEMU_PROFILE": "source", "GEMU_STATS": "s"}, ""},
	} {
		s := DefaultSettings()
		err := s.Environment(func(name string) string { return c.variables[name] })
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v", c.variables, err)
		}
	}
}
