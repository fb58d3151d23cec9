package cli

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gemu/interp"
	"gemu/machine"
	"gemu/machine/cache"
	"gemu/models/catalog"
	"gemu/probe"
	"gemu/ptx"
	"gemu/sanitize"
)

// launchCount is a probe of a test that counts launches.
type launchCount struct{ launches int }

func (c *launchCount) Subscription() probe.Subscription {
	return probe.Subscription{Events: probe.OnLaunch}
}

func (c *launchCount) CTA(*probe.LaunchInfo, int, ptx.Dim3) probe.Sink { return nil }

func (c *launchCount) OnEvent(*probe.Event) { c.launches++ }

func (c *launchCount) Report(w io.Writer) error {
	_, err := io.WriteString(w, strings.Repeat("launch\n", c.launches))
	return err
}

func extended(t *testing.T, x Extensions, args ...string) (out, messages string, status int) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	status = Run(t.Context(), x, args, strings.NewReader(""), &stdout, &stderr)
	return stdout.String(), stderr.String(), status
}

// TestReplacement: gemu machine has a replacement policy of another module, and names it if a name is unknown.
func TestReplacement(t *testing.T) {
	x := Extensions{Replacements: []*machine.Replacement{{Name: "own", Doc: "my own", New: cache.LRU}}}
	if out, messages, status := extended(t, x, "machine", "@saxpy", "--sweep", "l2.policy=own"); status != exitGood || !strings.Contains(out, "16 ways (own, xor)") {
		t.Errorf("status %d, %s, %s", status, out, messages)
	}
	if _, messages, status := extended(t, x, "machine", "@saxpy", "--sweep", "l2.policy=owl"); status != exitBad || !strings.Contains(messages, "drrip, own") {
		t.Errorf("status %d, %s", status, messages)
	}
}

// TestProbeReport: the report of a probe is part of the output, also if the launch traps.
func TestProbeReport(t *testing.T) {
	x := Extensions{Probes: []Probe{{"launches", "counts launches", func() Reporter { return new(launchCount) }}}}
	saxpy := []string{"run", "../kernels/cuda/saxpy.ptx", "-g", "1", "-b", "8", "--probe", "launches", "-a", "8", "1.0", "f32[8]"}
	if out, messages, status := extended(t, x, append(saxpy, "f32[8]")...); status != exitGood || out != "launch\n" {
		t.Errorf("status %d, %q, %s", status, out, messages)
	}
	if out, messages, status := extended(t, x, append(saxpy, "f32[4]")...); status != exitFailed || out != "launch\n" || !strings.Contains(messages, "trap") {
		t.Errorf("status %d, %q, %s", status, out, messages)
	}
	for name, want := range map[string]string{"lunches": `--probe: unknown probe "lunches": want some of launches`, "launches,launches": "probe launches is given twice"} {
		if _, messages, status := extended(t, x, "run", "@saxpy", "--probe", name); status != exitBad || !strings.Contains(messages, want) {
			t.Errorf("status %d, %s; want %s", status, messages, want)
		}
	}
	if _, messages, status := extended(t, Extensions{}, "run", "@saxpy", "--probe", "launches"); status != exitBad || !strings.Contains(messages, "this command has no probes") {
		t.Errorf("status %d, %s", status, messages)
	}
}

// failingReport is a probe of a test that cannot report.
type failingReport struct{ launchCount }

func (*failingReport) Report(io.Writer) error { return errors.New("the disk is full") }

// TestFailingReport: if a report fails, the output still has the trap of the kernel and the reports of other probes.
func TestFailingReport(t *testing.T) {
	x := Extensions{Probes: []Probe{
		{"bad", "is broken", func() Reporter { return new(failingReport) }},
		{"good", "counts launches", func() Reporter { return new(launchCount) }},
		{"none", "", func() Reporter { return nil }},
	}}
	saxpy := []string{"run", "../kernels/cuda/saxpy.ptx", "-g", "1", "-b", "8", "-a", "8", "1.0", "f32[8]", "f32[4]", "--probe"}
	out, messages, status := extended(t, x, append(saxpy, "bad,good")...)
	if status != exitBad || out != "launch\n" || !strings.Contains(messages, "trap") || !strings.Contains(messages, "--probe bad: the disk is full") {
		t.Errorf("status %d, %q, %s", status, out, messages)
	}
	if _, messages, status := extended(t, x, append(saxpy, "none")...); status != exitBad || !strings.Contains(messages, "function New of probe none has returned nil") {
		t.Errorf("status %d, %s", status, messages)
	}
}

