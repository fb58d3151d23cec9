package document

import (
	"fmt"
	"path/filepath"
	"slices"

	"gemu/affinetrack"
	"gemu/occupancy"
	"gemu/profile"
	"gemu/ptx"
	"gemu/structure"
)

// Profile is the profile of launches. Names and meanings do not change.
type Profile struct {
	Schema string `json:"schema"` // "gemu-profile/2"
	Launch
	Trapped   string         `json:"trapped,omitempty"` // trap of the last launch; all counts end there, and value structure is missing
	Groups    []Group        `json:"kernels"`           // numbers of launches, by kernel and extents
	Total     profile.Counts `json:"total"`             // counts of all instructions
	Lines     []ProfileLine  `json:"lines"`             // lines of the source (or of the PTX), in their order
	Loops     []ProfileLoop  `json:"loops"`             // executed loops, outer loops first
	Calls     []ProfileCall  `json:"calls"`             // functions with their chains of callers, callers first
	Occupancy []Occupant     `json:"occupancy"`         // occupancy for each launched kernel and generation of GPUs
	Cliffs    []Cliffs       `json:"cliffs,omitempty"`  // with --show cliffs: resident warps by size of the block, and the changes of the block that change them
}

// ProfileLine is a line of the source or of the PTX.
type ProfileLine struct {
	File   string         `json:"file"`   // file name in .file, or of the PTX
	Line   int            `json:"line"`   // number of the line, from 1 on
	Counts profile.Counts `json:"counts"` // counts of the instructions of the line
	U      int64          `json:"u"`      // uniform results
	A      int64          `json:"a"`      // affine results
	G      int64          `json:"g"`      // generic results
}

// ProfileLoop is a loop.
type ProfileLoop struct {
	Func       string         `json:"func"`       // function of the loop
	Line       int            `json:"line"`       // line of the header in the PTX; 0 if the header has no instruction
	Source     string         `json:"source"`     // "file:line" of the .loc at the header, or of the PTX
	Depth      int            `json:"depth"`      // nesting depth, from 1 on
	Headers    int            `json:"headers"`    // number of headers; a loop with two or more is irreducible
	Entries    int64          `json:"entries"`    // number of lanes entering from outside
	Iterations int64          `json:"iterations"` // number of lanes executing a header, summed
	Counts     profile.Counts `json:"counts"`     // counts of the instructions of the loop, including inner loops
}

// ProfileCall is a function at a node of the call tree.
type ProfileCall struct {
	Func   string `json:"func"`             // name of the function
	Parent int    `json:"parent"`           // index of the caller's entry; -1 for a kernel
	Source string `json:"source,omitempty"` // "file:line" of the call
	Calls  int64  `json:"calls"`            // calls by warps; for a kernel, the number of warps
	Own    int64  `json:"own"`              // warp instructions of the function alone
	Total  int64  `json:"total"`            // warp instructions of the function and its callees
}

// Occupant is a kernel's occupancy on a generation.
type Occupant struct {
	Kernel    string  `json:"kernel"`    // name of the kernel
	SM        int     `json:"sm"`        // compute capability, 80 for 8.0
	Threads   int     `json:"threads"`   // threads of a block
	Shared    int     `json:"shared"`    // bytes of shared memory of a block
	Registers int     `json:"registers"` // registers of a thread; 0 if unknown, and then they are no limit
	Blocks    int     `json:"blocks"`    // resident blocks of a multiprocessor
	Warps     int     `json:"warps"`     // warps of these blocks
	Occupancy float64 `json:"occupancy"` // share of the possible warps of a multiprocessor, from 0 to 1
	Limit     string  `json:"limit"`     // resource that limits the blocks
}

// Cliffs has the cliffs of a launched kernel and block.
type Cliffs struct {
	Kernel      string            `json:"kernel"`       // name of the kernel
	Threads     int               `json:"threads"`      // threads of a block
	Shared      int               `json:"shared"`       // bytes of shared memory of a block
	Registers   int               `json:"registers"`    // registers of a thread; 0 if unknown, and then they are no limit
	RegistersBy string            `json:"registers_by"` // source of the number of registers: "--regs", ".maxnreg", "estimate" (the least number without spilling) or "unknown"
	Surface     CliffSurface      `json:"surface"`      // resident warps by threads and registers, on the generation of --sm
	Generations []CliffGeneration `json:"generations"`  // resident warps and cliffs of the block, for each generation
}

// CliffSurface has the resident warps of blocks with the same shared memory.
type CliffSurface struct {
	SM        int     `json:"sm"`        // compute capability, 80 for 8.0
	Threads   []int   `json:"threads"`   // threads of a block; fewer have the warps of the next number
	Registers []int   `json:"registers"` // registers of a thread; fewer have the warps of the next number
	Warps     [][]int `json:"warps"`     // resident warps, by index of threads and of registers
}

// CliffGeneration has the cliffs of a block on a generation.
type CliffGeneration struct {
	SM       int     `json:"sm"`        // compute capability, 80 for 8.0
	Blocks   int     `json:"blocks"`    // resident blocks of a multiprocessor
	Warps    int     `json:"warps"`     // warps of these blocks
	MaxWarps int     `json:"max_warps"` // maximum number of resident warps
	Limit    string  `json:"limit"`     // resource that limits the blocks
	Cliffs   []Cliff `json:"cliffs"`    // smallest changes with which fewer or more warps are resident
}

