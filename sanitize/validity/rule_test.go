package validity

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"testing"

	"gemu/internal/part"
	"gemu/interp"
	"gemu/probe"
	"gemu/ptx"
)

// everyInstr is a probe that collects the computing operations of kernels.
type everyInstr struct{ ops map[string]probe.Operation }

func (p *everyInstr) Subscription() probe.Subscription {
	return probe.Subscription{Events: probe.OnCTA | probe.OnOperation, InOrder: true}
}

func (p *everyInstr) OnEvent(*probe.Event) {}

func (p *everyInstr) CTA(*probe.LaunchInfo, int, ptx.Dim3) probe.Sink { return (*everySink)(p) }

type everySink everyInstr

func (p *everySink) OnEvent(e *probe.Event) {
	if e.Kind != probe.OnCTA {
		return
	}
	for i := range e.Launch.Program.Len() {
		operations := e.Launch.Program.Operations(i)
		for _, o := range operations.Operations {
			if o.Kind == probe.OperationCompute {
				instr, _ := e.Launch.Program.At(i)
				p.ops[o.Name+" of "+instr.Text] = o
			}
		}
	}
}

// operations returns the computing operations of the instruction cases and the planted kernels.
var operations = sync.OnceValue(func() map[string]probe.Operation {
	p := &everyInstr{map[string]probe.Operation{}}
	for _, pattern := range []string{"../../testdata/insn/*.ptx", "../../testdata/sanitize/init/*.ptx"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			panic(fmt.Sprintf("%s: %v", pattern, err))
		}
		for _, file := range files {
			src, err := os.ReadFile(file)
			if err != nil {
				panic(err)
			}
			dev := interp.NewDevice(interp.Config{Probes: []probe.Probe{p}})
			mod, err := dev.Load(file, src)
			if err != nil {
				panic(err)
			}
			for _, k := range mod.Kernels() {
				args := make([]any, len(k.Params))
				for i := range args {
					args[i] = make([]byte, k.Params[i].Size())
				}
				// Most trap at their null pointers, once they have begun.
				mod.Run(context.Background(), &interp.Launch{Kernel: k.Name, Grid: ptx.Dim(1), Block: ptx.Dim(1), Args: args, MaxSteps: 1 << 10})
			}
		}
	}
	// Three variants of each name suffice; their modifiers differ.
	few, count := map[string]probe.Operation{}, map[string]int{}
	for _, name := range slices.Sorted(maps.Keys(p.ops)) {
		if o := p.ops[name]; count[o.Name] < 3 {
			count[o.Name]++
			few[name] = o
		}
	}
	return few
})

