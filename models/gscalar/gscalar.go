// Package gscalar models G-Scalar, the register file and the scalar execution of Liu, Gilani,
// Annavaram and Kim, HPCA 2017: registers compressed byte by byte as they are written, and
// instructions that one lane can execute for the warp because the encodings of their sources say
// so. It counts, and knows no time: what may execute as a scalar, what registers take, which
// arrays accesses activate.
//
// A Model is a probe of any number of launches. Beside the paper's file it keeps others on the same
// values: vectors as they are, a file of scalars, the base and differences of warped compression,
// halves, and affine tags before it. Each of them stores the lanes in its own way and, if
// Model.Verify says so, must give them back whenever an instruction reads them.
//
// docs/gscalar.md says what is counted, by which reading of the text, section by section.
package gscalar

import (
	"sync"

	"gemu/interp"
	"gemu/models"
	"gemu/ptx"
)

// SimilarityClass is by what accesses to vector registers are counted in figure 8: those of divergent
// instructions apart, the others by the bytes that lanes share.
type SimilarityClass int

// The kinds, from those that share least on, in the order of Enc.
const (
	Other SimilarityClass = iota
	OneByte
	TwoBytes
	ThreeBytes
	ScalarValue
	DivergentAccess
	similarities
)

// Accesses counts accesses to vector registers.
type Accesses [similarities]int64

// Total is all of them.
func (a *Accesses) Total() (n int64) {
	for _, k := range a {
		n += k
	}
	return n
}

func (a *Accesses) add(o *Accesses) {
	for i := range a {
		a[i] += o[i]
	}
}

// Scheme is what a way to store registers has counted.
type Scheme struct {
	Bytes      int64 // that writes have been stored in, those of divergent instructions whole
	FullWrites int64 // bytes of them as vectors
	Reads      int64 // accesses to registers
	Writes     int64
	Moves      int64 // that decompress a register before a divergent write to it

	// Of all of them, and of them of the moves:
	Arrays, MoveArrays int64 // activated, of 16 bytes
	Banks, MoveBanks   int64 // activated: accesses to one array or more
	Small, MoveSmall   int64 // accesses to the array with base values and encodings, or to the file of scalars
}

func (s *Scheme) add(o *Scheme) {
	s.Bytes += o.Bytes
	s.FullWrites += o.FullWrites
	s.Reads += o.Reads
	s.Writes += o.Writes
	s.Moves += o.Moves
	s.Arrays += o.Arrays
	s.MoveArrays += o.MoveArrays
	s.Banks += o.Banks
	s.MoveBanks += o.MoveBanks
	s.Small += o.Small
	s.MoveSmall += o.MoveSmall
}

// Eligible is how many instructions may execute as scalars, each counted once, as figure 9 has them.
type Eligible struct {
	ALU, SFU, Memory int64 // by the whole warp, not divergent
	Half             int64 // by at least one group of 16 lanes, and not by the whole warp
	Divergent        int64 // by the lanes of a divergent instruction
}

// Total is all of them.
func (n *Eligible) Total() int64 { return n.ALU + n.SFU + n.Memory + n.Half + n.Divergent }

func (n *Eligible) add(o *Eligible) {
	n.ALU += o.ALU
	n.SFU += o.SFU
	n.Memory += o.Memory
	n.Half += o.Half
	n.Divergent += o.Divergent
}

// Interpretation is a way to read what the paper leaves open about scalar execution.
type Interpretation int

// The readings: the first is the headline, each other differs from it in one thing.
const (
	Headline       Interpretation = iota
	WithControl                   // branches and control instructions are scalar if their predicate is
	NoConstants                   // instructions without a register as source are not
	SpecialByValue                // %tid and the like are scalar where the lanes agree
	NoPredicates                  // predicates as sources are left out of account
	LowWords                      // of 64-bit registers only the low word counts
	InterpretationCount
)

// String names the reading.
func (r Interpretation) String() string {
	return [...]string{"headline", "control instructions too", "constants not", "%tid by value", "predicates left out", "low words only"}[r]
}

// Counts is what launches with warps of one width have counted.
type Counts struct {
	Instructions int64 // by warps
	Divergent    int64 // of them, those that not all lanes execute
	ByValue      int64 // of these, those whose sources are the same in the lanes that do (figure 1)
	Eligible     [InterpretationCount]Eligible

	// Low words and 32-bit registers, and high words of wider ones.
	Reads, Writes [2]Accesses
	Schemes       [schemeCount][2]Scheme
}

// Add adds another's counts.
func (c *Counts) Add(o *Counts) {
	c.Instructions += o.Instructions
	c.Divergent += o.Divergent
	c.ByValue += o.ByValue
	for i := range c.Eligible {
		c.Eligible[i].add(&o.Eligible[i])
	}
	for high := range 2 {
		c.Reads[high].add(&o.Reads[high])
		c.Writes[high].add(&o.Writes[high])
		for i := range c.Schemes {
			c.Schemes[i][high].add(&o.Schemes[i][high])
		}
	}
}

// Scheme is what a scheme has counted of all words.
func (c *Counts) Scheme(i int) Scheme {
	s := c.Schemes[i][0]
	s.add(&c.Schemes[i][1])
	return s
}

// Energy is what the accesses of a scheme cost, in accesses to a whole register: an eighth for each
// array, with the moves or without.
func (s *Scheme) Energy(i int, moves bool) float64 {
	arrays, small := s.Arrays, s.Small
	if !moves {
		arrays, small = arrays-s.MoveArrays, small-s.MoveSmall
	}
	return float64(arrays)/8 + schemes[i].small*float64(small)
}