// Cliff is a cliff.
type Cliff struct {
	Resource string `json:"resource"` // changed resource: "threads", "registers" or "shared memory"
	Change   int    `json:"change"`   // added threads, registers or bytes; negative if they are removed
	Warps    int    `json:"warps"`    // resident warps after the change; 0 if no block fits
	Limit    string `json:"limit"`    // resource that limits the blocks after the change
}

// Block is the block of a launched kernel, for its occupancy.
type Block struct {
	Kernel *ptx.Func
	occupancy.Block
}

// Blocks returns the blocks of the launches of a profile. registers is the number of registers of a thread; 0 means .maxnreg of the
// kernel, else an unknown number.
func Blocks(p *profile.Profile, registers int) (list []Block) {
	for _, l := range p.Launches {
		b := Block{l.Kernel, occupancy.Block{Threads: l.Block.Count(), Registers: registers, Shared: l.Shared}}
		if registers == 0 {
			b.Registers = min(l.Kernel.MaxRegisters(), occupancy.MaxRegisters)
		}
		if !slices.Contains(list, b) {
			list = append(list, b)
		}
	}
	return list
}

// Generations returns the generations that CUDA supports since release 11: 3.5 and later.
func Generations() (list []*occupancy.Limits) {
	for i := range occupancy.Generations {
		if g := &occupancy.Generations[i]; g.SM >= 35 {
			list = append(list, g)
		}
	}
	return list
}

// ClassesOf returns the classes of the results of each instruction; s is nil if they were not counted.
func ClassesOf(s *structure.Structure) map[*ptx.Instr]affinetrack.ClassCounts {
	classes := map[*ptx.Instr]affinetrack.ClassCounts{}
	if s != nil {
		for i := range s.Instrs {
			instr := &s.Instrs[i]
			classes[instr.Instr] = instr.Label
		}
	}
	return classes
}

// SourcePlace returns the place of an instruction: the base name of the file and the line of the source, or of the PTX if there is
// no .loc or if inPTX is set.
func SourcePlace(f *ptx.Func, instr *ptx.Instr, inPTX bool) string {
	frame := profile.Frames(f, instr, inPTX)[0]
	return fmt.Sprintf("%s:%d", filepath.Base(frame.File), frame.Line)
}

// FirstOf returns the first instruction of a block; nil if the block has none.
func FirstOf(b *ptx.Block) *ptx.Instr {
	if len(b.Instrs) == 0 {
		return nil
	}
	return b.Instrs[0]
}

// NewProfile returns the report of a profile, without cliffs. classes has the classes of results (ClassesOf), and blocks the blocks
// for the occupancy. If inPTX is set, lines are those of the PTX, even if it names the lines of the source.
func NewProfile(launch Launch, groups []Group, p *profile.Profile, classes map[*ptx.Instr]affinetrack.ClassCounts, blocks []Block, inPTX bool) *Profile {
	r := &Profile{
		Schema: "gemu-profile/2", Launch: launch, Groups: groups, Total: p.Total(),
		Lines: []ProfileLine{}, Loops: []ProfileLoop{}, Calls: []ProfileCall{}, Occupancy: []Occupant{},
	}
	if p.Err != nil {
		r.Trapped = p.Err.Error()
	}
	for _, l := range p.Lines(inPTX) {
		c := LineClasses(l, classes)
		r.Lines = append(r.Lines, ProfileLine{l.File, l.Line, l.Counts, c.Uniform, c.Affine, c.Generic})
	}
	for _, l := range p.Loops() {
		n := ProfileLoop{Func: l.Func.Name, Depth: l.Depth, Headers: len(l.Headers), Entries: l.Entries, Iterations: l.Iterations, Counts: l.Counts}
		if instr := FirstOf(l.Headers[0]); instr != nil {
			n.Line, n.Source = int(instr.Pos.Line), SourcePlace(l.Func, instr, inPTX)
		}
		r.Loops = append(r.Loops, n)
	}
	var call func(n *profile.Node, parent int)
	call = func(n *profile.Node, parent int) {
		all, own := n.Total(), n.Own()
		c := ProfileCall{Func: n.Func.Name, Parent: parent, Calls: n.Calls, Own: own.Execs, Total: all.Execs}
		if n.Site != nil {
			c.Source = SourcePlace(n.Parent.Func, n.Site, inPTX)
		}
		parent = len(r.Calls)
		r.Calls = append(r.Calls, c)
		for _, o := range n.Children {
			call(o, parent)
		}
	}
	for _, n := range p.Roots {
		call(n, -1)
	}
	for _, b := range blocks {
		for _, g := range Generations() {
			n, limit := g.Resident(b.Block)
			r.Occupancy = append(r.Occupancy, Occupant{b.Kernel.Name, g.SM, b.Threads, b.Shared, b.Registers, n, n * g.WarpsOf(b.Block), g.Occupancy(b.Block, n), string(limit)})
		}
	}
	return r
}

// LineClasses returns the classes of the results of a line.
func LineClasses(l *profile.Line, classes map[*ptx.Instr]affinetrack.ClassCounts) (shares affinetrack.ClassCounts) {
	for i := range l.Instrs {
		shares.Add(classes[l.Instrs[i].Instr])
	}
	return shares
}
