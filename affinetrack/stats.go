package affinetrack

// Class is the structure of a value, of an address or of an instruction's execution.
type Class uint8

// The classes, from most to least structure; Unknown if there is nothing to classify.
const (
	Unknown Class = iota // nothing to classify
	Uniform              // every lane holds the same value
	Affine               // lane i holds base + i·stride, with a nonzero stride
	Generic              // neither uniform nor affine
)

func (c Class) String() string { return [...]string{"-", "u", "a", "g"}[c] }

// Class returns the class of a compact value.
func (v Value) Class() Class {
	if v.Uniform() {
		return Uniform
	}
	return Affine
}

// ClassCounts contains a count for each class.
type ClassCounts struct{ Uniform, Affine, Generic int64 }

// Count increments the count of c.
func (s *ClassCounts) Count(c Class) {
	switch c {
	case Uniform:
		s.Uniform++
	case Affine:
		s.Affine++
	case Generic:
		s.Generic++
	}
}

// Total returns the sum of the counts.
func (s ClassCounts) Total() int64 { return s.Uniform + s.Affine + s.Generic }

// Compact returns the count of uniform and affine values.
func (s ClassCounts) Compact() int64 { return s.Uniform + s.Affine }

// Add adds the counts of o.
func (s *ClassCounts) Add(o ClassCounts) {
	s.Uniform += o.Uniform
	s.Affine += o.Affine
	s.Generic += o.Generic
}

// Counts contains the counts of an instruction, or of all instructions, in a launch under a policy. An execution is the
// execution of an instruction by a warp.
type Counts struct {
	Execs    int64 // executions, including executions whose guard holds in no lane
	Lanes    int64 // active lanes, summed over the executions
	Diverged int64 // executions while other lanes of the warp were at another instruction

	// Label counts executions by their usable structure (Kim et al. figure 1). Arithmetic that executes compactly has the
	// least structured class among its operands and result; other arithmetic is generic. Loads and stores have the class
	// of their address. Control and barriers are uniform. Executions whose guard holds in no lane are not counted, except
	// control.
	Label ClassCounts

	Compact          int64 // executions whose results were all written compactly
	Suppressed       int64 // executions whose results could have been compact without divergence or a guard
	Materialisations int64 // compact values written to the lanes because some lanes were overwritten

	Branches int64 // executions of conditional branches
	Decided  int64 // executions of conditional branches that a compact predicate decided
	Affine   int64 // of Decided, the executions whose predicate is a comparison of an affine value

	Reads, Writes ClassCounts // register operands, without predicates
	Addresses     ClassCounts // of loads and stores
	Data          ClassCounts // loaded and stored values
}

// Add adds the counts of o.
func (c *Counts) Add(o *Counts) {
	c.Execs += o.Execs
	c.Lanes += o.Lanes
	c.Diverged += o.Diverged
	c.Label.Add(o.Label)
	c.Compact += o.Compact
	c.Suppressed += o.Suppressed
	c.Materialisations += o.Materialisations
	c.Branches += o.Branches
	c.Decided += o.Decided
	c.Affine += o.Affine
	c.Reads.Add(o.Reads)
	c.Writes.Add(o.Writes)
	c.Addresses.Add(o.Addresses)
	c.Data.Add(o.Data)
}

// Exceeds returns the name of a count that is more compact than in bound, which has the counts of the same executions
// under the ideal policy; "" if there is none.
func (c *Counts) Exceeds(bound *Counts) string {
	switch {
	case c.Reads.Compact() > bound.Reads.Compact():
		return "reads"
	case c.Writes.Compact() > bound.Writes.Compact():
		return "writes"
	case c.Addresses.Compact() > bound.Addresses.Compact():
		return "addresses"
	case c.Data.Compact() > bound.Data.Compact():
		return "data"
	case c.Compact+c.Suppressed > bound.Compact+bound.Suppressed:
		return "results"
	case c.Decided > bound.Decided:
		return "decided branches"
	}
	return ""
}
