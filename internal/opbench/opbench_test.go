package opbench

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"gemu/internal/oracle"
	"gemu/internal/part"
	"gemu/interp"
	"gemu/ptx"
)

// all lists the instructions once.
var all = sync.OnceValue(func() []Op { return List(func(string) bool { return true }) })

// in returns a function that chooses an engine and a mode.
func in(e interp.Engine, m interp.Mode) func(l *interp.Launch) {
	return func(l *interp.Launch) { l.Engine, l.Mode = e, m }
}

// TestEveryInstructionRuns: the kernels of a part of the list run, and have the same results in every mode on both engines
// as on the portable engine in vector mode, and as on the oracle where it runs them.
func TestEveryInstructionRuns(t *testing.T) {
	part.SkipShort(t)
	t.Parallel()
	every := part.Count(40, 15, 1)
	settings := []func(l *interp.Launch){in(interp.Portable, interp.Affine), in(interp.Portable, interp.Check)}
	if interp.Native.Available() {
		settings = append(settings, in(interp.Native, interp.Vector), in(interp.Native, interp.Affine), in(interp.Native, interp.Check))
	}
	compared := 0
	for i, op := range all() {
		if i%every != 0 {
			continue
		}
		k, err := op.Kernel()
		if err != nil {
			continue
		}
		r, err := k.Load()
		if err != nil {
			t.Error(err)
			continue
		}
		reference := in(interp.Portable, interp.Vector)
		for _, s := range settings {
			if equal, err := r.Compare(context.Background(), s, reference); err != nil || !equal {
				l := &interp.Launch{}
				s(l)
				t.Errorf("%s %s, engine %v, mode %v: equal: %v, %v", op.Variant.Text, op.Case, l.Engine, l.Mode, equal, err)
			}
		}
		if k.Images != "" || k.Map > 0 {
			continue
		}
		if _, err := r.Launch(context.Background(), Measured, 2, reference); err != nil {
			t.Fatal(err)
		}
		want, err := oracleResults(k, r.start())
		var unsupported *oracle.Unsupported
		if errors.As(err, &unsupported) {
			continue
		}
		compared++
		if got := r.Results(); err != nil || !bytes.Equal(got, want) && !mayDiffer(op) {
			t.Errorf("%s %s: %v; the oracle has other results: %v", op.Variant.Text, op.Case, err, !bytes.Equal(got, want))
		}
	}
	if compared < len(all())/every/2 {
		t.Errorf("%d instructions compared with the oracle, of %d", compared, len(all())/every)
	}
}

// mayDiffer reports whether the oracle may have other results: addresses differ between devices, and the oracle executes the
// lanes of contended atomics, and of the arrivals whose number an mbarrier's state has, in another order.
func mayDiffer(op Op) bool {
	return op.Variant.Form.Family == ptx.FamilyAtomic && op.Case == Uniform || slices.Contains([]ptx.Family{ptx.FamilyAlloca, ptx.FamilyStacksave, ptx.FamilyAddress, ptx.FamilyMapa, ptx.FamilyMbarrier}, op.Variant.Form.Family)
}

// oracleResults returns the buffers out and mem after two iterations on the oracle.
func oracleResults(k *Kernel, mem []byte) ([]byte, error) {
	m, err := ptx.Parse("op.ptx", []byte(k.Source))
	if err != nil {
		return nil, err
	}
	dev := oracle.NewDevice(oracle.Config{})
	loaded, err := dev.Load(m)
	if err != nil {
		return nil, err
	}
	var addresses [3]uint64
	for i, data := range [][]byte{k.Inputs, make([]byte, k.Output), mem} {
		if addresses[i], err = dev.Alloc(uint64(len(data))); err != nil {
			return nil, err
		}
		copy(dev.Bytes(addresses[i]), data)
	}
	l := &oracle.Launch{Kernel: Measured, Grid: [3]int{1, 1, 1}, Block: [3]int{32 * k.Warps, 1, 1}, MaxSteps: 200_000}
	for _, a := range addresses {
		l.Args = append(l.Args, binary.LittleEndian.AppendUint64(nil, a))
	}
	l.Args = append(l.Args, binary.LittleEndian.AppendUint32(nil, 2))
	if _, err := loaded.Run(context.Background(), l); err != nil {
		return nil, err
	}
	return slices.Concat(dev.Bytes(addresses[1])[:k.Output], dev.Bytes(addresses[2])[:Memory]), nil
}

