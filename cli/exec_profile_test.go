package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	pprof "github.com/google/pprof/profile"

	"gemu/driver"
	"gemu/internal/document"
	"gemu/internal/input"
	"gemu/profile"
)

// TestExecProfile: the printed profile has the kernels and lines in the requested order, with the lines of source files, sums of lines
// over kernels, and the number of omitted entries.
func TestExecProfile(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.WriteFile("a.cu", []byte("one\ntwo\nthree\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	line := func(n int, execs, sectors int64) document.KernelLine {
		return document.KernelLine{ProfileLine: document.ProfileLine{File: "a.cu", Line: n, Counts: profile.Counts{Execs: execs, Lanes: 32 * execs, Global: profile.Traffic{Requests: execs, Sectors: sectors, Ideal: sectors}}}}
	}
	kernel := func(name string, launches int64, lines ...document.KernelLine) *document.KernelProfile {
		k := &document.KernelProfile{Module: name + ".ptx", Kernel: name, Launches: launches, Lines: lines}
		for i := range lines {
			k.Total.Add(&lines[i].Counts)
		}
		return k
	}
	kernels := []*document.KernelProfile{kernel("few", 1, line(1, 10, 0), line(2, 30, 80)), kernel("_Z4manyPi", 5, line(2, 40, 40)), kernel("idle", 1)}
	for _, c := range []struct {
		sort string
		top  int
		want string
	}{
		{"instructions", 10, `
kernels with the most instructions
  execs   share lanes splits sect/req  effic conflicts  launches  kernel
     40  50.0 %  32.0      -      2.0  100 %         -         1  few
     40  50.0 %  32.0      -      1.0  100 %         -         5  many(int*)
and 1 more (--top)

lines with the most instructions
  execs   share lanes splits sect/req  effic conflicts  line
     70  87.5 %  32.0      -      1.7  100 %         -  a.cu:2  two
     10  12.5 %  32.0      -      0.0    0 %         -  a.cu:1  one

`},
		{"sectors", 1, `
kernels with the most sectors
  execs   share lanes splits sect/req  effic conflicts  launches  kernel
     40  50.0 %  32.0      -      2.0  100 %         -         1  few
and 2 more (--top)

lines with the most sectors
  execs   share lanes splits sect/req  effic conflicts  line
     70  87.5 %  32.0      -      1.7  100 %         -  a.cu:2  two
and 1 more (--top)

`},
		{"conflicts", 10, `
kernels with the most conflicts
none

`},
	} {
		var b strings.Builder
		f := execProfileFlags{Top: c.top, profileSortFlag: profileSortFlag{c.sort}}
		f.print(newScreen(&b), kernels, sourceFiles{input.NewSources("-")})
		if b.String() != c.want {
			t.Errorf("%s: got\n%swant\n%s", c.sort, b.String(), c.want)
		}
	}
}

// TestExecPprof: --pprof has the lines of each process, which is a label, in functions that are the kernels.
func TestExecPprof(t *testing.T) {
	process := func(id int, program string, execs int64) *driver.ProcessReport {
		line := document.KernelLine{ProfileLine: document.ProfileLine{File: "a.cu", Line: 3, Counts: profile.Counts{Execs: execs}}}
		k := &document.KernelProfile{Module: "m.ptx", Kernel: "_Z4manyPi", Launches: 1, Lines: []document.KernelLine{line}}
		return &driver.ProcessReport{Process: id, Program: []string{program, "-v"}, Statistics: &driver.Statistics{Profile: []*document.KernelProfile{k}}}
	}
	b, err := pprofOf([]*driver.ProcessReport{process(7, "first", 20), process(8, "second", 5)}, sourceFiles{input.NewSources("-")})
	if err != nil {
		t.Fatal(err)
	}
	p, err := pprof.ParseData(b)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range p.Sample {
		l := s.Location[0].Line[0]
		got = append(got, fmt.Sprintf("%d %s %s %d", s.Value[0], s.Label["process"], l.Function.Name, l.Line))
	}
	if want := []string{"20 [7: first -v] many(int*) 3", "5 [8: second -v] many(int*) 3"}; !slices.Equal(got, want) || len(p.Location) != 1 {
		t.Errorf("%d locations, %q, want %q", len(p.Location), got, want)
	}
}

// The reports of processes reach the gemu exec around another one, also of processes with the same number.
func TestCopyReports(t *testing.T) {
	to := t.TempDir()
	for _, text := range []string{"first", "second", "third"} {
		from := t.TempDir()
		for _, name := range []string{"process-7-1.json", "allowed-7.json"} {
			if err := os.WriteFile(filepath.Join(from, name), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if err := copyReports(from, to); err != nil {
			t.Fatal(err)
		}
	}
	for _, pattern := range []string{"process-*.json", "allowed-*.json"} { // as readProcesses and readAllowed have them
		files, _ := filepath.Glob(filepath.Join(to, pattern))
		var texts []string
		for _, f := range files {
			b, _ := os.ReadFile(f)
			texts = append(texts, string(b))
		}
		slices.Sort(texts)
		if fmt.Sprint(texts) != "[first second third]" {
			t.Errorf("%s are %s", pattern, texts)
		}
	}
	if err := copyReports(to, filepath.Join(to, "none")); err == nil {
		t.Error("a directory that does not exist takes reports")
	}
}
