package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// early has a warp that loads a value before another warp stores it: in the execution the barrier of the cluster orders them, for which the
// machine does not wait.
const early = `.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out) {
	.reg .u32 %t, %i, %x;
	.reg .u64 %a;
	.reg .pred %p;
	ld.param.u64 %a, [out];
	mov.u32 %t, %tid.x;
	setp.ge.u32 %p, %t, 32;
	@%p bra second;
	mov.u32 %i, 100;
loop:	sub.u32 %i, %i, 1;
	setp.ne.u32 %p, %i, 0;
	@%p bra loop;
	st.global.u32 [%a], 1;
	barrier.cluster.arrive;
	barrier.cluster.wait;
	ret;
second:
	barrier.cluster.arrive;
	barrier.cluster.wait;
	ld.volatile.global.u32 %x, [%a];
	ret;
}
`

// TestMachineValues: loads that would have seen another value are counted and named, with and without a clock, in a run and in a recording.
func TestMachineValues(t *testing.T) {
	dir := t.TempDir()
	name, recording, page := filepath.Join(dir, "early.ptx"), filepath.Join(dir, "run.gemu"), filepath.Join(dir, "p.html")
	if err := os.WriteFile(name, []byte(early), 0o666); err != nil {
		t.Fatal(err)
	}
	kernel := []string{name, "-g", "1", "-b", "64", "-a", "u32[32]"}
	text := func(status int, args ...string) string {
		t.Helper()
		var out, errs bytes.Buffer
		if got := run(t.Context(), args, strings.NewReader(""), &out, &errs); got != status {
			t.Fatalf("%q: status %d, want %d: %s", args, got, status, &errs)
		}
		return out.String() + errs.String()
	}
	want := `
values in the order of the machine
                        loads     changed     unknown       bytes
v100                        1           1           0           0
           1  early.ptx:23
v100 with a clock           1           1           0           0
           1  early.ptx:23
A launch is executed before a machine orders its accesses. Changed loads have the value of the
execution, not that of the machine: `
	if got := text(exitGood, append(append([]string{"machine"}, kernel...), "--show", "values,cycles", "--html", page)...); !strings.Contains(got, want) {
		t.Errorf("%s, want %s", got, want)
	}
	if got := text(exitGood, append(append([]string{"machine"}, kernel...), "--show", "total,values,cycles")...); !strings.Contains(got, "; those of cycles are in the order of the clock, those of total have no clock (") {
		t.Errorf("%s", got)
	}
	if html, err := os.ReadFile(page); err != nil || !strings.Contains(string(html), "early.ptx:23 1") {
		t.Errorf("the page does not name the load: %v", err)
	}
	text(exitGood, append(append([]string{"record"}, kernel...), "--with", "accesses,source,memory", "-o", recording)...)
	if got := text(exitGood, "machine", "--from", recording, "--show", "values,cycles"); !strings.Contains(got, want) {
		t.Errorf("%s, want %s", got, want)
	}
	text(exitGood, append(append([]string{"record"}, kernel...), "--with", "accesses,source", "-o", recording)...)
	if got := text(exitBad, "machine", "--from", recording, "--show", "values"); !strings.Contains(got, "--with accesses,source,memory") {
		t.Errorf("%s", got)
	}
}
