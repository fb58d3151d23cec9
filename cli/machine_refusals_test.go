package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestMachineRefusals: a machine without places for the CTAs of a cluster refuses the launch. The others have the values that they have without
// it, and each form of the report has the reason.
func TestMachineRefusals(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "k.ptx")
	if err := os.WriteFile(name, []byte(`.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
.explicitcluster .reqnctapercluster 4
{
	.reg .u64 %a;
	.reg .u32 %t;
	ld.param.u64 %a, [out];
	mov.u32 %t, %tid.x;
	mad.wide.u32 %a, %t, 4, %a;
	st.global.u32 [%a], %t;
	ret;
}
`), 0o666); err != nil {
		t.Fatal(err)
	}
	const reason = "a cluster has 4 CTAs, which must be resident together; the machine has places for 2"
	report := func(sms string) (j machineJSON, text, messages string, status int) {
		var out, errs bytes.Buffer
		file := func(ext string) string { return filepath.Join(dir, "report."+ext) }
		status = run(t.Context(), []string{"machine", name, "-g", "8", "-b", "1024", "-a", "u32[1024]", "--show", "total,stalls,memory,readings", "--sweep", "sms=" + sms,
			"--json", file("json"), "--csv", file("csv"), "--html", file("html")}, strings.NewReader(""), &out, &errs)
		for _, ext := range []string{"json", "csv", "html"} {
			b, err := os.ReadFile(file(ext))
			if err != nil {
				t.Fatalf("sms=%s: %v; %s", sms, err, &errs)
			}
			if has := bytes.Contains(b, []byte(reason)); has != (status != exitGood) {
				t.Errorf("sms=%s: the file %s has the reason: %v; status %d", sms, ext, has, status)
			}
			if err := json.Unmarshal(b, &j); ext == "json" && err != nil {
				t.Fatal(err)
			}
		}
		return j, out.String(), errs.String(), status
	}
	want, _, messages, status := report("2,4")
	if status != exitGood {
		t.Fatalf("status %d: %s", status, messages)
	}
	for position, sms := range []string{"1,2,4", "2,1,4", "2,4,1"} {
		got, text, messages, status := report(sms)
		if status != exitBad || strings.Count(messages, "has refused a launch") != 1 || !strings.Contains(messages, "machine v100 sms=1 has refused a launch: kernel k: "+reason) {
			t.Errorf("sms=%s: status %d: %s", sms, status, messages)
		}
		if strings.Count(text, "\nv100 sms=1  refused: kernel k: a cluster has 4 CTAs") != 2 { // of cycles and of memory
			t.Errorf("sms=%s: %s", sms, text)
		}
		refused := got.Machines[position]
		if refused.Clock != nil || refused.Memory != nil || refused.Total != want.Machines[0].Total || len(refused.Refused) != 3 {
			t.Errorf("sms=%s: %+v", sms, refused)
		}
		for i, m := range slices.Delete(got.Machines, position, position+1) {
			if w := want.Machines[i]; m.Name != w.Name || m.Clock.Cycles != w.Clock.Cycles || m.Clock.Slow != w.Clock.Slow || m.Memory.Counts != w.Memory.Counts || m.Refused != nil {
				t.Errorf("sms=%s: %s: %+v, want %+v", sms, m.Name, m.Clock, w.Clock)
			}
		}
	}
	var out, errs bytes.Buffer
	if status := run(t.Context(), []string{"machine", name, "-g", "8", "-b", "1024", "-a", "u32[1024]", "--show", "cycles", "--sweep", "sms=1"}, strings.NewReader(""), &out, &errs); status != exitBad || out.Len() > 0 || !strings.Contains(errs.String(), reason) {
		t.Errorf("a single machine: status %d: %s%s", status, &out, &errs)
	}
}
