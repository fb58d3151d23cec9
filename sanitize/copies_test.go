package sanitize_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gemu/internal/part"
	"gemu/interp"
	"gemu/probe"
	"gemu/ptx"
	"gemu/sanitize"
)

// randomCopies returns a kernel with cp.async, accesses to shared memory, waits and barriers, some of which are missing. All copies
// write 16 bytes for each thread of two warps, into one of four buffers.
func randomCopies(r *rand.Rand) string {
	var b strings.Builder
	b.WriteString(`.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p)
{
	.reg .u32 %i, %a, %n, %x, %s; .reg .u64 %p, %q; .reg .pred %h, %g;
	.shared .align 16 .b8 s[4096];
	ld.param.u64 %p, [p];
	mov.u32 %s, s; mov.u32 %i, %tid.x; setp.lt.u32 %h, %i, 32; setp.lt.u32 %g, %i, 7;
	mul.wide.u32 %q, %i, 16; add.u64 %q, %q, %p;
`)
	for range 24 {
		guard := [...]string{"", "", "", "", "@%h ", "@!%h ", "@%g "}[r.IntN(7)]
		buffer := 1024 * r.IntN(4)
		swizzle := [...]int{0, 0, 0, 1, 32, 5}[r.IntN(6)]
		address := fmt.Sprintf("xor.b32 %%a, %%i, %d; mad.lo.u32 %%a, %%a, 16, %%s;", swizzle)
		if r.IntN(12) == 0 {
			address = "shr.u32 %a, %i, 1; mad.lo.u32 %a, %a, 16, %s;" // two lanes with a target
		}
		switch r.IntN(12) {
		case 0, 1, 2:
			fmt.Fprintf(&b, "%s\n%scp.async.ca.shared.global [%%a+%d], [%%q+%d], 16;\n", address, guard, buffer, buffer)
		case 3:
			fmt.Fprintf(&b, "%s mov.u32 %%n, %d;\n%scp.async.ca.shared.global [%%a+%d], [%%q], 16, %%n;\n", address, 4*r.IntN(5), guard, buffer)
		case 4, 5:
			fmt.Fprintf(&b, "%scp.async.commit_group;\n", guard)
		case 6:
			fmt.Fprintf(&b, "%scp.async.wait_group %d;\n", guard, r.IntN(3))
		case 7:
			fmt.Fprintf(&b, "%s\n", [...]string{"cp.async.wait_all;", "bar.warp.sync -1;"}[r.IntN(2)])
		case 8, 9:
			n := 1
			if r.IntN(16) == 0 {
				n = 40 // more than race keeps lists of accesses for pending copies
			}
			for range n {
				fmt.Fprintf(&b, "bar.sync 0;\n%s\n%sst.shared.u32 [%%a+%d], %%x;\nbar.sync 0;\n", address, guard, buffer)
			}
		case 10:
			fmt.Fprintf(&b, "%s\n%sld.shared.u32 %%x, [%%a+%d];\n", address, guard, buffer)
		default:
			fmt.Fprintf(&b, "%s\n%sst.shared.u32 [%%a+%d], %%x;\n", address, guard, buffer)
		}
	}
	b.WriteString("\tst.global.u32 [%p], %x;\n\tret;\n}\n")
	return b.String()
}

// laneByLane is a probe of effects that does not receive the copies of a warp's lanes together.
type laneByLane struct{}

func (laneByLane) Subscription() probe.Subscription {
	return probe.Subscription{Events: probe.OnEffect}
}
func (s laneByLane) CTA(*probe.LaunchInfo, int, ptx.Dim3) probe.Sink { return s }
func (laneByLane) OnEvent(*probe.Event)                              {}

// TestCopiesTogether compares the findings of all sanitizers in random kernels with cp.async: with the copies of a warp's lanes
// together and lane by lane; and on both engines, with late and early effects. Which of two unordered copies comes first, and how
// often, depends on the order of the effects.
func TestCopiesTogether(t *testing.T) {
	part.SkipShort(t)
	tools, err := sanitize.Parse("all")
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]int{}
	for seed := range uint64(part.Count(10, 25, 1200)) {
		src := randomCopies(rand.New(rand.NewPCG(seed, 1)))
		found := func(eager bool, engine interp.Engine, more ...probe.Probe) string {
			s := sanitize.New(tools, sanitize.Options{})
			d := interp.NewDevice(interp.Config{Workers: 1, Probes: append(s.Probes, more...)})
			mod, err := d.Load("k.ptx", []byte(src))
			if err != nil {
				t.Fatal(err)
			}
			b, err := d.Alloc(8192)
			if err != nil {
				t.Fatal(err)
			}
			if seed%2 == 0 {
				err = b.Write(0, make([]byte, 4096)) // the rest is unwritten
			}
			if err == nil {
				_, err = mod.Run(t.Context(), &interp.Launch{Grid: ptx.Dim(2), Block: ptx.Dim(64), Args: []any{b}, Mode: interp.Vector, Engine: engine, EagerEffects: eager})
			}
			if err != nil {
				t.Fatal(err)
			}
			s.Finish()
			var lines []string
			for _, f := range s.Findings() {
				first, second := f.Place.Line, f.Place.Line
				if f.OtherPlace != nil {
					second = f.OtherPlace.Line
				}
				lines = append(lines, fmt.Sprintf("%s %s %d %d", f.Tool, f.Kind, min(first, second), max(first, second)))
				kinds[f.Tool+" "+f.Kind]++
			}
			slices.Sort(lines)
			return strings.Join(slices.Compact(lines), "\n")
		}
		for _, eager := range []bool{false, true} {
			together := found(eager, interp.Portable)
			if !eager { // early effects are always those of single lanes
				if single := found(eager, interp.Portable, laneByLane{}); together != single {
					t.Fatalf("seed %d: together\n%s\nlane by lane\n%s\n%s", seed, together, single, src)
				}
			}
			if interp.Native.Available() {
				if native := found(eager, interp.Native); native != together {
					t.Fatalf("seed %d, early effects %v: on the native engine\n%s\non the portable engine\n%s\n%s", seed, eager, native, together, src)
				}
			}
		}
	}
	for _, kind := range []string{"race write after read", "race read after write", "race write after write"} {
		if kinds[kind] == 0 {
			t.Errorf("no finding %q", kind)
		}
	}
	t.Log(kinds)
}