// Model counts launches. The zero value is one; it must not be copied.
type Model struct {
	// Verify has every scheme store the lanes, and give them back where they are read: a
	// difference stops the launch.
	Verify bool

	// File is the scheme that Keeps is about; zero means Bytewise.
	File int

	mu       sync.Mutex
	byWidth  map[int]*Counts // of CTAs that have ended, by lanes of a warp
	programs map[interp.Program]*program
	free     []*cta
}

// Name is "gscalar", or "combined" with affine tags.
func (m *Model) Name() string {
	if m.file() == Affine {
		return "combined"
	}
	return "gscalar"
}

func (m *Model) file() int {
	if m.File == Vectors {
		return Bytewise
	}
	return m.File
}

// Counts is what CTAs that have ended have counted, with warps of so many lanes.
func (m *Model) Counts(warp int) Counts {
	m.mu.Lock()
	defer m.mu.Unlock()
	if c := m.byWidth[warp]; c != nil {
		return *c
	}
	return Counts{}
}

// Subscription: results with the values of registers, and whose memory is accessed.
func (m *Model) Subscription() interp.Subscription {
	return interp.Subscription{
		Events: interp.OnAfter | interp.OnReturn | interp.OnWake | interp.OnCall | interp.OnCTAEnd,
		Values: true, Addresses: true,
	}
}

// OnEvent has nothing to do.
func (m *Model) OnEvent(*interp.Event) {}

// CTA has each CTA counted by itself.
func (m *Model) CTA(l *interp.LaunchInfo, _ int, _ interp.Dim3) interp.Sink {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.programs == nil {
		m.programs, m.byWidth = map[interp.Program]*program{}, map[int]*Counts{}
	}
	p := m.programs[l.Program]
	if p == nil {
		p = newProgram(l)
		m.programs[l.Program] = p
	}
	var c *cta
	if n := len(m.free); n > 0 {
		c, m.free = m.free[n-1], m.free[:n-1]
	} else {
		c = &cta{model: m}
	}
	c.begin(l, p)
	return c
}

// Save and Restore let it go back with a launch.
func (m *Model) Save() any {
	m.mu.Lock()
	defer m.mu.Unlock()
	return cloned(m.byWidth)
}

// Restore: see Save. The spare CTAs may be in flight again.
func (m *Model) Restore(state any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.byWidth, m.free = cloned(state.(map[int]*Counts)), nil
}

func cloned(counts map[int]*Counts) map[int]*Counts {
	n := map[int]*Counts{}
	for width, c := range counts {
		k := *c
		n[width] = &k
	}
	return n
}

// addCTA adds up what a CTA has counted.
func (m *Model) addCTA(c *cta) {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.byWidth[c.width]
	if t == nil {
		t = &Counts{}
		m.byWidth[c.width] = t
	}
	t.Add(&c.Counts)
	m.free = append(m.free, c)
}

// unit is what executes an instruction, as far as scalar execution goes.
type unit uint8

const (
	noUnit      unit = iota // never as a scalar: it crosses lanes, waits, or is atomic
	controlUnit             // only by WithControl
	aluUnit
	sfuUnit
	memoryUnit
)

// instr is what is known of an instruction before it executes.
type instr struct {
	unit
	control   bool // it goes by the lanes that are together, whatever its guard
	constants bool // no register is among its sources
	perLane   bool // a special register that differs between lanes is
}

// program is what is known of a kernel and what it calls.
type program struct {
	instrs  []instr
	offsets map[*ptx.Func][]int32 // of registers, in words; the last is how many there are
}

func newProgram(l *interp.LaunchInfo) *program {
	p := &program{offsets: map[*ptx.Func][]int32{}}
	for i := range l.Program.Len() {
		in, f := l.Program.At(i)
		if p.offsets[f] == nil {
			at := make([]int32, len(f.Regs)+1)
			for r := range f.Regs {
				at[r+1] = at[r] + int32(words(f.Regs[r].Type))
			}
			p.offsets[f] = at
		}
		n := instr{unit: unitOf(in), control: in.Form.Class == ptx.ClassControl, constants: true}
		for r := range in.Uses() {
			n.constants = n.constants && r == in.Guard.Reg
		}
		for k := range in.Ops {
			if o := &in.Ops[k]; o.Kind == ptx.SRegOperand && o.SReg.PerLane() {
				n.perLane = true
			}
		}
		p.instrs = append(p.instrs, n)
	}
	return p
}

// words is how many vector registers a register takes; a predicate has one here that is none.
func words(t ptx.Type) int { return max(1, t.Bits()/32) }

// unitOf is the unit of an instruction.
func unitOf(instr *ptx.Instr) unit {
	switch f := instr.Form; {
	case f.Effects.Any(ptx.CarryIn | ptx.Collective | ptx.Atomic | ptx.Async | ptx.Barrier):
		return noUnit
	case f.Family == ptx.FamilyLoad, f.Family == ptx.FamilyStore, f.Family == ptx.FamilyHint, f.Class == ptx.ClassTexture && !f.Effects.HasAll(ptx.Writes):
		return memoryUnit
	case f.Class == ptx.ClassInt, f.Class == ptx.ClassMul, f.Class == ptx.ClassFP, f.Class == ptx.ClassVideo:
		return aluUnit
	case f.Class == ptx.ClassSFU:
		return sfuUnit
	case f.Class == ptx.ClassControl && instr.Call == nil:
		return controlUnit
	}
	return noUnit
}

var _ models.Model = (*Model)(nil)
