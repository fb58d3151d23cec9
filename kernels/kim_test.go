package kernels

// This file counts the value structure under the policies kim and fgsimt a second time. It is written from sections 4.1 to
// 4.3 of the paper, as a probe of PTX instructions. Its state of a register is whether it is compact, and its stride; all
// other properties are computed from the values of the lanes.

import (
	"math/bits"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gemu/affinetrack"
	"gemu/internal/part"
	"gemu/interp"
	"gemu/probe"
	"gemu/ptx"
)

// kimRegister is the state of a register in the affine register file.
type kimRegister struct {
	compact bool
	stride  int64
}

// kimPredicate is a predicate whose value is the same in lanes.
type kimPredicate struct {
	lanes  uint64
	holds  bool
	affine bool // it results from comparing an affine value
}

// kimCTA contains the affine register files of a CTA's warps.
type kimCTA struct {
	fgsimt     bool                        // "s = {1,2,4} for byte, halfword, and word accesses"; "only GP-SIMT supports more general affine branches"
	counts     map[int]*affinetrack.Counts // by Event.Index
	launched   map[int]uint64              // lanes of each warp
	registers  map[[2]int]kimRegister      // by warp and register
	predicates map[[2]int]kimPredicate     // by warp and register
}

// kimProbe counts the value structure of a launch. It processes the CTAs one after the other, so it needs no lock.
type kimProbe struct {
	fgsimt bool
	counts map[int]*affinetrack.Counts
}

func (p *kimProbe) Subscription() probe.Subscription {
	return probe.Subscription{Events: probe.OnWarp | probe.OnAfter, Values: true, InOrder: true}
}
func (p *kimProbe) OnEvent(*probe.Event) {}
func (p *kimProbe) CTA(*probe.LaunchInfo, int, ptx.Dim3) probe.Sink {
	return &kimCTA{p.fgsimt, p.counts, map[int]uint64{}, map[[2]int]kimRegister{}, map[[2]int]kimPredicate{}}
}

// sequence returns the stride of the values of lanes; ok is false if they are no arithmetic sequence modulo 2^width.
func sequence(values []uint64, lanes uint64, width int) (stride int64, ok bool) {
	first := bits.TrailingZeros64(lanes)
	if lanes&(lanes-1) == 0 {
		return 0, true
	}
	shift := 64 - width
	// If the first two lanes are not neighbours, the stride is taken to be their difference divided by their distance, which
	// must be an integer. These kernels have no other strides in diverged warps.
	second := bits.TrailingZeros64(lanes & (lanes - 1))
	delta, dist := int64((values[second]-values[first])<<shift)>>shift, int64(second-first)
	if stride = delta / dist; delta%dist != 0 {
		return 0, false
	}
	for lane := first; lane < 64; lane++ {
		if lanes>>lane&1 != 0 && (values[first]+uint64(lane-first)*uint64(stride))<<shift != values[lane]<<shift {
			return 0, false
		}
	}
	return stride, true
}

