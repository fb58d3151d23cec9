package simt

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"gemu/affinetrack"
	"gemu/internal/part"
	"gemu/interp/internal/alu"
	"gemu/interp/internal/code"
	"gemu/interp/internal/mem"
	"gemu/interp/internal/native"
	"gemu/regfile"
)

// checkRig is a rig beside its reference, in which something may be wrong.
type checkRig struct {
	*rig
	wrong func(f, ref *regfile.File, memory []byte)
}

// beside gives the program of a rig a reference, of the same instruction.
func (g *rig) beside() *checkRig {
	p := g.prog
	ref := &code.Program{Width: p.Width, Instrs: append([]code.Instr(nil), p.Instrs...), Blocks: append([]code.Block(nil), p.Blocks...), Sources: p.Sources, Tables: p.Tables, Consts: p.Consts}
	ref.Instrs[0].How = code.How{}
	ref.Funcs = []*code.Func{{Frame: rigFrame, Func: p.Funcs[0].Func}}
	ref.Link()
	p.Ref = ref
	return &checkRig{rig: g}
}

// on executes the instruction in both ways on a backend, and says what becomes of all.
func (g *checkRig) on(b Backend) (outcome string) {
	device := &Device{Memory: mem.NewMap(rigBase, 1<<20, func(n uint64) ([]byte, func(), error) { return make([]byte, n), func() {}, nil })}
	hit, err := device.Memory.Alloc(uint64(len(g.memory)), mem.Buffer, "")
	if err != nil {
		return err.Error()
	}
	copy(hit.Data, g.memory)
	k := NewKernel(rigModule, rigModule.Kernels()[0], g.prog)
	grid := &Grid{block: Dim3{X: 32, Y: 1, Z: 1}, threads: 32, sharedLen: 256, mode: Check, backend: b, dev: device, rules: affinetrack.Rules, code: k, ref: k.ref, reconverge: Reconvergers[0]}
	c := newCTA(grid)
	copy(c.sharedMem.Data, g.memory)
	c.hits = []*mem.Allocation{hit}
	w := &c.warps[0]
	w.live, w.stop, w.mask = uint64(g.live), -1, uint64(g.mask)
	w.frame, w.shown = &c.frame, &c.frame
	c.frame.fn = g.prog.Funcs[0]
	f, ref := &w.files[0], &w.check.files[0]
	f.Reset(rigFrame)
	ref.Reset(rigFrame)
	for i := range int32(rigFrame.R) {
		*f.Row32(i), *f.Shadow32(i) = *g.file.Row32(i), *g.file.Shadow32(i)
		for lane := range regfile.Lanes {
			ref.Row32(i)[lane] = uint32(laneOf(g.file, code.Row{Slot: code.R, Row: i}, lane))
		}
	}
	for i := range int32(rigFrame.Q) {
		*f.Row64(i), *f.Shadow64(i) = *g.file.Row64(i), *g.file.Shadow64(i)
		for lane := range regfile.Lanes {
			ref.Row64(i)[lane] = laneOf(g.file, code.Row{Slot: code.Q, Row: i}, lane)
		}
	}
	for i := range int32(rigFrame.P) {
		f.SetP(i, regfile.Full, g.file.Pred(i))
		ref.SetP(i, regfile.Full, g.file.Pred(i))
	}
	if g.wrong != nil {
		g.wrong(f, ref, hit.Data)
	}
	w.listen()
	why := c.runnerOf().run(w, 1)
	outcome = fmt.Sprintf("why %v at %d, error %v, changed %v", why, w.pc, w.err, c.changed)
	if t, ok := w.err.(*Trap); ok {
		return outcome + fmt.Sprintf(" lanes %#x notes %q", t.Lanes, t.Notes)
	}
	outcome += fmt.Sprintf("\ncounts %+v", w.count)
	for i := range int32(rigFrame.R) {
		outcome += fmt.Sprintf("\nr%d %x %+v", i, *f.Row32(i), *f.Shadow32(i))
		for lane := range regfile.Lanes {
			if g.live>>lane&1 != 0 {
				outcome += fmt.Sprintf(" %x", ref.Row32(i)[lane])
			}
		}
	}
	for i := range int32(rigFrame.Q) {
		outcome += fmt.Sprintf("\nq%d %x %+v", i, *f.Row64(i), *f.Shadow64(i))
		for lane := range regfile.Lanes {
			if g.live>>lane&1 != 0 {
				outcome += fmt.Sprintf(" %x", ref.Row64(i)[lane])
			}
		}
	}
	for i := range int32(rigFrame.P) {
		outcome += fmt.Sprintf("\np%d %x %x", i, f.Pred(i), ref.Pred(i)&g.live)
	}
	return outcome + fmt.Sprintf("\nmemory %x\nshared %x", hit.Data, c.sharedMem.Data)
}

// compare executes the instruction in check mode on both backends, as it is and with faults: both find the same.
func (r *rigs) compareChecked(t *testing.T, g *checkRig) bool {
	t.Helper()
	for range 3 {
		want, got := g.on(Portable), g.on(Native)
		if got != want {
			t.Errorf("%+v\nlanes %#x of %#x%s", g.prog.Instrs[0], g.mask, g.live, linesOf(g.before(), got, want))
			return false
		}
		lane, row, which, by := r.IntN(32), r.Int32N(6), r.IntN(6), r.Uint64()|1
		g.wrong = func(f, ref *regfile.File, memory []byte) {
			switch which {
			case 0:
				ref.Row32(row)[lane] ^= uint32(by)
			case 1:
				ref.Row64(row)[lane] ^= by
			case 2:
				f.Shadow32(row).Base ^= by & 0xffffffff
			case 3:
				f.Shadow64(row).Stride ^= by
			case 4:
				f.Row64(row)[lane] ^= by
			default:
				f.SetP(row%int32(rigFrame.P), 1<<lane, ^f.Pred(row%int32(rigFrame.P)))
			}
		}
	}
	return true
}

// TestCheckedKernels: operations that compute are checked by machine code as by Go: with the same results and counts, and
// the same found where something is wrong.
func TestCheckedKernels(t *testing.T) {
	if Native == nil {
		t.Skip("no machine code for this host")
	}
	r := &rigs{Rand: rand.New(rand.NewPCG(5, part.Seed(t)))}
	for op := code.Op(0); op < code.Count; op++ {
		s := op.Signature()
		if alu.Vec[op] == nil || s.Sources() == 0 || !native.Has(op) || r.IntN(part.Of(12, 4, 1)) > 0 {
			continue
		}
		for _, way := range append(waysOf(s), code.OnLanes) {
			for range part.Of(1, 2, 50) {
				if !r.compareChecked(t, r.kernel(op, way).beside()) {
					return
				}
			}
		}
	}
}

// TestCheckedAccesses: so are loads and stores.
func TestCheckedAccesses(t *testing.T) {
	if Native == nil {
		t.Skip("no machine code for this host")
	}
	r := &rigs{Rand: rand.New(rand.NewPCG(6, part.Seed(t)))}
	for range part.Of(200, 600, 100000) {
		if !r.compareChecked(t, r.access().beside()) {
			return
		}
	}
}
