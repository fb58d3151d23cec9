package catalog

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gemu/interp"
	"gemu/models"
	"gemu/models/avc"
	"gemu/probe"
	"gemu/ptx"
)

// savedKernel diverges in a loop, calls, and keeps values in private memory.
const savedKernel = `.version 8.0
.target sm_80
.address_size 64
.func (.reg .u32 %r) twice(.reg .u32 %a)
{
	add.u32 %r, %a, %a;
	ret;
}
.entry k(.param .u64 out)
{
	.reg .u32 %t, %i, %x, %y, %c, %n;
	.reg .u64 %p;
	.reg .pred %q;
	.local .align 8 .b8 depot[16];
	mov.u32 %t, %tid.x;
	mov.u32 %c, %ctaid.x;
	mov.u32 %x, 7;
	mov.u32 %i, 0;
	and.b32 %n, %t, 3;
	st.local.u32 [depot], %t;
LOOP:
	mad.lo.u32 %x, %x, 3, %i;
	st.local.u32 [depot+4], %x;
	add.u32 %i, %i, 1;
	ld.local.u32 %y, [depot];
	xor.b32 %x, %x, %y;
	setp.le.u32 %q, %i, %n;
	@%q bra LOOP;
	call (%x), twice, (%x);
	ld.local.u32 %y, [depot+4];
	add.u32 %x, %x, %y;
	bar.sync 0;
	ld.param.u64 %p, [out];
	mad.lo.u32 %t, %c, 48, %t;
	mad.wide.u32 %p, %t, 4, %p;
	st.global.u32 [%p], %x;
	ret;
}
`

// order is a probe that counts executions in one order, so that they can be continued to a step.
type order struct{}

func (order) Subscription() probe.Subscription {
	return probe.Subscription{Events: probe.AllEvents, InOrder: true}
}
func (order) OnEvent(*probe.Event)                            {}
func (order) CTA(*probe.LaunchInfo, int, ptx.Dim3) probe.Sink { return order{} }

// TestModelsOfSavedLaunch: models that are saved and restored with a launch, at any steps, end with the counts of an
// uninterrupted launch, after every restore.
func TestModelsOfSavedLaunch(t *testing.T) {
	for _, ctas := range []int{3, 40} {
		t.Run(fmt.Sprint(ctas), func(t *testing.T) { saved(t, ctas) })
	}
}

func saved(t *testing.T, ctas int) {
	dev := interp.NewDevice(interp.Config{})
	mod, err := dev.Load("k.ptx", []byte(savedKernel))
	if err != nil {
		t.Fatal(err)
	}
	output, err := dev.Alloc(4 * 48 * ctas)
	if err != nil {
		t.Fatal(err)
	}
	begin := func() (*interp.Execution, func() string) {
		t.Helper()
		var names []string
		for _, e := range Known {
			names = append(names, e.Name)
		}
		entries, err := Parse(strings.Join(names[:min(len(names), maxModels)], ","))
		if err != nil {
			t.Fatal(err)
		}
		side, recorder := Watch(entries), &avc.Recorder{Warps: 4}
		l := interp.Launch{
			Kernel: "k", Grid: ptx.Dim(1), Block: ptx.Dim(48), Args: []any{output}, Mode: interp.Vector, Reconverge: interp.ReconvergerNamed("stack"),
			Probes: []probe.Probe{side, recorder, order{}},
		}
		if _, err := mod.Run(t.Context(), &l); err != nil { // they have counted before
			t.Fatal(err)
		}
		l.Grid = ptx.Dim(ctas)
		e, err := mod.Start(&l)
		if err != nil {
			t.Fatal(err)
		}
		return e, func() string { return report(side, recorder) }
	}
	runToEnd := func(e *interp.Execution) {
		t.Helper()
		if ended, err := e.Continue(t.Context()); !ended || err != nil {
			t.Fatal(ended, err)
		}
	}
	runTo := func(e *interp.Execution, step int64) {
		t.Helper()
		if ended, err := e.ContinueTo(t.Context(), step); ended || err != nil {
			t.Fatal(ended, err)
		}
	}
	e, now := begin()
	runToEnd(e)
	want, steps := now(), e.Steps()
	if steps < 200 {
		t.Fatalf("%d steps", steps)
	}
	e, now = begin()
	defer e.Close()
	var states []*interp.State
	var atSave []string
	for i := range int64(7) {
		runTo(e, 1+i*(steps-2)/6)
		s, err := e.Save()
		if err != nil {
			t.Fatal(err)
		}
		states, atSave = append(states, s), append(atSave, now())
	}
	runToEnd(e)
	check := func(name, want string) {
		t.Helper()
		if diff := cmp.Diff(want, now()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	check("with pauses", want)
	for _, i := range []int{6, 0, 3, 3, 1, 5, 2, 4} {
		if err := e.Restore(states[i]); err != nil {
			t.Fatal(err)
		}
		check(fmt.Sprintf("state %d", i), atSave[i])
		if i == 0 { // and from the middle back once more
			runTo(e, steps/2)
			continue
		}
		runToEnd(e)
		check(fmt.Sprintf("from state %d", i), want)
	}
}

// report returns the complete output of models and a recorder.
func report(side *models.Comparison, recorder *avc.Recorder) string {
	s := ""
	for _, r := range side.Reports() {
		s += fmt.Sprintf("%+v\n", *r)
	}
	for _, n := range side.Instrs() {
		s += fmt.Sprintf("line %d: %d writes, %d bytes, stored %v, kept %v\n", n.Pos.Line, n.Writes, n.Bytes, n.Stored, n.Compressed)
	}
	for _, k := range recorder.Kernels() {
		s += fmt.Sprintf("%s: %+v\n", k.Name, k.Counts)
		for _, l := range k.Launches {
			for i, w := range l.Warps {
				s += fmt.Sprintf("warp %d of %d: %d instructions\n", i, l.PerCTA, w.Instructions)
				for a := range w.Accesses {
					v := w.Vector(&w.Accesses[a])
					s += fmt.Sprintf("%d %d %x %v: %v\n", w.Accesses[a].Step, w.Accesses[a].Word, w.Accesses[a].Mask, w.Accesses[a].Store, v)
				}
			}
		}
	}
	return s
}
