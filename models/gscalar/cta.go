package gscalar

// This file models the registers of a CTA, and counts accesses to them.

import (
	"fmt"
	"math/bits"
	"slices"

	"gemu/machine/codec"
	"gemu/models"
	"gemu/probe"
	"gemu/ptx"
)

// register is a vector register, or a predicate. The paper's register EBR holds enc, and its register BVR holds the base
// value, or mask after a divergent write.
type register struct {
	written   bool // false: the value is unknown, and it is stored uncompressed
	divergent bool // the paper's bit D: only some lanes executed the last write, and enc describes these lanes
	enc       SharedBytes
	mask      uint64 // lanes of the last write, if it was divergent
	known     uint64 // lanes that were written in the current call of the function
	groups    uint8  // bit i: group i of 16 lanes is scalar; 0 after a divergent write

	codes codec.Word // of Encodings: the encoding by each method, of the last write that was not divergent

	images [schemeCount]image // the stored register, by scheme; unused for a predicate
}

// scalarity says in which sets of lanes the encodings of registers show equal values.
type scalarity struct {
	whole  bool  // in the whole warp
	lanes  bool  // in the lanes that execute the instruction
	groups uint8 // bit i: in group i of 16 lanes
}

var fullyScalar = scalarity{true, true, ^uint8(0)}

func (s scalarity) and(o scalarity) scalarity {
	return scalarity{s.whole && o.whole, s.lanes && o.lanes, s.groups & o.groups}
}

// scalar returns the scalarity of a register for an instruction that lanes execute.
func (r *register) scalar(lanes uint64) scalarity {
	switch {
	case !r.written || r.divergent && (r.enc != Scalar || r.mask != lanes):
		return scalarity{}
	case r.divergent:
		return scalarity{lanes: true}
	}
	return scalarity{r.enc == Scalar, r.enc == Scalar, r.groups}
}

// frame has the registers of a function in a call.
type frame struct {
	fn    *ptx.Func
	depth int        // call depth
	regs  []register // at program.offsets
}

// cta is the sink of a CTA: its registers and counts.
type cta struct {
	model *Model
	Counts
	*program
	width    int       // lanes of a warp
	allLanes uint64    // all lanes of a warp
	warps    [][]frame // by warp

	stored []int  // bytes of the registers that the last event has written
	value  vector // scratch space: the value that the instruction reads or writes
	other  vector // scratch space: the value that a scheme has stored
}

// begin prepares c, which may come from the pool, for a CTA.
func (c *cta) begin(l *probe.LaunchInfo, p *program) {
	c.Counts, c.width, c.allLanes = Counts{}, l.WarpSize, lowLanes(l.WarpSize)
	warps := (l.Block.Count() + c.width - 1) / c.width
	if c.program != p || len(c.warps) != warps {
		c.program, c.warps = p, make([][]frame, warps)
		return
	}
	for _, frames := range c.warps {
		for i := range frames {
			for r := range frames[i].regs {
				frames[i].regs[r].invalidate(c.allLanes)
			}
		}
	}
}

// Save returns the state of the CTA.
func (c *cta) Save() any {
	n := *c
	n.warps, n.stored = make([][]frame, len(c.warps)), slices.Clone(c.stored)
	for warp, frames := range c.warps {
		n.warps[warp] = slices.Clone(frames)
		for i := range frames {
			regs := slices.Clone(frames[i].regs)
			for r := range regs {
				for s := range regs[r].images {
					if im := &regs[r].images[s]; im.data != nil {
						data := *im.data
						im.data = &data
					}
				}
			}
			n.warps[warp][i].regs = regs
		}
	}
	return &n
}

// Restore sets the state that Save returned.
func (c *cta) Restore(state any) { *c = *state.(*cta).Save().(*cta) }

