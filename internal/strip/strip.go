// Package strip records every step of every lane of a launch, and draws it: time goes to the right, and each lane has a row.
//
//	step            1         10
//	even lanes      EEEEEEEEEE··GHH     a letter: the lane executes an instruction of this block
//	odd lanes       EEEEEEEEEEFF·HH     a dot: the lane waits
//
// A Recorder is the probe that records. It makes a Strip for a launch: the basic blocks of the program, each with a letter, and
// for each recorded warp a list of runs. A Run is a number of consecutive steps of a warp in the same block, by the same lanes,
// while all other lanes do the same. Print draws strips with characters, Describe in words, and SVG as a picture.
//
// AccessRecorder and AccessSVG draw the addresses of a warp's accesses in the same style: sectors and banks.
//
// Read strip.go first, then recorder.go (the probe), lanes.go (what a lane does in a run), print.go, words.go and svg.go, and
// accesses.go.
//
// # Letters
//
// Blocks have the letters A to Z, then the digits 0 to 9, in the order of the program; further blocks have #. A block with a label
// of a single letter has this letter. Blocks without instructions have none.
//
// # Errors, concurrency and compatibility
//
// A launch that ends with an error has a strip up to the error (Strip.Err). A Recorder watches launches one after another. A
// Strip is plain data; it must not be read while its launch runs.
package strip

import (
	"math/bits"
	"slices"
	"strings"

	"gemu/probe"
	"gemu/ptx"
)

// Strip is the steps of warps of a launch.
type Strip struct {
	Kernel     string
	File       string // name of the PTX file
	Policy     string // name of the reconvergence policy
	Grid       ptx.Dim3
	Block      ptx.Dim3
	WarpSize   int
	Program    []Place // the instructions, by probe.Event.Index
	Blocks     []Block // the basic blocks, in the order of the program
	Warps      []*Warp // the recorded warps, in the order in which they began
	OtherWarps int     // number of warps that began and are not recorded
	Err        error   // error that ended the launch; nil if it completed
}

// Place is the place of an instruction.
type Place struct {
	Line       int    // line in the PTX, from 1
	Text       string // PTX without the semicolon
	Block      int    // index in Strip.Blocks
	SourceFile string // name of the source file; "" without .loc
	SourceLine int    // line in the source file
	endsBlock  bool   // a branch, return or exit: all active lanes execute it, whatever its guard
	isBarrier  bool   // a barrier or a fence
}

// Block is a basic block.
type Block struct {
	Letter      rune   // letter of the block in drawings
	Label       string // its label in the PTX, if a branch leads there; otherwise ""
	Function    string // name of the function
	First, Last int    // indices in Strip.Program of its first and last instruction
}

// Warp is the steps of a warp.
type Warp struct {
	CTA   int    // linear index of the CTA in the grid
	Index int    // index of the warp in the CTA
	Lanes uint64 // lanes that have a thread
	Full  bool   // every lane has a thread, and there are several
	Steps int    // number of recorded steps
	Cut   bool   // the warp executed further steps, which are not recorded
	Runs  []Run  // the steps, in order; a run follows the run before it without a gap
	Final []Wait // lanes that were alive when an error ended the launch, and what they waited for; the running lanes are Stuck
}

// Run is consecutive steps of a warp in a block.
type Run struct {
	First  int    // number of the first step in the warp, from 1
	Steps  int    // number of steps
	Block  int    // index in Strip.Blocks
	From   int    // index in Strip.Program of the first executed instruction in program order
	To     int    // index in Strip.Program of the last executed instruction in program order
	Active uint64 // the active mask
	Lanes  uint64 // active lanes whose guard holds
	Waits  []Wait // the other lanes that are alive
}

// Last returns the number of the last step.
func (r *Run) Last() int { return r.First + r.Steps - 1 }

// Wait is lanes that wait.
type Wait struct {
	Kind    WaitKind
	Lanes   uint64
	Missing uint64 // for Arrived, the lanes for which Lanes wait
	At      int    // index in Strip.Program of the next instruction of Lanes; -1 is the end of the kernel or function
}

// WaitKind is the reason for a wait.
type WaitKind uint8

// The reasons.
const (
	Ready   WaitKind = iota // the lanes can run, and other lanes run first
	Arrived                 // the lanes wait at a reconvergence point
	Blocked                 // the lanes wait at a barrier or a collective instruction
	Stuck                   // the lanes were running when an error ended the launch (Warp.Final)
)

// Alive returns the lanes that have not ended.
func (r *Run) Alive() uint64 {
	alive := r.Active
	for _, w := range r.Waits {
		alive |= w.Lanes
	}
	return alive
}

// ActiveLanesMean returns the mean number of active lanes of the steps of a warp; 0 without steps.
func (w *Warp) ActiveLanesMean() float64 {
	sum := 0
	for i := range w.Runs {
		sum += w.Runs[i].Steps * bits.OnesCount64(w.Runs[i].Active)
	}
	return float64(sum) / float64(max(w.Steps, 1))
}