// TestValidityRules compares each rule with the operation itself. It gives some invalid source bits all values (or
// many): a result bit that changes must be invalid. For positional rules, a bit that never changes must be
// valid.
func TestValidityRules(t *testing.T) {
	part.SkipShort(t)
	ops := operations()
	if len(ops) < 400 {
		t.Fatalf("only %d operations", len(ops))
	}
	kinds, copies := map[dependence]int{}, 0
	for name, o := range ops {
		if o.Cmp != 0 {
			continue
		}
		r := ruleOf(&o)
		kinds[r.dependence]++
		rnd := rand.New(rand.NewPCG(3, 4))
		tr := ruleTrial{o: &o, outBits: outBits(&o), rnd: rnd}
		n := min(len(o.Sources), 4)
		for i := range n {
			tr.inBits[i] = o.Sources[i].Bits
		}
		same := n == 1 // as far as the values below show: the result is the source
		for range 60 {
			v := [4]uint64{tr.value(0)}
			same = same && tr.compute(&v) == v[0]&lowBits(tr.outBits)
		}
		if r.copies != (same && r.dependence == positional) {
			t.Errorf("%s: copies is %v", name, r.copies)
		} else if same {
			copies++
		}
		for range 60 {
			var v, inv [4]uint64
			invalid := 0
			for i := range n {
				switch {
				case o.Sources[i].Kind == probe.ConstantOperand:
					v[i] = o.Sources[i].Value
				case rnd.IntN(3) == 0:
					v[i] = rnd.Uint64N(80) & lowBits(tr.inBits[i])
				default:
					v[i] = tr.value(i)
				}
				if o.Sources[i].Kind != probe.ConstantOperand && rnd.IntN(2) == 0 {
					for range 1 + rnd.IntN(3) { // few, so that all values can be tried
						inv[i] |= 1 << rnd.IntN(tr.inBits[i])
					}
					for m := inv[i]; m != 0; m &= m - 1 {
						invalid++
					}
				}
			}
			if invalid == 0 {
				continue
			}
			said, _ := r.invalid(&o, &v, &inv)
			changes := uint64(0)
			first := tr.compute(&v)
			for c := range 1 << invalid {
				w, k := v, 0
				for i := range n {
					for m := inv[i]; m != 0; m &= m - 1 {
						w[i] ^= (m & -m) * uint64(c>>k&1)
						k++
					}
				}
				changes |= tr.compute(&w) ^ first
			}
			if changes&^said != 0 {
				t.Fatalf("%s: sources %#x of which %#x are invalid: bits %#x of the result change, said to be invalid are %#x, by %+v", name, v, inv, changes, said, r)
			}
			controlled := false
			for i := range n {
				controlled = controlled || r.control>>i&1 != 0 && inv[i] != 0
			}
			if r.dependence == positional && !controlled && said != changes {
				t.Fatalf("%s: sources %#x of which %#x are invalid: bits %#x of the result change, and %#x are said to be invalid, by %+v", name, v, inv, changes, said, r)
			}
		}
	}
	t.Logf("%d operations: %v, %d copies", len(ops), kinds, copies)
	if copies == 0 {
		t.Error("no operation is a copy")
	}
}

// TestPreciseValidityRules checks the rules of the operations with a rule more precise than anyToAll.
func TestPreciseValidityRules(t *testing.T) {
	part.SkipShort(t)
	want := []struct{ name, says string }{
		{`^(and|or|xor|not)\.(b16|b32|b64|pred)$`, "positional, control 0"},
		{`^lop3\.b32$`, "positional, control 0"},
		{`^(shl|shr)\.[bsu](16|32|64)$`, "positional, control 10"},
		{`^shf\.[lr]\.(wrap|clamp)\.b32$`, "positional, control 100"},
		{`^brev\.b(32|64)$`, "positional, control 0"},
		{`^selp\.(b16|b32|b64)$`, "positional, control 0"}, // the predicate is one bit
		{`^bfe\.[su](32|64)$`, "positional, control 110"},
		{`^bfi\.b(32|64)$`, "positional, control 1100"},
		{`^prmt\.b32$`, "positional, control 100"},
		{`^(add|sub)\.[su](16|32|64)$`, "upwards"},
		{`^neg\.s(16|32|64)$`, "upwards"},
		{`^(mul|mad)\.lo\.[su](16|32|64)$`, "upwards"},
		{`^(mul|mad)\.wide\.[su](16|32)$`, "upwards"},
		{`^(add|mul|fma)\.any\.b?f16x2$`, "in blocks of 16"},
		{`^(mul\.hi|div|rem|min|max)\.[su](16|32|64)$`, "any to all"},
		{`^(add|mul|fma)\.rn\.f(32|64)$`, "any to all"},
		{`^(popc|clz)\.b(32|64)$`, "any to all"},
		{`^add\.sat\.s32$`, "any to all"},
	}
	seen := make([]int, len(want))
	for text, o := range operations() {
		for i, w := range want {
			if !regexp.MustCompile(w.name).MatchString(o.Name) {
				continue
			}
			seen[i]++
			if got := ruleOf(&o).String(); got != w.says {
				t.Errorf("%s: %s, want %s", text, got, w.says)
			}
		}
	}
	for i, w := range want {
		if seen[i] == 0 {
			t.Errorf("no operation %s", w.name)
		}
	}
}

// String formats the rule.
func (r rule) String() string {
	switch r.dependence {
	case positional:
		return fmt.Sprintf("positional, control %b", r.control)
	case fromBelow:
		return "upwards"
	case inBlocks:
		return fmt.Sprintf("in blocks of %d", r.block)
	case anyToAll:
		return "any to all"
	}
	return "unknown"
}