// invalidate makes the register's values in lanes unknown. The encoding of all other lanes becomes unknown, too.
func (r *register) invalidate(lanes uint64) {
	if r.known &^= lanes; r.known == 0 {
		r.written = false
		return
	}
	r.divergent, r.enc, r.mask = true, 0, 0
}

// frame returns the registers of a function at the event's call depth.
func (c *cta) frame(e *probe.Event, fn *ptx.Func) []register {
	list := c.warps[e.Warp]
	for i := range list {
		if list[i].fn == fn && list[i].depth == e.Depth {
			return list[i].regs
		}
	}
	offsets := c.offsets[fn]
	regs := make([]register, offsets[len(offsets)-1])
	if c.model.Verify {
		for i := range regs {
			for scheme := range regs[i].images {
				regs[i].images[scheme].data = new([4 * Lanes]byte)
			}
		}
	}
	c.warps[e.Warp] = append(list, frame{fn, e.Depth, regs})
	return regs
}

// OnEvent counts an instruction and its results.
func (c *cta) OnEvent(e *probe.Event) {
	switch e.Kind {
	case probe.OnCTAEnd:
		c.model.addCTA(c)
		return
	case probe.OnCall: // the values of an earlier call of the function are undefined
		regs := c.frame(e, e.Callee)
		for i := range regs {
			regs[i].invalidate(e.Lanes)
		}
		return
	case probe.OnAfter:
		if !c.model.encodings {
			c.execute(e)
		}
	}
	if models.HasResults(e) {
		c.stored = c.stored[:0]
		regs, offsets := c.frame(e, e.Func), c.offsets[e.Func]
		for i := range e.Writes {
			v := &e.Writes[i]
			c.stored = append(c.stored, c.write(regs[offsets[v.Reg]:offsets[v.Reg+1]], v, e.Lanes))
		}
	}
}

// StoredBytes returns the size in bytes of a result in the scheme Model.File.
func (c *cta) StoredBytes(_ *probe.Event, i int) int { return c.stored[i] }

// extractWord copies word i of each lane of a value to a vector. Word 0 is the lowest. Lanes that do not execute the
// instruction have undefined values.
func (c *cta) extractWord(v *probe.Value, i int, to *vector) {
	from := v.Low
	if i >= 2 {
		from = v.High
	}
	shift, mask := 32*(i&1), uint32(1<<min(v.Type.Bits(), 32)-1)
	for lane, x := range from[:c.width] {
		to[lane] = uint32(x>>shift) & mask
	}
}

// execute counts an instruction and its reads.
func (c *cta) execute(e *probe.Event) {
	in, lanes := &c.instrs[e.Index], e.Lanes
	if in.control {
		lanes = e.Active
	}
	c.Instructions++
	divergent := lanes != c.allLanes
	if divergent {
		c.Divergent++
	}
	if lanes == 0 {
		return
	}
	regs, offsets := c.frame(e, e.Func), c.offsets[e.Func]
	low, high, predicates, special := fullyScalar, fullyScalar, fullyScalar, fullyScalar
	uniform := true // each source has the same value in all executing lanes
	for i := range e.Reads {
		v := &e.Reads[i]
		for k := range words(v.Type) {
			r := &regs[offsets[v.Reg]+int32(k)]
			s := r.scalar(lanes)
			switch {
			case v.Type == ptx.Pred:
				predicates = predicates.and(s)
			case k == 0:
				low = low.and(s)
			default:
				high = high.and(s)
			}
			loaded := false
			if divergent && uniform || c.model.Verify {
				c.extractWord(v, k, &c.value)
				loaded = true
				uniform = uniform && encode(&c.value, lanes) == Scalar
			}
			if v.Type == ptx.Pred {
				continue
			}
			c.read(e, r, v, k, divergent, loaded)
		}
	}
	if in.perLane {
		special = c.resultScalarity(e, lanes)
		uniform = uniform && special.lanes
	}
	if g := e.Instr.Guard.Reg; in.control && g != ptx.NoReg {
		predicates = predicates.and(regs[offsets[g]].scalar(lanes))
	}
	if in.unit == noUnit || in.unit == memoryUnit && c.accessesOwnMemory(e) {
		return
	}
	if divergent && uniform && in.unit != controlUnit {
		c.ByValue++
	}
	for interpretation := range InterpretationCount {
		s := low
		if interpretation != LowWords {
			s = s.and(high)
		}
		if interpretation != NoPredicates {
			s = s.and(predicates)
		}
		switch {
		case in.perLane && interpretation != SpecialByValue,
			in.constants && interpretation == NoConstants,
			in.unit == controlUnit && interpretation != WithControl:
			continue
		case in.perLane:
			s = s.and(special)
		}
		n := &c.Eligible[interpretation]
		switch {
		case divergent:
			if s.lanes {
				n.Divergent++
			}
		case !s.whole:
			if s.groups&(1<<groups(c.width)-1) != 0 {
				n.Half++
			}
		case in.unit == sfuUnit:
			n.SFU++
		case in.unit == memoryUnit:
			n.Memory++
		default:
			n.ALU++
		}
	}
}