// TestExtensionNames: every command line of a command with badly named extensions fails with the reason.
func TestExtensionNames(t *testing.T) {
	policy := func(name string) *interp.Reconverger {
		return interp.NewReconverger(name, "", func(a, b interp.SplitPlace) bool { return a.Block < b.Block })
	}
	probe := Probe{"p", "", func() Reporter { return nil }}
	for _, c := range []struct {
		x    Extensions
		want string
	}{
		{Extensions{Policies: []*interp.Reconverger{policy("stack")}}, "has the reconvergence policy stack twice"},
		{Extensions{Policies: []*interp.Reconverger{policy("a,b")}}, `a reconvergence policy with the name "a,b"`},
		{Extensions{Probes: []Probe{probe, probe}}, "has the probe p twice"},
		{Extensions{Probes: []Probe{{Name: "p"}}}, "a probe p without a function New"},
		{Extensions{Models: []catalog.Entry{{Name: "kim"}}}, "has the model kim twice"},
		{Extensions{Sanitizers: []*sanitize.Tool{{Name: "racecheck"}}}, "has the sanitizer racecheck twice"},
		{Extensions{Sanitizers: []*sanitize.Tool{{Name: ""}}}, `a sanitizer with the name ""`},
		{Extensions{Models: []catalog.Entry{{Name: "a, b"}}}, `a model with the name "a, b"`},
		{Extensions{Models: []catalog.Entry{{Name: "a\r"}}}, `a model with the name "a\r"`},
		{Extensions{Probes: []Probe{{"p", "costs ${dollars}", probe.New}}}, `the help text of the probe p contains "${"`},
		{Extensions{Sanitizers: []*sanitize.Tool{nil}}, "that is nil"},
		{Extensions{Policies: []*interp.Reconverger{nil}}, "that is nil"},
		{Extensions{Replacements: []*machine.Replacement{nil}}, "that is nil"},
		{Extensions{Replacements: []*machine.Replacement{{Name: "lru"}}}, "replacement policy lru twice"},
		{Extensions{Replacements: []*machine.Replacement{{Name: "own"}}}, "own"},
	} {
		if out, messages, status := extended(t, c.x, "help"); status != exitBad || out != "" || !strings.Contains(messages, c.want) {
			t.Errorf("status %d, %q, %s; want %s", status, out, messages, c.want)
		}
	}
}

// TestOutside builds the command of a separate module, testdata/outside, and uses each of its extensions.
func TestOutside(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a command")
	}
	dir := t.TempDir()
	build := exec.Command("go", "build", "-o", dir+string(filepath.Separator), "./...")
	build.Dir = "../testdata/outside"
	if b, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, b)
	}
	for _, c := range []struct {
		command string
		status  int
		want    string // a regular expression for part of the output
	}{
		{"outside --version", 0, `^gemu `},
		{"outside regfile --help", 0, `(?s)combined.*narrow`},
		{"outside regfile @saxpy --size 1000 --model narrow,gscalar --show models", 0, `(?s)compact in narrow and gscalar.*registers of narrow values in half a row`},
		{"outside run @saxpy --size 1000 --probe mix", 0, `(?s)control +\d+\n.*memory +\d+\n`},
		{"outside run ../kernels/cuda/saxpy.ptx -g 1 -b 8 -a 8 nan f32[8]=iota f32[8]=1 --sanitize nan", 1, `nan: the result is NaN\n(?s).*lanes 0-7`},
		{"outside run ../kernels/cuda/saxpy.ptx -g 1 -b 8 -a 8 2 f32[8]=iota f32[8]=1 --sanitize all", 0, `1 launch judged by race, init, bounds, sync, nan`},
		{"outside reconverge @bfs --size 1000", 0, `\nwidest +\d+`},
		{"outside run @bfs --size 1000 --reconverge widest", 0, `host reference`},
		{"outside run @saxpy --reconverge wides", 2, `no reconvergence policy "wides"(?s).*did you mean widest\?.*frontier, widest, and its:N`},
		{"outside run @bfs --size 1000 --reconverge its:8", 0, `host reference`},
		{"outside machine @spmv --show cycles --sweep scheduler=youngest,gto", 0, `v100 scheduler=youngest +\d+ .* 1\.000 \(1\.000 to 1\.000\)\nv100 scheduler=gto +\d+ .* 0\.9\d\d \(`},
		{"outside machine @saxpy --size 1000 --show total --with stack", 0, `\nv100 stack +\d`},
		{"outside machine @saxpy --size 1000 --show total --with stack=1", 2, `want stack without a value`},
		{"outside machine @spmv --show cycles --with whole", 0, `\nv100 +\d+ .* 1\.000 \(1\.000 to 1\.000\)\nv100 whole +\d+ .* 1\.0[1-9]\d \(`}, // a scheduler that needs more cycles
		{"outside machine @histogram --size 4096 --show compression --with whole", 0, `\nv100 whole has a compression of its own: \d+ bursts, \d\.\d\d times fewer\n`},
		{"outside machine @saxpy --size 1000 --show total --with stack+whole", 2, `stack and whole both replace the policy of the L2: leave one of them out`},
		{"outside machine @saxpy --size 1000 --show total --sweep dispatch=single,rotation", 0, `\(lru, xor\), dispatcher single\n`},
		{"saxpy ../kernels/cuda/saxpy.ptx", 0, `^\[1 3 5 7 9 11 13 15\] \d+ warp instructions\n.*1 3 5 7 9 11 13 15`},
	} {
		program, args, _ := strings.Cut(c.command, " ")
		cmd := exec.Command(filepath.Join(dir, program), strings.Fields(args)...)
		b, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		if got := cmd.ProcessState.ExitCode(); got != c.status || !regexp.MustCompile(c.want).Match(b) {
			t.Errorf("%s: status %d, want %d with %s:\n%s", c.command, got, c.status, c.want, b)
		}
	}
}

// TestGoBlocks: the Go code of docs/go.md stands in a program of testdata/outside, which TestOutside builds.
func TestGoBlocks(t *testing.T) {
	page, err := os.ReadFile("../docs/go.md")
	if err != nil {
		t.Fatal(err)
	}
	var programs strings.Builder
	for _, pattern := range []string{"*.go", "*/*.go"} {
		files, err := filepath.Glob("../testdata/outside/" + pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("no programs %s: %v", pattern, err)
		}
		for _, file := range files {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			programs.Write(b)
		}
	}
	blocks := regexp.MustCompile("(?s)\n```go\n(.*?)```\n").FindAllSubmatch(page, -1)
	if len(blocks) == 0 {
		t.Fatal("docs/go.md has no Go code")
	}
	for _, block := range blocks {
		if !strings.Contains(programs.String(), string(block[1])) {
			t.Errorf("no program of testdata/outside has\n%s", block[1])
		}
	}
}
