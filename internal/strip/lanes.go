package strip

// This file finds the state of a lane in a run, and the lanes whose states are the same throughout.

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"gemu/probe"
)

// State is the state of a lane in a run.
type State uint8

// The states.
const (
	Absent   State = iota // the lane has no thread, or has ended
	Executes              // the lane executes the instructions
	Excluded              // the lane is active, but its guard is false
	Waits                 // the lane waits for its turn, or at a reconvergence point
	Stopped               // the lane waits at a barrier or a collective instruction
)

// StateOf returns the state of a lane in a run.
func (r *Run) StateOf(lane int) State {
	bit := uint64(1) << lane
	switch {
	case r.Lanes&bit != 0:
		return Executes
	case r.Active&bit != 0:
		return Excluded
	}
	for _, w := range r.Waits {
		if w.Lanes&bit != 0 {
			if w.Kind == Blocked {
				return Stopped
			}
			return Waits
		}
	}
	return Absent
}

// column is consecutive steps of a lane.
type column struct {
	first, steps int
	state        State // Executes or Excluded if the lane executes in one of the steps
	block        int   // the last block that the lane executes
	shade        int   // 0: the lane executes in all steps; 1: in half of them or more; 2: in fewer
}

// first returns the number of the first step in Runs.
func (w *Warp) first() int {
	if len(w.Runs) == 0 {
		return 1
	}
	return w.Runs[0].First
}

// from returns the warp without the steps before a step.
func (w *Warp) from(step int) *Warp {
	short := *w
	short.Runs = slices.Clone(w.Runs)
	short.Runs = slices.DeleteFunc(short.Runs, func(r Run) bool { return r.Last() < step })
	if r := &short.Runs[0]; r.First < step {
		r.Steps -= step - r.First
		r.First = step
	}
	return &short
}

// columns returns the states of a lane, in columns of per steps; the last may have fewer.
func (w *Warp) columns(lane, per int) (list []column) {
	run := 0
	for first := w.first(); first <= w.Steps; first += per {
		last := min(first+per-1, w.Steps)
		for w.Runs[run].Last() < first {
			run++
		}
		c := column{first: first, steps: last - first + 1}
		executes := 0
		for k := run; k < len(w.Runs) && w.Runs[k].First <= last; k++ {
			r := &w.Runs[k]
			state := r.StateOf(lane)
			if state == Executes || state == Excluded {
				executes += min(last, r.Last()) - max(first, r.First) + 1
				c.block = r.Block
			}
			if c.state == Absent || state == Executes || state == Excluded && c.state != Executes {
				c.state = state
			}
		}
		switch {
		case executes == 0 || executes == c.steps:
		case 2*executes >= c.steps:
			c.shade = 1
		default:
			c.shade = 2
		}
		list = append(list, c)
	}
	return list
}

// joined joins neighbouring columns in which a lane does the same.
func joined(list []column) (short []column) {
	for _, c := range list {
		if n := len(short); n > 0 && short[n-1].state == c.state && short[n-1].block == c.block && short[n-1].shade == c.shade {
			short[n-1].steps += c.steps
			continue
		}
		short = append(short, c)
	}
	return short
}

// LaneGroups returns the lanes of a warp in groups: all lanes of a group do the same in every run. The group with the lowest lane
// comes first.
func (w *Warp) LaneGroups() (groups []uint64) {
	rest := w.Lanes
	for rest != 0 {
		first := bits.TrailingZeros64(rest)
		group := uint64(0)
		for m := rest; m != 0; m &= m - 1 {
			if lane := bits.TrailingZeros64(m); !slices.ContainsFunc(w.Runs, func(r Run) bool { return r.StateOf(lane) != r.StateOf(first) }) {
				group |= 1 << lane
			}
		}
		groups = append(groups, group)
		rest &^= group
	}
	return groups
}

// LanesText returns a set of lanes of a warp in words: "all lanes", "the even lanes", "lanes 0-3,7". A warp with fewer threads than
// lanes has no "all lanes".
func (w *Warp) LanesText(lanes uint64) string {
	const even = 0x5555_5555_5555_5555
	switch {
	case lanes == w.Lanes && w.Full:
		return "all lanes"
	case bits.OnesCount64(lanes) < 3:
	case lanes == w.Lanes&even:
		return "the even lanes"
	case lanes == w.Lanes&^even:
		return "the odd lanes"
	}
	return probe.LaneText(lanes)
}

// shortLanes returns a set of lanes in at most width characters: with "…" in place of lanes that do not fit.
func (w *Warp) shortLanes(lanes uint64, width int) string {
	text := strings.TrimPrefix(w.LanesText(lanes), "the ")
	if n := bits.OnesCount64(lanes); len(text) > width {
		tail := fmt.Sprintf("… (%d)", n)
		text = text[:max(width-len([]rune(tail)), 0)]
		if i := strings.LastIndexByte(text, ','); i > 0 {
			text = text[:i+1]
		}
		text += tail
	}
	return text
}

// linesText returns the lines of instructions: "line 20" or "lines 20 to 22".
func (s *Strip) linesText(from, to int) string {
	a, b := s.Program[from].Line, s.Program[to].Line
	if a == b {
		return fmt.Sprintf("line %d", a)
	}
	return fmt.Sprintf("lines %d to %d", min(a, b), max(a, b))
}

// BlockText returns the letter of a block, its label and its lines in the PTX and in the source.
func (s *Strip) BlockText(i int) string {
	b := &s.Blocks[i]
	text := string(b.Letter)
	if b.Label != "" && b.Label != string(b.Letter) {
		text += " " + b.Label
	}
	text += ": " + s.linesText(b.First, b.Last)
	file, low, high := "", 0, 0
	for k := b.First; k <= b.Last; k++ {
		p := &s.Program[k]
		switch {
		case p.SourceLine == 0:
		case file == "":
			file, low, high = p.SourceFile, p.SourceLine, p.SourceLine
		case file == p.SourceFile:
			low, high = min(low, p.SourceLine), max(high, p.SourceLine)
		}
	}
	switch {
	case file == "":
	case low == high:
		text += fmt.Sprintf(" (%s:%d)", base(file), low)
	default:
		text += fmt.Sprintf(" (%s:%d-%d)", base(file), low, high)
	}
	return text
}

// base returns the last element of a path of any system.
func base(file string) string { return file[strings.LastIndexAny(file, `/\`)+1:] }

// executedBlocks returns the blocks that the recorded warps of strips execute, in the order of the program.
func executedBlocks(groups []Group) (list []int) {
	used := map[int]bool{}
	for _, g := range groups {
		for _, w := range g.Warps {
			for i := range w.Runs {
				used[w.Runs[i].Block] = true
			}
		}
	}
	for b := range used {
		list = append(list, b)
	}
	slices.Sort(list)
	return list
}