// resultScalarity returns the scalarity of the values that an instruction with a special register as source has written.
func (c *cta) resultScalarity(e *probe.Event, lanes uint64) scalarity {
	s := fullyScalar
	for i := range e.Writes {
		v := &e.Writes[i]
		for k := range words(v.Type) {
			c.extractWord(v, k, &c.value)
			if lanes != c.allLanes {
				s = s.and(scalarity{lanes: encode(&c.value, lanes) == Scalar})
				continue
			}
			whole := newShape(&c.value, c.width)
			s = s.and(scalarity{whole.enc == Scalar, false, whole.scalars()})
		}
	}
	return s
}

// accessesOwnMemory reports whether a memory instruction accesses memory that each thread has for itself: local memory,
// or the parameters of a call.
func (c *cta) accessesOwnMemory(e *probe.Event) bool {
	for i := range e.Accesses {
		a := &e.Accesses[i]
		if a.Lanes == 0 {
			return true
		}
		if space, _, _, _ := a.AllocationAt(a.Addr[bits.TrailingZeros64(a.Lanes)]); space == ptx.Local {
			return true
		}
	}
	// A load or store without accesses to memory is of a parameter of a call, which is in registers.
	family := e.Instr.Form.Family
	return len(e.Accesses) == 0 && (family == ptx.FamilyLoad || family == ptx.FamilyStore)
}

// read counts a read of word k of a register in all schemes, and verifies the schemes. loaded must be true if c.value
// already has the word.
func (c *cta) read(e *probe.Event, r *register, v *probe.Value, k int, divergent, loaded bool) {
	high := min(k, 1)
	kind := DivergentAccess
	switch {
	case divergent:
	case r.written && !r.divergent:
		kind = SimilarityClass(r.enc)
	default:
		if !loaded {
			c.extractWord(v, k, &c.value)
		}
		kind = SimilarityClass(encode(&c.value, c.allLanes))
	}
	c.Reads[high][kind]++
	for i := range schemes {
		s, im := &c.Schemes[i][high], &r.images[i]
		s.Reads++
		if !r.written {
			im.setRaw(c.width)
		}
		s.access(&schemes[i], im, im.arrays, c.width)
		if c.model.Verify && r.written {
			c.verify(e, r, v, i, k)
		}
	}
}

// access counts an access that activates a number of arrays.
func (s *Scheme) access(method *scheme, im *image, arrays, width int) {
	s.Arrays += int64(arrays)
	if arrays > 0 {
		s.Banks++
	}
	if method.smallWhen == smallAlways || method.smallWhen == smallForScalars && im.compressed(width) {
		s.Small++
	}
}

