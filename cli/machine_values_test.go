package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestMachineValues: loads that would have seen another value are counted and named, with and without a clock, in a run and in a recording.
func TestMachineValues(t *testing.T) {
	dir := t.TempDir()
	const name = "../testdata/machine/early.ptx"
	recording, page := filepath.Join(dir, "run.gemu"), filepath.Join(dir, "p.html")
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
                        loads     changed  uncompared     unknown       bytes
v100                        1           1           0           0           0
           1  early.ptx:21
v100 with a clock           1           1           0           0           0
           1  early.ptx:21
A launch is executed before a machine orders its accesses. Changed loads have the value of the
execution, not that of the machine: `
	if got := text(exitGood, append(append([]string{"machine"}, kernel...), "--show", "values,cycles", "--html", page)...); !strings.Contains(got, want) {
		t.Errorf("%s, want %s", got, want)
	}
	if got := text(exitGood, append(append([]string{"machine"}, kernel...), "--show", "total,values,cycles")...); !strings.Contains(got, "; those of cycles are in the order of the clock, those of total have no clock (") {
		t.Errorf("%s", got)
	}
	if html, err := os.ReadFile(page); err != nil || !strings.Contains(string(html), "early.ptx:21 1") {
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

// sameLines has CTAs that copy their own tiles to the same 512 bytes with asynchronous copies, and then load these bytes: a race.
const sameLines = `.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out) {
	.reg .u32 %t, %c, %s, %x;
	.reg .u64 %a;
	.reg .pred %p;
	.shared .align 16 .b8 tile[512];
	ld.param.u64 %a, [out];
	mov.u32 %t, %tid.x;
	mov.u32 %c, %ctaid.x;
	mov.u32 %s, tile;
	mad.lo.u32 %s, %t, 4, %s;
	st.shared.u32 [%s], %c;
	fence.proxy.async;
	bar.sync 0;
	setp.ne.u32 %p, %t, 0;
	@%p bra loads;
	cp.async.bulk.global.shared::cta.bulk_group [%a], [tile], 512;
	cp.async.bulk.commit_group;
	cp.async.bulk.wait_group 0;
loads:
	bar.sync 0;
	mad.wide.u32 %a, %t, 4, %a;
	ld.global.u32 %x, [%a];
	TRAP
	ret;
}
`

// TestMachineValuesGaps: loads of lines with unknown bytes, and launches that trapped, are not called equal.
func TestMachineValuesGaps(t *testing.T) {
	name := filepath.Join(t.TempDir(), "k.ptx")
	for trap, c := range map[string]struct {
		status int
		want   []string
	}{
		"": {exitGood, []string{`
                        loads     changed  uncompared     unknown       bytes
h100                        0           0          32          32           0
h100 with a clock           0           0          32          32           0
No compared load would have seen another value. Not all is compared`, "\nh100: 32 loads could not be compared: ", "\nh100 with a clock: 32 loads could not be compared: ", "\nh100: memory at the end is compared without"}},
		"setp.eq.u32 %p, %t, 127; @%p trap;": {exitFailed, []string{"\nNo compared load would have seen another value. Not all", "\nh100: 1 launch trapped: memory at the end is not compared.", "\nh100 with a clock: 1 launch trapped: "}},
	} {
		if err := os.WriteFile(name, []byte(strings.Replace(sameLines, "TRAP", trap, 1)), 0o666); err != nil {
			t.Fatal(err)
		}
		var out, errs bytes.Buffer
		if got := run(t.Context(), []string{"machine", name, "-g", "8", "-b", "128", "-a", "u32[128]", "--spec", "h100", "--show", "values,cycles"}, strings.NewReader(""), &out, &errs); got != c.status {
			t.Errorf("status %d, want %d: %s", got, c.status, &errs)
		}
		for _, want := range c.want {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s%s, want %s", &out, &errs, want)
			}
		}
		if strings.Contains(out.String(), "does not change what the kernel does") {
			t.Errorf("%s", &out)
		}
	}
	skipped := valuesRow{"v100", &machineValuesJSON{Skipped: 1}}
	if got := skipped.gaps(); len(got) != 1 || !strings.HasPrefix(got[0], "v100: 1 launch not compared: ") {
		t.Errorf("%q", got)
	}
}
