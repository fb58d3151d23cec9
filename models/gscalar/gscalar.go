package gscalar

import (
	"sync"

	"gemu/models"
	"gemu/probe"
	"gemu/ptx"
)

// SimilarityClass is a class of accesses to vector registers in figure 8. Accesses by divergent instructions form one
// class. All other accesses are classified by the number of high bytes that the lanes share.
type SimilarityClass int

// The classes, from the fewest shared bytes on, in the order of SharedBytes.
const (
	Other           SimilarityClass = iota // the lanes share no byte
	OneByte                                // the lanes share the highest byte
	TwoBytes                               // the lanes share the two highest bytes
	ThreeBytes                             // the lanes share the three highest bytes
	ScalarValue                            // the lanes share all four bytes
	DivergentAccess                        // the instruction is divergent
	similarities
)

// Accesses counts accesses to vector registers by class.
type Accesses [similarities]int64

// Total returns the number of accesses.
func (a *Accesses) Total() (n int64) {
	for _, accesses := range a {
		n += accesses
	}
	return n
}

func (a *Accesses) add(o *Accesses) {
	for i := range a {
		a[i] += o[i]
	}
}

// Scheme has the counts of one scheme.
type Scheme struct {
	Bytes      int64 // stored by writes; a divergent write counts the whole register
	FullWrites int64 // bytes that these writes would store without compression
	Reads      int64 // accesses to registers
	Writes     int64 // writes of registers, without moves
	Moves      int64 // decompressions of a register before a divergent write to it

	// In each pair of fields, the first counts all accesses, and the second only the accesses by moves.
	Arrays, MoveArrays int64 // activated arrays of 16 bytes
	Banks, MoveBanks   int64 // activated banks: accesses to at least one array
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

// Eligible counts instructions that may execute as scalars, each once, as in figure 9.
type Eligible struct {
	ALU, SFU, Memory int64 // in the whole warp, not divergent
	Half             int64 // in at least one group of 16 lanes, but not in the whole warp
	Divergent        int64 // in the lanes of a divergent instruction
}

// Total returns the number of instructions.
func (n *Eligible) Total() int64 { return n.ALU + n.SFU + n.Memory + n.Half + n.Divergent }

func (n *Eligible) add(o *Eligible) {
	n.ALU += o.ALU
	n.SFU += o.SFU
	n.Memory += o.Memory
	n.Half += o.Half
	n.Divergent += o.Divergent
}

// Interpretation is a choice for a point about scalar execution that the paper does not define.
type Interpretation int

// The interpretations. Each interpretation after Headline differs from Headline in one point.
const (
	Headline       Interpretation = iota
	WithControl                   // branches and control instructions are scalar if their predicate is
	NoConstants                   // instructions without a register source are not scalar
	SpecialByValue                // special registers such as %tid are scalar if the lanes have the same value
	NoPredicates                  // predicate sources are ignored
	LowWords                      // only the low word of a 64-bit register counts
	InterpretationCount
)

// String returns the name of the interpretation.
func (r Interpretation) String() string {
	return [...]string{"headline", "control instructions too", "constants not", "%tid by value", "predicates left out", "low words only"}[r]
}

// Counts are the counts of launches with warps of one width.
type Counts struct {
	Instructions int64                         // executed by warps
	Divergent    int64                         // instructions that not all lanes execute
	ByValue      int64                         // divergent instructions whose sources are the same in the active lanes (figure 1)
	Eligible     [InterpretationCount]Eligible // instructions that may execute as scalars, by interpretation

	// Index 0 is for registers up to 32 bits and the lowest word of wider registers, index 1 for all higher words.
	Reads, Writes [2]Accesses
	Schemes       [schemeCount][2]Scheme // by scheme; the second index as for Reads
}

// Add adds the counts of o.
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

// Scheme returns the counts of a scheme for all words.
func (c *Counts) Scheme(i int) Scheme {
	s := c.Schemes[i][0]
	s.add(&c.Schemes[i][1])
	return s
}

// Energy returns the energy of the accesses in scheme i. The unit is the energy of an access to a whole register: an
// access to an array has an eighth of it. Accesses of moves are included if moves is set.
func (s *Scheme) Energy(i int, moves bool) float64 {
	arrays, small := s.Arrays, s.Small
	if !moves {
		arrays, small = arrays-s.MoveArrays, small-s.MoveSmall
	}
	return float64(arrays)/8 + schemes[i].small*float64(small)
}

// Model counts launches. The zero value is ready to use. A Model must not be copied. It is safe for concurrent use.
type Model struct {
	// Verify makes every scheme store the lanes and compares them with the values that instructions read. A
	// difference stops the launch.
	Verify bool

	// File is the scheme whose sizes StoredBytes returns; zero means Bytewise.
	File int

	encodings bool // the model is that of Encodings: it counts nothing, and registers have no images

	mu       sync.Mutex
	byWidth  map[int]*Counts // counts of ended CTAs, by lanes of a warp
	programs map[probe.Program]*program
	free     []*cta
}

// Name returns "gscalar", or "combined" if File is Affine.
func (m *Model) Name() string {
	if m.file() == Affine {
		return "combined"
	}
	return "gscalar"
}

// file returns the scheme whose sizes StoredBytes returns.
func (m *Model) file() int {
	if m.File == Vectors {
		return Bytewise
	}
	return m.File
}

// Counts returns the counts of ended CTAs with warps of the given width.
func (m *Model) Counts(warp int) Counts {
	m.mu.Lock()
	defer m.mu.Unlock()
	if c := m.byWidth[warp]; c != nil {
		return *c
	}
	return Counts{}
}

// Subscription returns the events with register values, with the addresses of memory accesses.
func (m *Model) Subscription() probe.Subscription {
	return probe.Subscription{
		Events: probe.OnAfter | probe.OnReturn | probe.OnWake | probe.OnCall | probe.OnCTAEnd,
		Values: true, Addresses: true,
	}
}

// OnEvent does nothing: all events of interest are events of CTAs.
func (m *Model) OnEvent(*probe.Event) {}

// CTA makes a sink that counts a CTA.
func (m *Model) CTA(l *probe.LaunchInfo, _ int, _ ptx.Dim3) probe.Sink {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.programs == nil {
		m.programs, m.byWidth = map[probe.Program]*program{}, map[int]*Counts{}
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

// Save returns the counts.
func (m *Model) Save() any {
	m.mu.Lock()
	defer m.mu.Unlock()
	return cloned(m.byWidth)
}

// Restore sets the counts that Save returned. It drops the pooled CTAs, which may be in flight again.
func (m *Model) Restore(state any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.byWidth, m.free = cloned(state.(map[int]*Counts)), nil
}

func cloned(counts map[int]*Counts) map[int]*Counts {
	n := map[int]*Counts{}
	for width, c := range counts {
		copied := *c
		n[width] = &copied
	}
	return n
}

// addCTA adds the counts of a CTA that has ended to the model, and puts the sink c back into the pool.
func (m *Model) addCTA(c *cta) {
	m.mu.Lock()
	defer m.mu.Unlock()
	total := m.byWidth[c.width]
	if total == nil {
		total = &Counts{}
		m.byWidth[c.width] = total
	}
	total.Add(&c.Counts)
	m.free = append(m.free, c)
}

// unit is the kind of execution unit for an instruction.
type unit uint8

const (
	noUnit      unit = iota // never scalar: it crosses lanes, waits, or is atomic
	controlUnit             // scalar under WithControl only
	aluUnit
	sfuUnit
	memoryUnit
)

// instr has the static facts about an instruction.
type instr struct {
	unit
	control   bool // a control instruction: all active lanes execute it, also if its guard does not hold
	constants bool // no source is a register
	perLane   bool // a source is a special register that can differ between lanes
}

// program has the static facts about a kernel and its callees.
type program struct {
	instrs  []instr               // by Event.Index
	offsets map[*ptx.Func][]int32 // by RegID: the offset of the register's words in frame.regs; the last entry is the length of regs
}

func newProgram(l *probe.LaunchInfo) *program {
	p := &program{offsets: map[*ptx.Func][]int32{}}
	for i := range l.Program.Len() {
		in, f := l.Program.At(i)
		if p.offsets[f] == nil {
			offsets := make([]int32, len(f.Regs)+1)
			for r := range f.Regs {
				offsets[r+1] = offsets[r] + int32(words(f.Regs[r].Type))
			}
			p.offsets[f] = offsets
		}
		n := instr{unit: unitOf(in), control: in.Form.Class == ptx.ClassControl, constants: true}
		for r := range in.Uses() {
			n.constants = n.constants && r == in.Guard.Reg
		}
		for i := range in.Ops {
			if operand := &in.Ops[i]; operand.Kind == ptx.SRegOperand && operand.SReg.PerLane() {
				n.perLane = true
			}
		}
		p.instrs = append(p.instrs, n)
	}
	return p
}

// words returns the number of vector registers (words of 32 bits in each lane) of a register of type t. It returns 1 for a
// predicate, too, which is not in a vector register.
func words(t ptx.Type) int { return max(1, t.Bits()/32) }

// unitOf returns the unit of an instruction.
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
