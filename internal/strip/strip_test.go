package strip

import (
	"context"
	"encoding/xml"
	"fmt"
	"io"
	"math/bits"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gemu/internal/part"
	"gemu/internal/random"
	"gemu/interp"
	"gemu/probe"
	"gemu/ptx"
)

// header begins each program of the tests.
const header = ".version 7.8\n.target sm_70\n.address_size 64\n"

// sides is an if with two sides: lanes 0 and 2 go to even, 1 and 3 to odd. Each line is an instruction.
const sides = header + `.visible .entry k(.param .u64 p)
{
	.reg .pred %p;
	.reg .u32 %t;
	mov.u32 %t, %tid.x;
	and.b32 %t, %t, 1;
	setp.eq.u32 %p, %t, 0;
	@%p bra even;
	add.u32 %t, %t, 1;
	bra Z;
even:
	add.u32 %t, %t, 2;
Z:
	@!%p mov.u32 %t, 0;
	ret;
}
`

// launched runs the kernel k of a program under a policy, and returns its strip and the result, which is nil after a trap.
func launched(t *testing.T, src string, l interp.Launch, policy string, o Options) (*Strip, *interp.Result) {
	t.Helper()
	r := NewRecorder(o)
	dev := interp.NewDevice(interp.Config{Probes: []probe.Probe{r}})
	m, err := dev.Load("test.ptx", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range interp.Reconvergers() {
		if p.Name() == policy {
			l.Reconverge = p
		}
	}
	l.Kernel = "k"
	result, _ := m.Run(context.Background(), &l)
	return r.Strips()[0], result
}

func launch(block int) interp.Launch {
	return interp.Launch{Grid: ptx.Dim(1), Block: ptx.Dim(block), Args: []any{uint64(0)}}
}

// drawn returns the rows of a strip, without names and explanations.
func drawn(s *Strip, width int) string {
	var b strings.Builder
	groups := Groups([]*Strip{s})
	screen := Screen{Width: width}
	for _, w := range s.Warps {
		groups[0].printWarp(&b, w, &screen)
	}
	return b.String()
}

// TestPrint: the rows of an if, derived by hand from the policies of docs/reconvergence.md. The stack runs the side that falls
// through first, and frontier the side whose block comes first in reverse postorder. The block with the label Z has the letter Z.
func TestPrint(t *testing.T) {
	for policy, want := range map[string]string{
		"stack": `
  step       1
  lanes 0,2  AAAA··CzZ
  lanes 1,3  AAAABB·ZZ
`,
		"frontier": `
  step       1
  lanes 0,2  AAAAC··zZ
  lanes 1,3  AAAA·BBZZ
`,
	} {
		s, _ := launched(t, sides, launch(4), policy, Options{})
		if got, want := drawn(s, 80), strings.TrimPrefix(want, "\n"); got != want {
			t.Errorf("%s: (-want +got)\n%s", policy, cmp.Diff(want, got))
		}
	}
}

// TestSentences: the same strip in words.
func TestSentences(t *testing.T) {
	s, _ := launched(t, sides, launch(4), "stack", Options{})
	want := []string{
		"steps 1 to 4, lines 8 to 11, A: lanes 0-3 run",
		"steps 5 to 6, lines 12 to 13, B: lanes 1,3 run; lanes 0,2 wait before line 15",
		"step 7, line 15, C: lanes 0,2 run; lanes 1,3 wait at line 17 for lanes 0,2",
		"step 8, line 17, Z: lanes 1,3 run; the guard excludes lanes 0,2",
		"step 9, line 18, Z: lanes 0-3 run",
	}
	if diff := cmp.Diff(want, s.Sentences(s.Warps[0])); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// spin is a lock that the lanes of a warp cannot pass under stack: the lane that has it waits for the others.
const spin = header + `.global .u32 lock;
.visible .entry k(.param .u64 p)
{
	.reg .pred %p;
	.reg .u32 %v;
wait:
	atom.global.cas.b32 %v, [lock], 0, 1;
	setp.ne.u32 %p, %v, 0;
	@%p bra wait;
	atom.global.exch.b32 %v, [lock], 0;
	ret;
}
`

// TestDeadlock: a strip of a deadlock says who waits for whom, and a fold shows which lanes run in all steps, and which in few.
func TestDeadlock(t *testing.T) {
	s, result := launched(t, spin, launch(32), "stack", Options{})
	w := s.Warps[0]
	if result != nil && s.Err == nil {
		t.Fatal("the launch has ended without an error")
	}
	if text := s.EndText(); !strings.HasPrefix(text, "deadlock") {
		t.Errorf("the end is %q", text)
	}
	if got, want := s.FinalText(w), fmt.Sprintf("after step %d: lanes 1-31 are at line 10; lane 0 waits at line 13 for lanes 1-31", w.Steps); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if len(w.Runs) != 2 || w.Runs[0].Steps != 3 || w.Runs[1].Active != 0xffff_fffe {
		t.Errorf("runs %+v", w.Runs)
	}
	lines := strings.Split(drawn(s, 40), "\n")
	per := (w.Steps + 25) / 26 // 26 columns next to the names
	if !strings.Contains(lines[0], fmt.Sprintf("each column is %d steps", per)) {
		t.Errorf("the fold is not stated: %s", lines[0])
	}
	bar := (w.Steps + per - 1) / per
	want := "  lane 0      ▒" + strings.Repeat("·", bar-1) + "\n  lanes 1-31  " + strings.Repeat("█", bar)
	if got := strings.Join(lines[2:4], "\n"); got != want || len([]rune(lines[3])) > 40 {
		t.Errorf("rows\n%s\nwant\n%s", got, want)
	}
	if picture := string(SVG("lock", Groups([]*Strip{s}))); !strings.Contains(picture, "deadlock") || len(picture) > MaxSVG {
		t.Errorf("a picture of %d bytes does not name the deadlock", len(picture))
	}
}

// TestCounts: for random programs, under every policy, the steps of all strips are the warp instructions of the launch, and their
// active lanes its lane slots, which the machine counts without probes. Each live lane runs or waits in exactly one way, and no
// lane comes back after its end.
func TestCounts(t *testing.T) {
	variants := random.Variants(func(v *ptx.Variant) bool {
		_, runs := interp.SupportsVariant(v)
		return runs
	})
	first := part.Seed(t)
	for i := range part.Count(5, 40, 1000) {
		seed := first + uint64(i)
		src, in := random.Structured(variants, seed, 2*40, i%2 == 0)
		for _, policy := range interp.Reconvergers() {
			r := NewRecorder(Options{MaxWarps: 100})
			dev := interp.NewDevice(interp.Config{Probes: []probe.Probe{r}})
			m, err := dev.Load("random.ptx", []byte(src))
			if err != nil {
				t.Fatal(err)
			}
			from, err := interp.NewBuffer(dev, in)
			if err != nil {
				t.Fatal(err)
			}
			to, err := dev.Alloc(len(in))
			if err != nil {
				t.Fatal(err)
			}
			result, err := m.Run(t.Context(), &interp.Launch{Grid: ptx.Dim(2), Block: ptx.Dim(40), Args: []any{from, to, uint32(12), uint64(1) << 40}, MaxSteps: 1 << 16, Reconverge: policy, Mode: interp.Vector})
			if err != nil {
				continue // a deadlock under some policies
			}
			s := r.Strips()[0]
			steps, slots := int64(0), int64(0)
			for _, w := range s.Warps {
				steps += int64(w.Steps)
				next, alive := 1, w.Lanes
				for _, run := range w.Runs {
					slots += int64(run.Steps * bits.OnesCount64(run.Active))
					seen := run.Active
					for _, x := range run.Waits {
						if x.Lanes&seen != 0 {
							t.Fatalf("seed %#x, %s, step %d: lanes %#x do two things", seed, policy.Name(), run.First, x.Lanes&seen)
						}
						seen |= x.Lanes
					}
					if run.First != next || run.Lanes&^run.Active != 0 || seen&^alive != 0 {
						t.Fatalf("seed %#x, %s: run %+v after step %d with lanes %#x alive", seed, policy.Name(), run, next-1, alive)
					}
					next, alive = next+run.Steps, seen
				}
			}
			if steps != result.WarpInstructions || slots != result.LaneSlots {
				t.Errorf("seed %#x, %s: %d steps with %d active lanes; the launch counts %d and %d\n%s", seed, policy.Name(), steps, slots, result.WarpInstructions, result.LaneSlots, src)
			}
		}
	}
}

// TestSelection: the chosen warps have strips, up to the largest number; the other warps are counted.
func TestSelection(t *testing.T) {
	s, _ := launched(t, sides, launch(256), "stack", Options{MaxWarps: 3})
	if len(s.Warps) != 3 || s.OtherWarps != 5 {
		t.Errorf("%d warps and %d others", len(s.Warps), s.OtherWarps)
	}
	s, _ = launched(t, sides, launch(4), "stack", Options{MaxRuns: 2})
	if w := s.Warps[0]; !w.Cut || len(w.Runs) != 2 || w.Steps != 6 {
		t.Errorf("with at most two runs: %+v", w)
	}
}

// TestRestore: after a restore, the strip is the one of a launch without it.
func TestRestore(t *testing.T) {
	want, _ := launched(t, sides, launch(40), "stack", Options{})
	r := NewRecorder(Options{})
	dev := interp.NewDevice(interp.Config{Probes: []probe.Probe{r}})
	m, err := dev.Load("test.ptx", []byte(sides))
	if err != nil {
		t.Fatal(err)
	}
	l := launch(40)
	for _, p := range interp.Reconvergers() {
		if p.Name() == "stack" {
			l.Reconverge = p
		}
	}
	e, err := m.Start(&l)
	if err != nil {
		t.Fatal(err)
	}
	var states []*interp.State
	for step := int64(1); step < 18; step++ {
		if _, err := e.ContinueTo(t.Context(), step); err != nil {
			t.Fatal(err)
		}
		state, err := e.Save()
		if err != nil {
			t.Fatal(err)
		}
		states = append(states, state)
	}
	for _, i := range []int{3, 10, 2, 12, 3} {
		if err := e.Restore(states[i]); err != nil {
			t.Fatal(err)
		}
		steps := 0
		for _, w := range r.Strips()[0].Warps {
			steps += w.Steps
		}
		if steps != i+1 {
			t.Errorf("state after %d steps: the strip has %d", i+1, steps)
		}
		if i == 10 {
			continue // the next restore is in the middle of the launch
		}
		if ended, err := e.Continue(t.Context()); err != nil || !ended {
			t.Fatal(ended, err)
		}
		if got := r.Strips()[0]; drawn(got, 80) != drawn(want, 80) {
			t.Errorf("after a restore to step %d:\n%s\nwant\n%s", i+1, drawn(got, 80), drawn(want, 80))
		}
	}
}

// TestLetters: more than 36 blocks, and labels of a single letter.
func TestLetters(t *testing.T) {
	var b strings.Builder
	b.WriteString(header + ".visible .entry k(.param .u64 p)\n{\n\t.reg .u32 %t;\n\tmov.u32 %t, 0;\nb:\n\tmov.u32 %t, 1;\n")
	for i := range 40 {
		fmt.Fprintf(&b, "L%d:\n\tadd.u32 %%t, %%t, 1;\n", i)
	}
	b.WriteString("\tret;\n}\n")
	s, _ := launched(t, b.String(), launch(1), "stack", Options{})
	got := ""
	for _, x := range s.Blocks {
		got += string(x.Letter)
	}
	if want := "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789######"; got != want {
		t.Errorf("letters %s, want %s", got, want)
	}
}

// TestSVG: a picture is well-formed, has a text alternative and both colour schemes, and stays small for long and ragged strips.
func TestSVG(t *testing.T) {
	const ragged = header + `.visible .entry k(.param .u64 p)
{
	.reg .pred %p;
	.reg .u32 %t, %b;
	mov.u32 %t, %tid.x;
	mul.lo.u32 %t, %t, 37;
L:
	and.b32 %b, %t, 3;
	setp.eq.u32 %p, %b, 0;
	@%p bra S;
	sub.u32 %t, %t, 1;
	bra N;
S:
	shr.u32 %t, %t, 1;
N:
	setp.ne.u32 %p, %t, 0;
	@%p bra L;
	ret;
}
`
	for _, policy := range []string{"stack", "pc2"} {
		s, _ := launched(t, ragged, launch(128), policy, Options{})
		picture := SVG("ragged <loops>", Groups([]*Strip{s}))
		if len(picture) > MaxSVG {
			t.Errorf("%s: %d bytes", policy, len(picture))
		}
		d := xml.NewDecoder(strings.NewReader(string(picture)))
		names := map[string]int{}
		for {
			token, err := d.Token()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", policy, err)
			}
			if e, ok := token.(xml.StartElement); ok {
				names[e.Name.Local]++
			}
		}
		if names["title"] != 1 || names["desc"] != 1 || names["path"] < 4 || !strings.Contains(string(picture), "prefers-color-scheme:dark") {
			t.Errorf("%s: elements %v", policy, names)
		}
	}
}

// TestLaneNames: sets of lanes in words.
func TestLaneNames(t *testing.T) {
	whole, part, one := &Warp{Lanes: 0xffff_ffff, Full: true}, &Warp{Lanes: 0xff}, &Warp{Lanes: 1}
	for _, c := range []struct {
		w         *Warp
		lanes     uint64
		want, cut string
	}{
		{whole, 0xffff_ffff, "all lanes", "all lanes"},
		{whole, 0x5555_5555, "the even lanes", "even lanes"},
		{whole, 0xaaaa_aaaa, "the odd lanes", "odd lanes"},
		{whole, 0x9249_2492, "lanes 1,4,7,10,13,16,19,22,25,28,31", "lanes 1,4,7,… (11)"},
		{part, 0xff, "lanes 0-7", "lanes 0-7"},
		{part, 0x55, "the even lanes", "even lanes"},
		{part, 0b101, "lanes 0,2", "lanes 0,2"},
		{one, 1, "lane 0", "lane 0"},
	} {
		if got := c.w.LanesText(c.lanes); got != c.want {
			t.Errorf("lanes %#x of %#x are %q, want %q", c.lanes, c.w.Lanes, got, c.want)
		}
		if got := c.w.shortLanes(c.lanes, 20); got != c.cut {
			t.Errorf("in 20 characters, lanes %#x of %#x are %q, want %q", c.lanes, c.w.Lanes, got, c.cut)
		}
	}
}

// TestGroups: strips with the same picture are one group.
func TestGroups(t *testing.T) {
	var strips []*Strip
	for _, policy := range []string{"stack", "frontier", "pc2"} {
		s, _ := launched(t, sides, launch(4), policy, Options{})
		strips = append(strips, s)
	}
	var got []string
	for _, g := range Groups(strips) {
		got = append(got, g.Title())
	}
	want := []string{"stack and pc2: 9 steps, 3.3 of 32 lanes active on average", "frontier: 9 steps, 3.3 of 32 lanes active on average"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestAccesses: sectors, used bytes and passes of accesses whose addresses are known: lane i loads 2 bytes at 48·i, stores a word of
// shared memory at 8·i, and adds to one word.
func TestAccesses(t *testing.T) {
	const src = header + `.visible .entry k(.param .u64 p)
{
	.shared .align 4 .b8 s[1024];
	.reg .u32 %t, %a, %at;
	.reg .u16 %x;
	.reg .u64 %p;
	mov.u32 %t, %tid.x;
	ld.param.u64 %p, [p];
	mul.lo.u32 %a, %t, 48;
	mad.wide.u32 %p, %t, 48, %p;
	ld.global.u16 %x, [%p];
	mov.u32 %at, s;
	mad.lo.u32 %a, %t, 8, %at;
	st.shared.u32 [%a], %t;
	atom.shared.add.u32 %t, [%at], 1;
	ret;
}
`
	r := NewAccessRecorder()
	dev := interp.NewDevice(interp.Config{Probes: []probe.Probe{r}})
	m, err := dev.Load("test.ptx", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	buffer, err := dev.Alloc(4096)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Launch(t.Context(), "k", ptx.Dim(2), ptx.Dim(64), buffer); err != nil {
		t.Fatal(err)
	}
	list, more := r.Accesses()
	var got []string
	for _, a := range list {
		got = append(got, fmt.Sprintf("%d: %s", a.Line, a.Describe()))
	}
	// 48·i is a multiple of 16, so no lane crosses a sector, and 32 lanes 48 bytes apart have a sector each. 32 words at distance 2
	// are in 16 banks, two in each. An atomic takes a pass for each lane.
	want := []string{
		"14: 32 lanes touch 32 sectors: 1024 bytes, of which 64 are used",
		"17: 32 lanes need 32 words of shared memory: 2 passes",
		"18: 32 lanes need 1 word of shared memory: 32 passes",
	}
	if diff := cmp.Diff(want, got); diff != "" || more {
		t.Errorf("more: %v (-want +got)\n%s", more, diff)
	}
	if len(list) > 0 && (list[0].Addr[0] != buffer.Addr() || list[0].Addr[31] != buffer.Addr()+31*48) {
		t.Errorf("lanes 0 and 31 load from %#x and %#x, the buffer is at %#x", list[0].Addr[0], list[0].Addr[31], buffer.Addr())
	}
	picture := string(AccessSVG("accesses", list, false))
	if strings.Count(picture, "<circle") != 32 || !strings.Contains(picture, "2 passes") {
		t.Error("the picture lacks lanes or passes")
	}
	if err := xml.Unmarshal([]byte(picture), new(struct{})); err != nil {
		t.Error(err)
	}
}

// TestCollective: lanes at two places that execute a vote together. Each place is a step, as in the counts of the launch.
func TestCollective(t *testing.T) {
	const src = header + `.visible .entry k(.param .u64 p)
{
	.reg .pred %p;
	.reg .u32 %t;
	mov.u32 %t, %tid.x;
	and.b32 %t, %t, 1;
	setp.eq.u32 %p, %t, 0;
	@%p bra even;
	vote.sync.any.pred %p, %p, 0xf;
	bra join;
even:
	vote.sync.any.pred %p, %p, 0xf;
join:
	ret;
}
`
	s, result := launched(t, src, launch(4), "auto", Options{})
	w := s.Warps[0]
	if result == nil || int64(w.Steps) != result.WarpInstructions {
		t.Fatalf("%d steps of %+v", w.Steps, result)
	}
	want := []string{
		"steps 1 to 4, lines 8 to 11, A: lanes 0-3 run",
		"step 5, line 12, B: lanes 1,3 run; lanes 0,2 wait at line 15",
		"step 6, line 15, C: lanes 0,2 run; lanes 1,3 wait at line 12",
	}
	if diff := cmp.Diff(want, s.Sentences(w)[:3]); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if rows := drawn(s, 80); !strings.Contains(rows, "lanes 0,2  AAAA=C") || !strings.Contains(rows, "lanes 1,3  AAAAB=") {
		t.Errorf("rows\n%s", rows)
	}
}

// TestShades: the character of a column of five steps, for lanes that run in all of them, in three, in two and in none.
func TestShades(t *testing.T) {
	s := &Strip{Blocks: []Block{{Letter: 'A'}}, WarpSize: 4}
	waiting := func(lanes uint64) []Wait { return []Wait{{Kind: Ready, Lanes: lanes}} }
	w := &Warp{Lanes: 0xf, Steps: 5, Runs: []Run{
		{First: 1, Steps: 2, Active: 0b0111, Lanes: 0b0111, Waits: waiting(0b1000)},
		{First: 3, Steps: 1, Active: 0b0011, Lanes: 0b0011, Waits: waiting(0b1100)},
		{First: 4, Steps: 2, Active: 0b0001, Lanes: 0b0001, Waits: waiting(0b1110)},
	}}
	got := ""
	g := Group{Strip: s}
	for lane := range 4 {
		got += g.row(w, lane, 5, &Screen{})
	}
	if got != "█▓▒·" {
		t.Errorf("columns %s, want █▓▒·", got)
	}
}

// TestNewest: of 40 steps, the last 20 in 44 columns; lanes that differ only before them share a row. All 40 in 64 columns.
func TestNewest(t *testing.T) {
	waiting := func(lanes uint64) []Wait { return []Wait{{Kind: Ready, Lanes: lanes}} }
	s := &Strip{Policy: "stack", WarpSize: 4, Blocks: []Block{{Letter: 'A'}, {Letter: 'B', First: 1, Last: 1}}, Program: []Place{{Line: 1}, {Line: 2, Block: 1}}}
	s.Warps = []*Warp{{Lanes: 0b111, Steps: 40, Runs: []Run{
		{First: 1, Steps: 5, Active: 0b011, Lanes: 0b011, Waits: waiting(0b100)},
		{First: 6, Steps: 20, Block: 1, From: 1, To: 1, Active: 0b001, Lanes: 0b001, Waits: waiting(0b110)},
		{First: 26, Steps: 15, Active: 0b111, Lanes: 0b111},
	}}}
	for width, want := range map[int]string{
		44: `
  steps 21 to 40; earlier steps are not shown
  step       21       30
  lane 0     BBBBBAAAAAAAAAAAAAAA
  lanes 1-2  ·····AAAAAAAAAAAAAAA
`,
		64: `
  step    1        10        20        30
  lane 0  AAAAABBBBBBBBBBBBBBBBBBBBAAAAAAAAAAAAAAA
  lane 1  AAAAA····················AAAAAAAAAAAAAAA
  lane 2  ·························AAAAAAAAAAAAAAA
`,
	} {
		var b strings.Builder
		Print(&b, Groups([]*Strip{s}), Screen{Width: width, Newest: true})
		_, got, _ := strings.Cut(b.String(), "average\n")
		got, _, _ = strings.Cut(got, "\nA: ")
		if want := strings.TrimPrefix(want, "\n"); got != want {
			t.Errorf("%d columns: (-want +got)\n%s", width, cmp.Diff(want, got))
		}
	}
	if first := s.Warps[0].Runs[0].First; first != 1 || s.Warps[0].Runs[1].Steps != 20 {
		t.Error("the strip has changed")
	}
}

// TestRestoreOtherFuture: a launch that takes another course after a restore does not change a later state.
func TestRestoreOtherFuture(t *testing.T) {
	r := NewRecorder(Options{})
	w := &Warp{Steps: 1, Runs: append(make([]Run, 0, 8), Run{First: 1, Steps: 1})} // with room for more runs
	s := &Strip{Warps: []*Warp{w}}
	r.running[nil] = s
	early := r.Save()
	add := func(block int) {
		w.Runs = append(w.Runs, Run{First: w.Steps + 1, Steps: 1, Block: block})
		w.Steps++
	}
	for range 3 {
		add(1)
	}
	late := r.Save()
	r.Restore(early)
	if w.Steps != 1 || len(w.Runs) != 1 {
		t.Errorf("after the restore: %+v", w)
	}
	add(2)
	r.Restore(late)
	if w.Steps != 4 || len(w.Runs) != 4 || w.Runs[1].Block != 1 {
		t.Errorf("after the second restore: %+v", w)
	}
}

// TestBlockText: blocks are named by labels to which a branch leads, and by their lines in the PTX and in the source.
func TestBlockText(t *testing.T) {
	const src = ".version 7.8\n.target sm_70\n.address_size 64\n.file 1 \"dir/k.cu\"\n.file 2 \"header.h\"\n" + `.visible .entry k(.param .u64 p)
{
	.reg .pred %p;
	.reg .u32 %t;
	.loc 2 9 1
	mov.u32 %t, %tid.x;
debug:
	.loc 1 3 1
	setp.eq.u32 %p, %t, 0;
	.loc 1 4 1
	@%p bra end;
	.loc 1 0 0
	add.u32 %t, %t, 1;
end:
	ret;
}
`
	own := func(f *ptx.Func, instr *ptx.Instr) (string, int) {
		l := &f.Locs[instr.Loc]
		if name := f.Module().FileName(l.File); name != "header.h" {
			return name, int(l.Line)
		}
		return "", 0
	}
	for i, want := range [][]string{
		{"A: line 11 (header.h:9)", "B: lines 14 to 16 (k.cu:3-4)", "C: line 18", "D end: line 20"},
		{"A: line 11", "B: lines 14 to 16 (k.cu:3-4)", "C: line 18", "D end: line 20"},
	} {
		o := Options{}
		if i == 1 {
			o.SourceOf = own
		}
		s, _ := launched(t, src, launch(4), "stack", o)
		var got []string
		for b := range s.Blocks {
			got = append(got, s.BlockText(b))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}
}