// verify compares the lanes that scheme i restores with the lanes of word k that the instruction reads, in c.value.
func (c *cta) verify(e *probe.Event, r *register, v *probe.Value, i, k int) {
	schemes[i].decompress(&r.images[i], &c.other, c.width)
	for m := e.Lanes & r.known; m != 0; m &= m - 1 {
		if lane := bits.TrailingZeros64(m); c.other[lane] != c.value[lane] {
			e.Stop(fmt.Errorf("BUG: %s: word %d of %s in lane %d: %s has stored %#x, and gives %#x", e.Instr.Pos, k, e.Func.Regs[v.Reg].Name, lane, schemes[i].name, c.value[lane], c.other[lane]))
			return
		}
	}
}

// write stores the words of a value that lanes have written, in all schemes. It returns the size in bytes of the registers
// in the scheme Model.File.
func (c *cta) write(regs []register, v *probe.Value, lanes uint64) (storedBytes int) {
	divergent := lanes != c.allLanes
	for k := range regs {
		r, high := &regs[k], min(k, 1)
		c.extractWord(v, k, &c.value)
		fresh := !r.written
		r.written, r.divergent, r.known = true, divergent, r.known|lanes
		r.mask, r.groups = lanes, 0
		var whole writeShape
		if divergent {
			r.enc = encode(&c.value, lanes)
		} else {
			whole = newShape(&c.value, c.width)
			r.enc, r.groups = whole.enc, whole.scalars()
		}
		if v.Type == ptx.Pred {
			continue
		}
		if c.model.encodings {
			if !divergent {
				r.codes = whole.codes()
			}
			continue
		}
		if divergent {
			c.Writes[high][DivergentAccess]++
		} else {
			c.Writes[high][r.enc]++
		}
		for i := range schemes {
			method, s, im := &schemes[i], &c.Schemes[i][high], &r.images[i]
			if fresh {
				im.setRaw(c.width)
			}
			s.Writes++
			s.FullWrites += int64(4 * c.width)
			if divergent {
				c.accessPartial(method, s, im, lanes)
			} else {
				im.setRaw(c.width)
				method.compress(im, &whole)
				s.access(method, im, im.arrays, c.width)
				if c.model.Verify {
					method.store(im, &c.value, c.width)
				}
			}
			s.Bytes += int64(im.bytes)
		}
		storedBytes += r.images[c.model.file()].bytes
	}
	return storedBytes
}

// accessPartial counts a write of some lanes of a register. A compressed register is decompressed first, which counts as a
// move.
func (c *cta) accessPartial(method *scheme, s *Scheme, im *image, lanes uint64) {
	if c.model.Verify {
		method.decompress(im, &c.other, c.width)
		for m := lanes; m != 0; m &= m - 1 {
			lane := bits.TrailingZeros64(m)
			c.other[lane] = c.value[lane]
		}
	}
	if im.compressed(c.width) {
		move := Scheme{}
		move.access(method, im, im.arrays, c.width)
		im.setRaw(c.width)
		move.access(method, im, im.arrays, c.width)
		s.Moves++
		s.Arrays, s.MoveArrays = s.Arrays+move.Arrays, s.MoveArrays+move.Arrays
		s.Banks, s.MoveBanks = s.Banks+move.Banks, s.MoveBanks+move.Banks
		s.Small, s.MoveSmall = s.Small+move.Small, s.MoveSmall+move.Small
	}
	im.setRaw(c.width)
	arrays := im.arrays
	if method.partial {
		arrays = countArrays(lanes)
	}
	s.access(method, im, arrays, c.width)
	if c.model.Verify {
		method.store(im, &c.other, c.width)
	}
}

// countArrays returns the number of arrays that hold at least one of lanes. An array holds four lanes.
func countArrays(lanes uint64) (n int) {
	for ; lanes != 0; lanes >>= arrayBytes / 4 {
		if lanes&(1<<(arrayBytes/4)-1) != 0 {
			n++
		}
	}
	return n
}