// RunAt returns the run of a step of the warp; nil if the step is not recorded.
func (w *Warp) RunAt(step int) *Run {
	i, _ := slices.BinarySearchFunc(w.Runs, step, func(r Run, step int) int { return r.Last() - step })
	if i == len(w.Runs) || step < 1 {
		return nil
	}
	return &w.Runs[i]
}

// Same reports whether the pictures of two strips are the same: the same lanes run, wait and end at the same steps. The strips must
// be of the same launch under two policies.
func (s *Strip) Same(other *Strip) bool {
	return s.EndText() == other.EndText() && slices.EqualFunc(s.Warps, other.Warps, func(a, b *Warp) bool {
		if a.CTA != b.CTA || a.Index != b.Index || a.Cut != b.Cut || a.Steps != b.Steps {
			return false
		}
		for i, k := 0, 0; i < len(a.Runs); {
			x, y := &a.Runs[i], &b.Runs[k]
			if x.Block != y.Block || x.Active != y.Active || x.Lanes != y.Lanes || x.Alive() != y.Alive() || x.blocked() != y.blocked() {
				return false
			}
			last := min(x.Last(), y.Last())
			if x.Last() == last {
				i++
			}
			if y.Last() == last {
				k++
			}
		}
		return true
	})
}

// blocked returns the lanes that wait at a barrier or a collective instruction.
func (r *Run) blocked() (lanes uint64) {
	for _, w := range r.Waits {
		if w.Kind == Blocked {
			lanes |= w.Lanes
		}
	}
	return lanes
}

// Group is strips of the same launch that are the same under several policies.
type Group struct {
	*Strip
	Policies []string
}

// Groups joins strips of the same launch that are the same, in the order of their first policies.
func Groups(strips []*Strip) (groups []Group) {
	for _, s := range strips {
		if i := slices.IndexFunc(groups, func(g Group) bool { return g.Same(s) }); i >= 0 {
			groups[i].Policies = append(groups[i].Policies, s.Policy)
			continue
		}
		groups = append(groups, Group{s, []string{s.Policy}})
	}
	return groups
}

// program returns the places and the blocks of a program. source is Options.SourceOf.
func program(p probe.Program, source func(f *ptx.Func, instr *ptx.Instr) (file string, line int)) (places []Place, blocks []Block) {
	type key struct {
		f     *ptx.Func
		block int
	}
	numbers := map[key]int{}
	of := map[*ptx.Instr]*ptx.Block{}
	seen := map[*ptx.Func]bool{}
	target := map[*ptx.Block]bool{} // blocks to which a branch leads
	var inOrder []*ptx.Block
	for i := range p.Len() {
		instr, f := p.At(i)
		if !seen[f] {
			seen[f] = true
			for _, b := range f.Blocks {
				for _, in := range b.Instrs {
					of[in] = b
					for _, t := range in.Targets() {
						target[t] = true
					}
				}
			}
		}
		b := of[instr]
		n, ok := numbers[key{f, b.Index}]
		if !ok {
			n = len(blocks)
			numbers[key{f, b.Index}] = n
			block := Block{Function: f.Name, First: i}
			if len(b.Labels) > 0 && target[b] { // compilers label other blocks for debuggers
				block.Label = b.Labels[0]
			}
			blocks, inOrder = append(blocks, block), append(inOrder, b)
		}
		blocks[n].Last = i
		place := Place{Line: int(instr.Pos.Line), Text: strings.TrimSuffix(instr.Format(f), ";"), Block: n, endsBlock: instr.EndsBlock(), isBarrier: instr.Form.Class == ptx.ClassBarrier}
		switch {
		case instr.Loc < 0:
		case source != nil:
			place.SourceFile, place.SourceLine = source(f, instr)
		case f.Locs[instr.Loc].Line > 0:
			l := &f.Locs[instr.Loc]
			place.SourceFile, place.SourceLine = f.Module().FileName(l.File), int(l.Line)
		}
		places = append(places, place)
	}
	for i, letter := range Letters(inOrder) {
		blocks[i].Letter = letter
	}
	return places, blocks
}

// Letters returns the letters of basic blocks, which are in the order of the program and have instructions.
func Letters(blocks []*ptx.Block) []rune {
	letters := make([]rune, len(blocks))
	taken := map[rune]bool{}
	for i, b := range blocks {
		own := rune(0)
		for _, l := range b.Labels {
			if len(l) == 1 && (l[0]|0x20) >= 'a' && (l[0]|0x20) <= 'z' {
				own = rune(l[0] &^ 0x20)
			}
		}
		if own != 0 && !taken[own] {
			letters[i], taken[own] = own, true
		}
	}
	free := []rune("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
	free = slices.DeleteFunc(free, func(r rune) bool { return taken[r] })
	for i := range letters {
		switch {
		case letters[i] != 0:
		case len(free) == 0:
			letters[i] = '#'
		default:
			letters[i], free = free[0], free[1:]
		}
	}
	return letters
}