func (c *kimCTA) OnEvent(e *probe.Event) {
	if e.Kind == probe.OnWarp {
		c.launched[e.Warp] = e.Lanes
		return
	}
	n := c.counts[e.Index]
	if n == nil {
		n = &affinetrack.Counts{}
		c.counts[e.Index] = n
	}
	instr := e.Instr
	keep := e.Active == c.launched[e.Warp] && instr.Guard.Reg == ptx.NoReg
	n.Execs++
	n.Lanes += int64(bits.OnesCount64(e.Active))
	if e.Active != c.launched[e.Warp] {
		n.Diverged++
	}
	key := func(r ptx.RegID) [2]int { return [2]int{e.Warp, int(r)} }
	var sources []kimRegister
	all, uniform := true, true
	if e.Lanes != 0 {
		for i := range e.Reads {
			if e.Reads[i].Type == ptx.Pred { // the paper's eligible instructions include moves, but no logic and selections
				all = all && instr.Mnemonic() == "mov" && c.predicates[key(e.Reads[i].Reg)].lanes&e.Lanes == e.Lanes
				continue
			}
			r := c.registers[key(e.Reads[i].Reg)]
			n.Reads.Count(classOfRegister(r))
			sources = append(sources, r)
			all, uniform = all && r.compact, uniform && r.compact && r.stride == 0
		}
	}
	if instr.Form.Class == ptx.ClassControl {
		if instr.Guard.Reg != ptx.NoReg && instr.Form.Effects == ptx.Jumps {
			n.Branches++
			if p := c.predicates[key(instr.Guard.Reg)]; p.lanes&e.Active == e.Active {
				n.Decided++
				if p.affine {
					n.Affine++
				}
			}
		}
		return
	}
	if e.Lanes == 0 {
		return
	}
	space, _ := instr.Space()
	load, store := instr.Form.Affine == ptx.AffineLoad, instr.Form.Affine == ptx.AffineStore
	if load || store {
		base := kimRegister{compact: true}
		for i := range instr.Ops {
			if instr.Ops[i].Kind == ptx.AddrOperand && instr.Ops[i].Reg != ptx.NoReg {
				base = c.registers[key(instr.Ops[i].Reg)]
				size := int64(instr.Type().Bits() / 8 * max(1, instr.VecLen()))
				if store || c.fgsimt && base.stride != 0 && (base.stride != size || size > 4) {
					base = kimRegister{} // "affine memory operations are load instructions"
				}
			}
		}
		n.Addresses.Count(classOfRegister(base))
	}
	eligible := false           // the instruction can execute on the affine unit
	exact := func(i int) bool { // 2^amount divides the stride; the amount is a constant or the uniform register sources[i]
		amount := instr.Ops[2].Imm.Bits
		if i < len(sources) {
			amount = uint64(uint32(e.Reads[i].Low[bits.TrailingZeros64(e.Lanes)]))
		}
		return amount < 64 && sources[0].stride&(1<<amount-1) == 0
	}
	switch name := instr.Mnemonic(); name {
	case "mov":
		if s := instr.Ops[1].SReg; instr.Ops[1].Kind == ptx.SRegOperand {
			text := strings.TrimPrefix(s.String(), "%")
			kind, _, _ := strings.Cut(text, ".")
			eligible = slices.Contains([]string{"tid", "ntid", "ctaid", "nctaid"}, kind)
		} else {
			eligible = all
		}
	case "add", "sub", "cvt", "cvta":
		eligible = all && (uniform || instr.Form.Class != ptx.ClassFP)
	case "mul", "mad":
		affine := 0
		for i := range instr.Ops[1:3] {
			if o := &instr.Ops[1+i]; o.Kind == ptx.RegOperand && c.registers[key(o.Reg)].stride != 0 {
				affine++
			}
		}
		eligible = all && (uniform || affine < 2 && instr.Form.Class != ptx.ClassFP && !instr.Has("hi"))
	case "shl":
		eligible = all && (len(sources) < 2 || sources[1].stride == 0)
	case "shr":
		eligible = all && (len(sources) < 2 || sources[1].stride == 0) && (uniform || exact(1))
	case "fma", "neg", "abs", "min", "max", "ex2", "rcp", "sqrt", "rsqrt", "div", "setp":
		eligible = all && uniform && instr.Form.Class == ptx.ClassFP
	case "ld":
		eligible = space == ptx.Param
	}
	if len(e.Writes) > 0 && e.Writes[0].Type == ptx.Pred {
		switch {
		case instr.Mnemonic() != "setp":
		case all && uniform:
			eligible = true
		case all && instr.Form.Class == ptx.ClassInt && !c.fgsimt:
			eligible = farApart(e, instr)
		}
		p := c.predicates[key(e.Writes[0].Reg)]
		affine := slices.ContainsFunc(sources, func(r kimRegister) bool { return r.stride != 0 })
		switch value := e.Writes[0].Low[bits.TrailingZeros64(e.Lanes)] != 0; {
		case !eligible:
			p.lanes &^= e.Lanes
		case p.holds == value && p.lanes&^e.Lanes != 0:
			p.lanes, p.affine = p.lanes|e.Lanes, p.affine || affine
		default:
			p = kimPredicate{e.Lanes, value, affine}
		}
		c.predicates[key(e.Writes[0].Reg)] = p
		if eligible {
			n.Compact++
		}
		return
	}
	held := eligible && keep
	for i := range e.Writes {
		w := &e.Writes[i]
		slot := max(32, w.Type.Bits())
		stride, ok := sequence(w.Low, e.Lanes, slot)
		if ok = ok && stride == int64(int16(stride)); !ok {
			eligible, held = false, false
		}
		old := c.registers[key(w.Reg)]
		switch {
		case held:
			c.registers[key(w.Reg)] = kimRegister{true, stride}
			n.Writes.Count(classOfRegister(kimRegister{true, stride}))
			continue
		case old.compact && !keep:
			n.Materialisations++
		}
		c.registers[key(w.Reg)] = kimRegister{}
		n.Writes.Generic++
	}
	switch {
	case !eligible || len(e.Writes) == 0:
	case held:
		n.Compact++
	default:
		n.Suppressed++
	}
}

