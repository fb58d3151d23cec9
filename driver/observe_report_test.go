package driver

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gemu/sanitize"
	"gemu/sanitize/race"
)

// readReports returns the reports of processes in a directory.
func readReports(t *testing.T, dir string) (list []*ProcessReport) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		p := new(ProcessReport)
		if err := json.Unmarshal(b, p); err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
	return list
}

// The report of a process has launches, failed launches and refused calls as they happen, with and without sanitizers. It
// says whether the process has ended, and each driver has a file of its own.
func TestReportOfProcess(t *testing.T) {
	for name, tools := range map[string]string{"no sanitizer": "", "race": race.Name} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			settings := func(s *Settings) {
				s.Report, s.ContinueOnFault = dir, true
				if tools != "" {
					s.Sanitize, _ = sanitize.Parse(tools)
				}
			}
			c := newClient(t, settings)
			x := c.alloc(256)
			c.ok(c.launch("add", 1, 64, x, 1))
			if list := readReports(t, dir); len(list) != 1 || list[0].Ended || list[0].Findings.Errors != 0 {
				t.Fatalf("before the first failure: %+v", list)
			}
			c.ok(c.LaunchKernel(launchParams(c.function("add"), 1, 65, x, 1), 0))
			c.want(IllegalAddress, "", c.CtxSynchronize(0))
			c.want(InvalidValue, "", c.LaunchKernel(launchParams(c.function("add"), 1, 4096, x, 1), 0))
			c.d.Unsupported("cuNothing")
			c.d.Unsupported("cuNothing")
			c.d.ExportTable("/lib/program")
			c.d.ExportTable("/lib/libnvrtc.so.13")

			p := readReports(t, dir)[0] // as if the process were killed now
			if p.Ended || p.Schema != "gemu-process/1" || p.Process != os.Getpid() || len(p.Program) == 0 || p.Statistics.Total.Launches != 1 {
				t.Errorf("after the first failure: %+v", p)
			}
			if list := p.Findings.Findings; len(list) != 1 || list[0].Kind != "out-of-bounds access" || list[0].Place.Line == 0 || list[0].Place.Kernel != "add" {
				t.Errorf("findings after the first failure: %+v", list)
			}

			c.ok(c.d.Exit(false))
			p = readReports(t, dir)[0]
			kinds := map[string]bool{}
			for _, f := range p.Findings.Findings {
				kinds[f.Kind] = true
			}
			if !p.Ended || p.Statistics.Total.Launches != 1 || p.Findings.Errors != 2 || !kinds["out-of-bounds access"] || !kinds["launch refused"] {
				t.Errorf("at the end: %+v, findings %+v", p, p.Findings)
			}
			want := []RefusedCall{{"cuNothing", "CUDA_ERROR_NOT_SUPPORTED: gemu does not have this function", 2}, {"cuGetExportTable", "/lib/program contains NVIDIA's CUDA runtime", 1}}
			if len(p.Refused) != 2 || p.Refused[0] != want[0] || p.Refused[1] != want[1] {
				t.Errorf("refused calls: %+v, want %+v", p.Refused, want)
			}
			newClient(t, settings)
			if list := readReports(t, dir); len(list) != 2 {
				t.Errorf("two drivers have %d reports", len(list))
			}
		})
	}
}

// A report that cannot be written is an error at the end of the process. The driver makes no directory: a process that outlives
// gemu exec must not make the removed directory again.
func TestReportNotWritten(t *testing.T) {
	dir := t.TempDir()
	file, missing, removed := filepath.Join(dir, "file"), filepath.Join(dir, "missing"), filepath.Join(dir, "removed")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(removed, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{file, missing, removed} {
		s := DefaultSettings()
		s.Report = name
		d := New(s)
		if name == removed {
			if err := os.RemoveAll(removed); err != nil {
				t.Fatal(err)
			}
		}
		if err := d.Close(); err == nil || !strings.Contains(err.Error(), "GEMU_REPORT="+name) {
			t.Errorf("%s: the error is %v", filepath.Base(name), err)
		}
	}
	if list, _ := filepath.Glob(filepath.Join(dir, "*")); len(list) != 1 {
		t.Errorf("the drivers have made %q", list)
	}
}