// TestEveryFamilyIsMeasured: an instruction of each family is measured, or the family is listed here with a reason.
func TestEveryFamilyIsMeasured(t *testing.T) {
	part.SkipShort(t)
	exceptions := []ptx.Family{
		ptx.FamilyNone,                                  // gemu does not run it
		ptx.FamilyTrap, ptx.FamilyBrkpt, ptx.FamilyExit, // end the launch
		ptx.FamilyRet,                                                   // a part of call
		ptx.FamilyTryCancel, ptx.FamilyTensorAlloc, ptx.FamilyTensormap, // change state that the next copy needs
	}
	families, measured := map[ptx.Family]bool{}, map[string]bool{}
	for _, op := range all() {
		family, name := op.Variant.Form.Family, op.Variant.Op.Name
		if families[family] && measured[name] {
			continue
		}
		_, err := op.Kernel()
		families[family] = families[family] || err == nil
		measured[name] = measured[name] || err == nil
	}
	for f := range ptx.FamilyCount {
		if families[f] == slices.Contains(exceptions, f) {
			t.Errorf("family %d: measured: %v, an exception: %v", f, families[f], !families[f])
		}
	}
	var missing []string
	for name, ok := range measured {
		if !ok {
			missing = append(missing, name)
		}
	}
	slices.Sort(missing)
	if want := []string{"brkpt", "exit", "ret", "tensormap", "trap"}; !slices.Equal(missing, want) {
		t.Errorf("no form of %v is measured, want %v", missing, want)
	}
}

// TestOnlyCopiesAreMeasured: the kernels Measured and Empty differ by the copies of the instruction and of those measured
// with it, in each iteration.
func TestOnlyCopiesAreMeasured(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		opcode string
		with   int64 // instructions measured with a copy
	}{{"fma.rn.f32", 0}, {"ld.global.v4.b32", 0}, {"atom.shared.add.u32", 0}, {"mbarrier.inval.shared.b64", 0}, {"cp.async.ca.shared.global", 2}, {"call", 2}} {
		v, err := ptx.LookupVariant(c.opcode)
		if err != nil {
			t.Fatal(err)
		}
		k, err := Of(v)[0].Kernel()
		if err != nil {
			t.Fatal(err)
		}
		r, err := k.Load()
		if err != nil {
			t.Fatal(err)
		}
		counts := map[string]int64{}
		const n = 3
		for _, kernel := range []string{Measured, Empty} {
			if _, err := r.Launch(context.Background(), kernel, n, func(l *interp.Launch) { l.Probes = nil }); err != nil {
				t.Fatal(err)
			}
			counts[kernel] = r.executed
		}
		if got, want := counts[Measured]-counts[Empty], n*int64(k.Copies)*(1+c.with); got != want {
			t.Errorf("%s: %d more instructions than in the empty loop, want %d", c.opcode, got, want)
		}
		if n := strings.Count(k.Source, c.opcode+" "); n != k.Copies {
			t.Errorf("%s occurs %d times in its module, want %d", c.opcode, n, k.Copies)
		}
	}
}

// TestResultsAreStored: every register that a copy writes is stored by both kernels.
func TestResultsAreStored(t *testing.T) {
	part.SkipShort(t)
	every := part.Count(20, 15, 1)
	for i, op := range all() {
		if i%every != 0 {
			continue
		}
		k, err := op.Kernel()
		if err != nil {
			continue
		}
		m, err := ptx.Parse("op.ptx", []byte(k.Source))
		if err != nil {
			t.Fatal(err)
		}
		f := m.Kernels()[0]
		used := map[ptx.RegID]bool{}
		for _, b := range f.Blocks {
			for _, instr := range b.Instrs {
				if instr.Variant == op.Variant {
					continue
				}
				for r := range instr.Uses() {
					used[r] = true
				}
			}
		}
		for _, b := range f.Blocks {
			for _, instr := range b.Instrs {
				for r := range instr.Defs() {
					if name := f.Regs[r].Name; instr.Variant == op.Variant && strings.HasPrefix(name, "%y") && !used[r] {
						t.Errorf("%s: nothing uses %s", op.Variant.Text, name)
					}
				}
			}
		}
	}
}
