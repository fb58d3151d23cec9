package sanitize_test

import (
	"slices"
	"strings"
	"testing"

	"gemu/sanitize"
	"gemu/sanitize/finding"
)

// TestParseToolNames checks the names and aliases of tools, and "all". A tool may be named once.
func TestParseToolNames(t *testing.T) {
	names := func(list string) (names []string) {
		tools, err := sanitize.Parse(list)
		if err != nil {
			t.Fatal(err)
		}
		for _, tool := range tools {
			names = append(names, tool.Name)
		}
		return names
	}
	if got := names("synccheck, bounds"); !slices.Equal(got, []string{"bounds", "sync"}) {
		t.Errorf("synccheck, bounds are %q", got)
	}
	for _, list := range []string{"race,init,race", "bounds,memcheck"} {
		if _, err := sanitize.Parse(list); err == nil || !strings.HasSuffix(err.Error(), " is listed twice") {
			t.Errorf("%s: %v", list, err)
		}
	}
	if got := names("all"); slices.Contains(got, "leak") || !slices.Contains(got, "sync") {
		t.Errorf("all are %q", got)
	}
	if got := names("all,leak"); !slices.Contains(got, "leak") {
		t.Errorf("all,leak are %q", got)
	}
	if _, err := sanitize.Parse("none"); err == nil {
		t.Error("there is a tool none")
	}
}

// TestLaneSetText checks the format of sets of lanes.
func TestLaneSetText(t *testing.T) {
	for m, want := range map[uint64]string{0: "", 1 << 5: "", 3: "0-1", 0x8f: "0-3,7", 1<<63 | 1: "0,63", ^uint64(0): "0-63", 0xffff_ffff: "0-31"} {
		if got := finding.Lanes(m); got != want {
			t.Errorf("lanes %#x are %q, want %q", m, got, want)
		}
	}
}
