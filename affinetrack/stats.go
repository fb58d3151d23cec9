package affinetrack

// Class is the structure of a value, an address or the execution of an
// instruction.
type Class uint8

// The classes, from most to least structure; Unknown where there is nothing to
// classify.
const (
	Unknown Class = iota
	Uniform
	Affine
	Generic
)

func (c Class) String() string { return [...]string{"-", "u", "a", "g"}[c] }

// Class is the class of a compact value.
func (v Value) Class() Class {
	if v.Uniform() {
		return Uniform
	}
	return Affine
}

// ClassCounts counts by class.
type ClassCounts struct{ Uniform, Affine, Generic int64 }

// Count adds one.
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

// Total is the number counted.
func (s ClassCounts) Total() int64 { return s.Uniform + s.Affine + s.Generic }

// Compact is the number that was uniform or affine.
func (s ClassCounts) Compact() int64 { return s.Uniform + s.Affine }

// Add adds another's counts.
func (s *ClassCounts) Add(o ClassCounts) {
	s.Uniform += o.Uniform
	s.Affine += o.Affine
	s.Generic += o.Generic
}

// Counts is what a launch counts of one instruction, or of all, under a policy.
// Executions are those by a warp.
type Counts struct {
	Execs    int64 // executions, also those in which a guard kept back all lanes
	Lanes    int64 // active lanes, summed over them
	Diverged int64 // executions while lanes of the warp were elsewhere

	// Label counts executions by what they can exploit (Kim et al. figure 1):
	// arithmetic is as uniform or affine as its operands and result together if it
	// executes compactly and generic otherwise, loads and stores are as their
	// addresses, control and barriers are uniform. Executions in which a guard kept
	// back all lanes are left out, but for control.
	Label ClassCounts

	Compact          int64 // executions whose results were all written compactly
	Suppressed       int64 // … could have been, but for divergence or a guard
	Materialisations int64 // compact values written out to the lanes because one was overwritten for some of them

	Branches int64 // executions of conditional branches
	Decided  int64 // of them those decided by a compact predicate
	Affine   int64 // … that comes of comparing an affine value

	Reads, Writes ClassCounts // register operands, predicates left out
	Addresses     ClassCounts // of loads and stores
	Data          ClassCounts // loaded and stored values
}

// Add adds another's counts.
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

// Exceeds says of what there is more compact than a bound of the same executions has, as counts of the ideal
// policy are one; "" if it is nothing.
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
