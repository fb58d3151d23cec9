package probe_test

import (
	"testing"

	"gemu/probe"
)

func TestLaneTextNamesRanges(t *testing.T) {
	for _, c := range []struct {
		lanes uint64
		list  string
		text  string
	}{
		{0, "", "no lanes"},
		{1, "0", "lane 0"},
		{1 << 63, "63", "lane 63"},
		{0xf, "0-3", "lanes 0-3"},
		{0x8f, "0-3,7", "lanes 0-3,7"},
		{0xc000_0000_0000_0005, "0,2,62-63", "lanes 0,2,62-63"},
		{1<<32 - 1, "0-31", "lanes 0-31"},
		{^uint64(0), "0-63", "lanes 0-63"},
	} {
		if got := probe.LaneList(c.lanes); got != c.list {
			t.Errorf("LaneList(%#x) is %q, want %q", c.lanes, got, c.list)
		}
		if got := probe.LaneText(c.lanes); got != c.text {
			t.Errorf("LaneText(%#x) is %q, want %q", c.lanes, got, c.text)
		}
	}
}
