package fuzz

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"gemu/internal/part"
	"gemu/internal/random"
	"gemu/interp"
	"gemu/ptx"
)

// TestMain runs the test binary as another implementation if a command of a test requests it.
func TestMain(m *testing.M) {
	if bug := os.Getenv("GEMU_RIVAL"); bug != "" {
		if err := rival(bug, os.Args[1], os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// rival runs a program with a bug, given by its description: "this=that" replaces one opcode by another. The remaining bugs
// take effect if a program has bfi.b32.
func rival(bug, description, result string) error {
	text, err := os.ReadFile(description)
	if err != nil {
		return err
	}
	var d Description
	if err := json.Unmarshal(text, &d); err != nil {
		return err
	}
	dir := filepath.Dir(description)
	src, err1 := os.ReadFile(filepath.Join(dir, d.Program))
	in, err2 := os.ReadFile(filepath.Join(dir, d.Args[0].Input))
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	if name, ok := strings.CutPrefix(bug, "plant:"); ok {
		if src, err = planted(name, src); err != nil {
			return err
		}
	} else if from, to, ok := strings.Cut(bug, "="); ok {
		src = []byte(strings.ReplaceAll(string(src), from+" ", to+" "))
	} else if strings.Contains(string(src), "bfi.b32") {
		switch bug {
		case "crash":
			self, err := os.FindProcess(os.Getpid())
			if err != nil {
				return err
			}
			self.Kill()
			time.Sleep(time.Minute)
		case "status":
			os.Exit(7)
		case "refusal":
			os.Exit(3)
		case "words":
			return errors.New("bfi is not implemented")
		case "nothing":
			return nil
		}
	}
	m, err := ptx.Parse(d.Program, src)
	if err != nil {
		return err
	}
	dev := interp.NewDevice(interp.Config{Workers: 1, SM: d.SM})
	mod, err := dev.LoadModule(m)
	if err != nil {
		return err
	}
	// Buffers have different addresses than in gemu fuzz.
	_, err1 = interp.NewBuffer(dev, make([]byte, 12345))
	input, err2 := interp.NewBuffer(dev, in)
	output, err3 := interp.NewBuffer(dev, make([]byte, d.Args[1].Bytes))
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	if _, err := mod.Run(context.Background(), &interp.Launch{
		Kernel: d.Kernel, Grid: ptx.Dim(d.Grid[:]...), Block: ptx.Dim(d.Block[:]...), Args: []any{input, output, ArgN, ArgM}, Mode: interp.Vector, MaxSteps: maxSteps,
	}); err != nil {
		return err
	}
	out := make([]byte, d.Args[1].Bytes)
	output.Read(0, out)
	return os.WriteFile(result, out, 0o666)
}

// instructions returns the statements of a program's kernel.
func instructions(p *Program) (list []string) {
	_, body, _ := strings.Cut(p.Source, "{")
	for s := range strings.SplitSeq(body, ";") {
		if s = strings.TrimSpace(s); s != "" && !strings.HasPrefix(s, ".reg") && s != "}" {
			list = append(list, s)
		}
	}
	return list
}

// TestFailuresAreReduced: failures of each kind are found and reduced to the few instructions they need.
func TestFailuresAreReduced(t *testing.T) {
	part.SkipShort(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	arith, err := ParseFeatures("arith,memory,divergence")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		bug  string
		kind Kind
		why  string // the outcome's
		has  string // text that must remain in the program
		most int    // maximum number of remaining instructions; 0: not reduced
	}{
		{"popc.b32=clz.b32", Difference, `word at byte \d+ is 0x\w+, want 0x\w+`, "popc.b32", 10},
		{"crash", Crash, "signal: killed", "bfi.b32", 2},
		{"status", Crash, "exit status 7", "", 0},
		{"nothing", Crash, "without a result", "", 0},
		{"refusal", Refusal, "exit status 3", "bfi.b32", 2},
		{"words", Refusal, "exit status 1", "", 0},
	} {
		t.Run(c.bug, func(t *testing.T) {
			t.Setenv("GEMU_RIVAL", c.bug)
			r := &Rival{Command: self + " {json} {out}", Timeout: time.Minute, RefusalStatus: 3, RefusalText: regexp.MustCompile("not implemented")}
			if err := r.Check(); err != nil {
				t.Fatal(err)
			}
			p, o := findFailure(t, r, defaultOptions(arith), "")
			if o.Kind != c.kind || !regexp.MustCompile(c.why).MatchString(o.Reason) {
				t.Fatalf("%s, %s: want %s, %s", o.Kind, o.Reason, c.kind, c.why)
			}
			if c.most == 0 {
				return
			}
			small, o := reduced(t, r, p, o)
			list := instructions(small)
			if len(list) > c.most || !strings.Contains(small.Source, c.has) {
				t.Errorf("%d instructions are left, want %s and at most %d:\n%s", len(list), c.has, c.most, small.Source)
			}
			if small.Grid != ptx.Dim(1) || small.Block != ptx.Dim(1) || !strings.Contains(small.Source, ".target sm_80\n") {
				t.Errorf("grid %s of blocks %s:\n%s", small.Grid, small.Block, small.Source)
			}
			if c.kind != Difference {
				return
			}
			if w := o.Culprit; w == nil || !w.Measured || w.Instr.Text != c.has || w.Writer.Instr.Form.Family != ptx.FamilyStore {
				t.Fatalf("the culprit is %v\n%s", w, small.Source)
			}
		})
	}
}

// findFailure returns the first program with a text on which a rival fails.
func findFailure(t *testing.T, r *Rival, o Options, opcode string) (*Program, *Outcome) {
	t.Helper()
	g, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(2000) {
		p := g.Program(seed)
		if !strings.Contains(p.Source, opcode) {
			continue
		}
		want, err := p.Verify(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		o, err := r.Find(t.Context(), p, want, -1, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		if o.Kind != Same {
			return p, o
		}
	}
	t.Fatal("no program has failed")
	return nil, nil
}

// reduced returns the reduced program and its outcome.
func reduced(t *testing.T, r *Rival, p *Program, first *Outcome) (*Program, *Outcome) {
	t.Helper()
	dir := t.TempDir()
	small, err := Reduce(t.Context(), p, r.KnowsExtents(), r.StillFails(t.Context(), first, dir), func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	want, err := small.Verify(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	o, err := r.Find(t.Context(), small, want, first.Offset, dir)
	if err != nil {
		t.Fatal(err)
	}
	if !o.Matches(first) {
		t.Fatalf("the reduced program is a %s, %s, not a %s, %s", o.Kind, o.Reason, first.Kind, first.Reason)
	}
	return small, o
}

// TestRivalThatDoesNotEnd: a rival that does not end is stopped, together with its child processes, and its program is
// reduced.
func TestRivalThatDoesNotEnd(t *testing.T) {
	part.SkipShort(t)
	t.Parallel()
	pid := filepath.Join(t.TempDir(), "pid")
	r := &Rival{Command: "if grep -q brev.b32 {ptx}; then sleep 600 & echo $! >" + pid + "; wait; fi; : {out}", Timeout: 200 * time.Millisecond, RefusalStatus: 3}
	o := defaultOptions(random.Arith)
	o.Length = 1
	g, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	p := g.Program(1)
	before, after, _ := strings.Cut(p.Source, "\tst.global")
	p.Source = before + "\tbrev.b32 %w1, %w2;\n\tst.global" + after
	small, outcome := reduced(t, r, p, &Outcome{Kind: Timeout})
	if list := instructions(small); len(list) > 2 || !strings.Contains(outcome.Reason, "stopped after 200ms") {
		t.Errorf("%s, and %q are left", outcome.Reason, list)
	}
	text, err := os.ReadFile(pid)
	if err != nil {
		t.Fatal(err)
	}
	// A process without a waiting parent may remain as a zombie, and stopping takes a moment.
	for start := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		stat, err := os.ReadFile("/proc/" + strings.TrimSpace(string(text)) + "/stat")
		if err != nil || strings.Contains(string(stat), ") Z ") {
			break
		}
		if time.Since(start) > 20*time.Second {
			t.Fatalf("what the rival has started is still there: %s", stat)
		}
	}
}

// TestCrashIsReducedToTheSame: a crash is reduced to the same crash, and not to a different crash of a smaller program:
// a different status, or a message that differs in more than numbers.
func TestCrashIsReducedToTheSame(t *testing.T) {
	for _, c := range []struct{ say, other, status, otherStatus string }{
		{"brev: assertion failed at 0x$$", "parse error in line 3", "7", "7"},
		{"bad", "bad", "7", "8"},
		{"bad", "bad", "7", "139"},
	} {
		command := "if grep -q brev.b32 {ptx}; then echo '" + c.say + "' $$ >&2; exit " + c.status + "; fi; echo '" + c.other + "' >&2; exit " + c.otherStatus + " # {json} {out}"
		r := &Rival{Command: command, Timeout: time.Minute, RefusalStatus: 3}
		o := defaultOptions(random.Arith)
		o.Length = 1
		g, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		p := g.Program(1)
		before, after, _ := strings.Cut(p.Source, "\tst.global")
		p.Source = before + "\tbrev.b32 %w1, %w2;\n\tst.global" + after
		first, err := r.Run(t.Context(), p, nil, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		small, _ := reduced(t, r, p, first)
		if !strings.Contains(small.Source, "brev.b32") {
			t.Errorf("%s, status %s: another crash is left:\n%s", c.say, c.status, small.Source)
		}
	}
}

// TestChangingCrash: a crash is the same if its first line differs only in addresses, process numbers, paths and words
// that change in each run.
func TestChangingCrash(t *testing.T) {
	command := "if grep -q brev.b32 {ptx}; then w=$(od -An -N3 -tx1 /dev/urandom | tr -d ' 0-9\\n')x; " +
		"echo \"$(date +%T.%N) [$$] worker-$w 7ffe$$ab: brev failed in /tmp/$w/k\" >&2; exit 7; fi; exit 0 # {json} {out}"
	r := &Rival{Command: command, Timeout: time.Minute, RefusalStatus: 3}
	o := defaultOptions(random.Arith)
	o.Length = 1
	g, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	p := g.Program(1)
	before, after, _ := strings.Cut(p.Source, "\tst.global")
	p.Source = before + "\tbrev.b32 %w1, %w2;\n\tst.global" + after
	dir := t.TempDir()
	first, err := r.Run(t.Context(), p, nil, dir)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		second, err := r.Run(t.Context(), p, nil, dir)
		if err != nil {
			t.Fatal(err)
		}
		if !first.Merge(second) {
			t.Fatalf("%q is another crash than %q", second.Stderr, first.Stderr)
		}
	}
	if small, _ := reduced(t, r, p, first); len(instructions(small)) > 2 || !strings.Contains(small.Source, "brev.b32") {
		t.Errorf("left is\n%s", small.Source)
	}
}

// TestPlaceholdersOfCommand: the command has the numbers of the program.
func TestPlaceholdersOfCommand(t *testing.T) {
	g, err := New(defaultOptions(random.Arith))
	if err != nil {
		t.Fatal(err)
	}
	p := g.Program(1)
	r := &Rival{Command: "echo {bytes} {n} {m} {grid} {block} >&2; exit 9 # {ptx} {out}", Timeout: time.Minute, RefusalStatus: 3}
	o, err := r.Run(t.Context(), p, nil, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintln(p.OutBytes, ArgN, ArgM, "2,1,1", "40,1,1"); o.Stderr != want {
		t.Errorf("%q, want %q", o.Stderr, want)
	}
}

// TestMissingCommand: a missing command is not a failure of a program.
func TestMissingCommand(t *testing.T) {
	p := &Program{}
	if _, err := (&Rival{Command: "no-such-command {ptx} {out}", Timeout: time.Minute}).Run(t.Context(), p, nil, t.TempDir()); !errors.Is(err, ErrNoRival) {
		t.Errorf("error %v", err)
	}
	for _, command := range []string{"x", "x {ptx}", "x {out}", "x {ptx} {out} {grid}"} {
		if (&Rival{Command: command, Timeout: time.Minute}).Check() == nil {
			t.Errorf("%q is a rival", command)
		}
	}
}

// TestReducedProgramStaysDefined: a reduced program with an undefined result is not accepted.
func TestReducedProgramStaysDefined(t *testing.T) {
	g, err := New(defaultOptions(random.Shared))
	if err != nil {
		t.Fatal(err)
	}
	good := g.Program(1)
	kernel := func(body string) *Program {
		p := *good
		p.Source = ".version 7.0\n.target sm_80\n.address_size 64\n.shared .align 4 .b8 s[256];\n.entry k(.param .u64 in, .param .u64 out, .param .u32 n, .param .u64 m)\n{\n" +
			"\t.reg .b32 %w<3>;\n\t.reg .b64 %out;\n\t.reg .pred %p;\n\tld.param.u64 %out, [out];\n\tmov.u32 %w0, %tid.x;\n" + body + "\tret;\n}\n"
		return &p
	}
	if _, err := kernel("st.global.u32 [%out], %w0;\n").Verify(t.Context()); err == nil {
		t.Error("all threads write one word: the accesses are not ordered: that is not found")
	}
	if _, err := kernel("mov.u32 %w2, %ctaid.x; or.b32 %w2, %w2, %w0; setp.eq.u32 %p, %w2, 0; @%p st.global.u32 [%out], 1;\n").Verify(t.Context()); err != nil {
		t.Error(err)
	}
	for name, body := range map[string]string{
		"no PTX":         "add.s32 %w1;\n",
		"no end":         "L: bra L;\n",
		"a trap":         "trap;\n",
		"no value":       "setp.eq.u32 %p, %w1, 0; @%p st.global.u32 [%out+64], 1;\n",
		"a race":         "mul.lo.u32 %w1, %w0, 4; mov.u32 %w2, s; add.u32 %w1, %w1, %w2; st.shared.u32 [%w1], 1; ld.shared.u32 %w1, [s];\n",
		"another result": "mov.u32 %w1, %clock; st.global.u32 [%out], %w1;\n",
	} {
		if _, err := kernel(body).Verify(t.Context()); !errors.Is(err, ErrUndefined) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// TestSeedsRepeat: a seed always makes the same program, and another seed another.
func TestSeedsRepeat(t *testing.T) {
	make := func(seed uint64) *Program {
		g, err := New(defaultOptions(random.AllFeatures))
		if err != nil {
			t.Fatal(err)
		}
		return g.Program(seed)
	}
	a, b, c := make(5), make(5), make(6)
	if a.Source != b.Source || !slices.Equal(a.Input, b.Input) || a.Source == c.Source {
		t.Error("seeds do not make programs")
	}
}

// TestImpossibleOptions: options without possible programs are refused.
func TestImpossibleOptions(t *testing.T) {
	for name, change := range map[string]func(o *Options){
		"an old machine":  func(o *Options) { o.SM = 35 },
		"no machine":      func(o *Options) { o.SM = 1000 },
		"an old version":  func(o *Options) { o.Version = ptx.Version{Major: 5} },
		"a later one":     func(o *Options) { o.Version = ptx.Version{Major: 99} },
		"no block":        func(o *Options) { o.Block = ptx.Dim(0) },
		"a large block":   func(o *Options) { o.Block = ptx.Dim(64, 32) },
		"a flat block":    func(o *Options) { o.Block = ptx.Dim(1, 1, 1000) },
		"no grid":         func(o *Options) { o.Grid = 0 },
		"a large grid":    func(o *Options) { o.Grid = 1 << 30 },
		"no statements":   func(o *Options) { o.Length = 0 },
		"many statements": func(o *Options) { o.Length = 1 << 30 },
	} {
		o := defaultOptions(random.AllFeatures)
		change(&o)
		if _, err := New(o); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	for _, list := range []string{"", "arit", "-none", "all,-all", "arith,,float"} {
		if _, err := ParseFeatures(list); err == nil {
			t.Errorf("features %q: no error", list)
		}
	}
	if f, err := ParseFeatures("all,-arith, -warp"); err != nil || f != random.AllFeatures&^(random.Arith|random.Warp) {
		t.Errorf("all,-arith, -warp is %b: %v", f, err)
	}
}
