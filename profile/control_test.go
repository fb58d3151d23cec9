package profile

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/pprof/profile"

	"gemu/interp"
	"gemu/ptx"
)

// TestBothSidesOfABranch: half of the lanes branch; each side runs with 16 lanes.
func TestBothSidesOfABranch(t *testing.T) {
	p := profiled(t, kernel(`
	setp.lt.u32 %q, %t, 16;
	@%q bra LOW;	// branch
	add.u32 %x, %t, 1;	// high
	bra MEET;
LOW:
	add.u32 %x, %t, 2;	// low
MEET:
	add.u32 %x, %x, 3;	// after
	setp.lt.u32 %q, %t, 32;
	@%q bra END;	// together
	add.u32 %x, %x, 4;	// never
END:
	setp.lt.u32 %q, %t, 4;
	@%q bra NEXT;	// to the next
NEXT:
	@%q exit;	// exit
	add.u32 %x, %x, 5;	// the others
`), nil)
	want := map[string]Counts{
		"branch":   {Execs: 1, Active: 32, Lanes: 32, Branches: 1, Taken: 16, Divergent: 1},
		"high":     {Execs: 1, Active: 16, Lanes: 16, Diverged: 1},
		"low":      {Execs: 1, Active: 16, Lanes: 16, Diverged: 1},
		"after":    {Execs: 1, Active: 32, Lanes: 32},
		"together": {Execs: 1, Active: 32, Lanes: 32, Branches: 1, Taken: 32},
		"never":    {},
		// Lanes that go the same way do not diverge, and ended lanes are not counted.
		"to the next": {Execs: 1, Active: 32, Lanes: 32, Branches: 1, Taken: 4},
		"exit":        {Execs: 1, Active: 32, Lanes: 32, Taken: 4},
		"the others":  {Execs: 1, Active: 28, Lanes: 28},
	}
	if diff := cmp.Diff(want, marked(p)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestCTAsAddUp: counts of CTAs are added, also with reused sinks.
func TestCTAsAddUp(t *testing.T) {
	p := profiled(t, kernel("call inner, (%t);"), func(l *interp.Launch) { l.Grid, l.Block = ptx.Dim(5), ptx.Dim(64) })
	if n := marked(p)["inner"]; n != (Counts{Execs: 10, Active: 320, Lanes: 320}) {
		t.Errorf("%+v, want 10 executions by 320 lanes", n)
	}
	if n := p.Roots[0].Calls; n != 10 {
		t.Errorf("%d warps, want 10", n)
	}
}

// nest has a loop with i+1 iterations for lane i, an inner loop of four iterations, a loop through a list
// of labels, and a loop whose exit is the next instruction.
const nest = `
	mov.u32 %i, 0;
OUTER:
	mov.u32 %j, 0;
INNER:
	add.u32 %j, %j, 1;	// inner loop
	setp.lt.u32 %q, %j, 4;
	@%q bra INNER;
	add.u32 %i, %i, 1;	// outer loop
	setp.le.u32 %q, %i, %t;
	@%q bra OUTER;
	mov.u32 %j, 0;
AGAIN:
	add.u32 %j, %j, 1;	// by list
	setp.lt.u32 %q, %j, 3;
	selp.u32 %x, 0, 1, %q;
TS: .branchtargets AGAIN, DONE;
	brx.idx %x, TS;
DONE:
	mov.u32 %i, 0;
	bra HEAD;
LATCH:
	add.u32 %i, %i, 1;
	setp.ge.u32 %q, %i, 5;
	@%q bra OUT;
HEAD:
	add.u32 %j, %j, 1;
	bra LATCH;
OUT:
`

// TestLoopIterations: iterations of loops, counted by lanes.
func TestLoopIterations(t *testing.T) {
	for _, r := range interp.Reconvergers() {
		p := profiled(t, kernel(nest), func(l *interp.Launch) { l.Reconverge = r })
		var got []string
		for _, l := range p.Loops() {
			got = append(got, fmt.Sprintf("depth %d: %d lanes enter, %d go round", l.Depth, l.Entries, l.Iterations))
		}
		// Lanes make 1, 2 … 32 iterations: 528 in total.
		want := []string{
			"depth 1: 32 lanes enter, 528 go round",
			"depth 2: 528 lanes enter, 2112 go round",
			"depth 1: 32 lanes enter, 96 go round",
			"depth 1: 32 lanes enter, 160 go round",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", r.Name(), diff)
		}
		// The policy decides which lanes are together; the number of executions of each lane does not
		// depend on it.
		for name, lanes := range map[string]int64{"inner loop": 2112, "outer loop": 528, "by list": 96} {
			if n := marked(p)[name].Lanes; n != lanes {
				t.Errorf("%s: %s is executed by %d lanes, want %d", r.Name(), name, n, lanes)
			}
		}
	}
}

// calls has a recursive function, and a function with two callers.
const calls = `.version 8.0
.target sm_90
.address_size 64
.func leaf ()
{
	.reg .u32 %x;
	mov.u32 %x, 1;
	mov.u32 %x, 2;
	ret;
}
.func down (.reg .u32 %n)
{
	.reg .u32 %m;
	.reg .pred %q;
	setp.eq.u32 %q, %n, 0;
	@%q ret;
	sub.u32 %m, %n, 1;
	call down, (%m);
	call leaf;
	ret;
}
.entry k(.param .u64 buf)
{
	.reg .u32 %n;
	mov.u32 %n, 5;
	call down, (%n);
	call leaf;
	ret;
}
`

// TestCallTree: functions by their calls; a recursive function has a single node.
func TestCallTree(t *testing.T) {
	p := profiled(t, calls, nil)
	var got []string
	for _, r := range p.Roots {
		r.Each(func(n *Node) {
			from, all, own := "", n.Total(), n.Own()
			if n.Parent != nil {
				from = " from " + n.Parent.Func.Name
			}
			got = append(got, fmt.Sprintf("%s%s: %d calls, %d own, %d in all", n.Func.Name, from, n.Calls, own.Execs, all.Execs))
		})
	}
	// down(5) … down(1) execute 6 instructions each, down(0) two; each but the last calls leaf. The
	// kernel's call of down and down's own calls are different nodes.
	want := []string{
		"k: 1 calls, 4 own, 54 in all",
		"down from k: 1 calls, 6 own, 47 in all",
		"down from down: 5 calls, 26 own, 38 in all",
		"leaf from down: 4 calls, 12 own, 12 in all",
		"leaf from down: 1 calls, 3 own, 3 in all",
		"leaf from k: 1 calls, 3 own, 3 in all",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// inlined has inlined functions in the form of nvcc -lineinfo: twice is in k, and add in twice.
const inlined = `.version 8.0
.target sm_90
.address_size 64
.entry k(.param .u64 buf)
{
	.reg .u32 %x;
	.loc 1 10 3
	mov.u32 %x, 1;
	.loc 1 6 5, function_name $twice, inlined_at 1 11 7
	.loc 1 2 9, function_name $twice+6, inlined_at 1 6 5
	add.u32 %x, %x, %x;
	.loc 1 12 1
	ret;
}
.file 1 "k.cu"
.section .debug_str
{
$twice:
.b8 116, 119, 105, 99, 101, 0
.b8 97, 100, 100, 0
}
`

// TestSourceFrames: source positions of instructions.
func TestSourceFrames(t *testing.T) {
	m, err := ptx.ParseString("k.ptx", inlined)
	if err != nil {
		t.Fatal(err)
	}
	f := m.Kernels()[0]
	instr := f.Blocks[0].Instrs[1]
	want := []Frame{{"add", "k.cu", 2, 9}, {"twice", "k.cu", 6, 5}, {"k", "k.cu", 11, 7}}
	if diff := cmp.Diff(want, Frames(f, instr, false)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]Frame{{"k", "k.ptx", 11, 2}}, Frames(f, instr, true)); diff != "" {
		t.Errorf("in the PTX (-want +got):\n%s", diff)
	}
}

// write writes a profile to a file.
func write(t *testing.T, p *profile.Profile) string {
	t.Helper()
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	back, err := profile.Parse(bytes.NewReader(b.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if err := back.CheckValid(); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "k.pb.gz")
	if err := os.WriteFile(name, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestPprofFile: the file is readable by the pprof library and program.
func TestPprofFile(t *testing.T) {
	p := profiled(t, calls, nil)
	out := p.Pprof(false)
	total := p.Total()
	sum := make([]int64, len(out.SampleType))
	for _, s := range out.Sample {
		for i, v := range s.Value {
			sum[i] += v
		}
	}
	for i, s := range sampleTypes {
		if want := s.of(&total); sum[i] != want {
			t.Errorf("%s: %d, want %d", s.name, sum[i], want)
		}
	}
	name := write(t, out)
	top := tool(t, "-top", name)
	for _, line := range []string{
		"Showing nodes accounting for 54, 100% of 54 total",
		"32 59.26% 59.26%         47 87.04%  down",
		"18 33.33% 92.59%         18 33.33%  leaf",
		"4  7.41%   100%         54   100%  k",
	} {
		if !strings.Contains(top, line) {
			t.Errorf("-top has no %q:\n%s", line, top)
		}
	}
	if tree := tool(t, "-traces", name); !strings.Contains(tree, "leaf\n             down\n             down\n             k\n") {
		t.Errorf("-traces has no call of leaf by down by down by k:\n%s", tree)
	}
	name = write(t, profiled(t, inlined, nil).Pprof(false))
	if lines := tool(t, "-lines", "-traces", name); !strings.Contains(lines, "add k.cu:2 (inline)\n             twice k.cu:6 (inline)\n             k k.cu:11\n") {
		t.Errorf("-traces has no add inlined in twice inlined in k:\n%s", lines)
	}
}

// tool runs go tool pprof.
func tool(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command("go", append([]string{"tool", "pprof"}, args...)...)
	cmd.Env = append(os.Environ(), "PPROF_TMPDIR="+t.TempDir())
	b, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("go tool pprof %s: %v\n%s", args, err, b)
	}
	return string(b)
}

// TestPprofOfLines: lines of the same kernel in two processes are summed up, and the label tells the processes apart.
func TestPprofOfLines(t *testing.T) {
	a, b := &Counts{Execs: 30, Lanes: 600}, &Counts{Execs: 12, Lanes: 100}
	name := write(t, PprofOfLines([]LineCounts{
		{Module: "m.ptx", Kernel: "sum(int*)", Process: "7: first", File: "k.cu", Line: 4, Counts: a},
		{Module: "m.ptx", Kernel: "sum(int*)", Process: "8: second", File: "k.cu", Line: 4, Counts: b},
		{Module: "m.ptx", Kernel: "other", Process: "8: second", File: "k.cu", Line: 4, Counts: b},
	}))
	for want, args := range map[string][]string{
		"42 77.78% 77.78%         42 77.78%  sum(int*) k.cu:4": {"-top", "-lines"},
		"0     0%     0%         24 44.44%  8: second":         {"-top", "-tagfocus=second", "-tagroot=process", "-cum"},
		"600 75.00% 75.00%        600 75.00%  sum(int*)":       {"-top", "-sample_index=lanes", "-tagfocus=first"},
	} {
		if got := tool(t, append(args, name)...); !strings.Contains(got, want) {
			t.Errorf("%q has no %q:\n%s", args, want, got)
		}
	}
}