func classOfRegister(r kimRegister) affinetrack.Class {
	switch {
	case !r.compact:
		return affinetrack.Generic
	case r.stride == 0:
		return affinetrack.Uniform
	}
	return affinetrack.Affine
}

// farApart reports whether one of the two compared integers is uniform, and greater in all lanes or less in all lanes than
// the other.
func farApart(e *probe.Event, instr *ptx.Instr) bool {
	values := func(o *ptx.Operand) func(lane int) int64 {
		bitsOf := func(int) uint64 { return o.Imm.Bits }
		for i := range e.Reads {
			if o.Kind == ptx.RegOperand && e.Reads[i].Reg == o.Reg {
				bitsOf = func(lane int) uint64 { return e.Reads[i].Low[lane] }
			}
		}
		width := instr.Type().Bits()
		return func(lane int) int64 {
			if instr.Type().IsSigned() {
				return int64(bitsOf(lane)<<(64-width)) >> (64 - width)
			}
			return int64(bitsOf(lane) << (64 - width) >> (64 - width)) // none of these kernels compares unsigned 64-bit values
		}
	}
	a, b := values(instr.Arg("a")), values(instr.Arg("b"))
	below, above, constant := true, true, [2]bool{true, true}
	first := bits.TrailingZeros64(e.Lanes)
	for lane := range 64 {
		if e.Lanes>>lane&1 == 0 {
			continue
		}
		below, above = below && a(lane) < b(lane), above && a(lane) > b(lane)
		constant[0], constant[1] = constant[0] && a(lane) == a(first), constant[1] && b(lane) == b(first)
	}
	return (below || above) && (constant[0] || constant[1])
}

// TestPoliciesOfKimsMachines compares, instruction by instruction, the counts under the policies of the paper's two
// machines with the counts of kimProbe.
func TestPoliciesOfKimsMachines(t *testing.T) {
	part.SkipShort(t)
	for policy, reconverge := range map[string]string{"kim": "stack-wait", "fgsimt": "pc2-wait"} {
		t.Run(policy, func(t *testing.T) { testKim(t, policy, reconverge) })
	}
}

func testKim(t *testing.T, policy, reconverge string) {
	n := part.Count(9, 33, 100)
	for _, w := range All() {
		if !slices.Contains(w.Papers, "kim2013") {
			continue
		}
		t.Run(w.Name, func(t *testing.T) {
			t.Parallel()
			s := start(t, w.Name, interp.Config{}, min(n, 1+w.N/16))
			var observer *kimProbe
			check := func() {
				if observer == nil {
					return
				}
				r := s.Results[len(s.Results)-1]
				for i := range r.Structure.Instrs {
					instr := &r.Structure.Instrs[i]
					want, got := affinetrack.Counts{}, instr.Counts
					if c := observer.counts[i]; c != nil {
						want = *c
					}
					got.Label, got.Data = affinetrack.ClassCounts{}, affinetrack.ClassCounts{}
					if diff := cmp.Diff(want, got); diff != "" {
						t.Fatalf("%s, line %d, %s (-from values +got):\n%s", r.Kernel, instr.Pos.Line, instr.Format(instr.Func), diff)
					}
				}
			}
			s.Prepare = func(l *interp.Launch) {
				check()
				observer = &kimProbe{policy == "fgsimt", map[int]*affinetrack.Counts{}}
				l.Mode, l.Policy, l.Structure, l.Probes = interp.Vector, affinetrack.PolicyByName(policy), true, []probe.Probe{observer}
				l.Reconverge = interp.ReconvergerNamed(reconverge)
			}
			if err := w.Run(s); err != nil {
				t.Fatal(err)
			}
			check()
		})
	}
}
