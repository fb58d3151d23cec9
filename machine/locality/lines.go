// Package locality finds which CTAs of a launch access the same data, and infers Locality Descriptors (Vijaykumar, "Enhancing
// Programmability, Portability, and Performance with Rich Cross-Layer Abstractions", 2019, chapter 3) from the addresses of accesses.
package locality

import (
	"fmt"

	"gemu/machine/dispatch"
	"gemu/machine/stream"
	"gemu/probe"
	"gemu/ptx"
)

// Limits of a launch: beyond them its lines are not kept.
const (
	maxCTAs         = 1 << 24 // CTAs of the grid
	maxTouches      = 1 << 25 // pairs of a CTA and a line
	maxTransactions = 1 << 23 // transactions that are kept for further machines
)

// Launch is the lines of global memory that the CTAs of a launch access.
type Launch struct {
	*stream.Launch
	CTAs     [][]int32     // by linear index: numbers of the distinct lines of a CTA
	Lines    []Line        // by number
	Uses     []Use         // by index in stream.Launch.Buffers
	Requests []*stream.CTA // all CTAs, in the order in which they began; nil if they have too many transactions
	TooLarge bool          // the launch is too large: the fields above are incomplete
	Err      error         // error that ended the launch
}

// Line is a line of global memory.
type Line struct {
	Number uint64   // address divided by stream.LineBytes
	Buffer uint16   // index in stream.Launch.Buffers
	low    [3]int32 // least and greatest ctaid of the CTAs that access the line, in each dimension
	high   [3]int32
}

// isShared reports whether several CTAs access the line.
func (l *Line) isShared() bool { return l.low != l.high }

// isNearby reports whether only CTAs access the line that are neighbours of each other.
func (l *Line) isNearby() bool {
	for d := range 3 {
		if l.high[d]-l.low[d] > 1 {
			return false
		}
	}
	return true
}

// Use is the use of a buffer.
type Use struct {
	Transactions int64           // transactions of all CTAs
	ByInstr      map[int32]int64 // of these, by index of the instruction
	Lines        int64           // distinct lines
	Shared       int64           // lines that several CTAs access
	Nearby       int64           // of these, lines that only neighbours access
	Along        [3]int64        // shared lines whose CTAs differ in each dimension
	Warps        int64           // pairs of a CTA and a line that several warps of the CTA access
	Again        int64           // pairs of a CTA and a line that a single warp of the CTA accesses several times
}

// Collector is a stream.Consumer that collects lines.
type Collector struct {
	// LoadsOnly leaves out stores and atomics. It must not change after the first launch.
	LoadsOnly bool

	ended    func(*Launch)
	launches map[*stream.Launch]*collection
}

// collection is a launch in progress.
type collection struct {
	Launch
	numbers      map[uint64]int32
	touches      int
	transactions int
	seen         map[int32]touch // lines of the CTA in progress
}

// touch is the accesses of a CTA to a line.
type touch struct {
	warp  int  // first warp
	again bool // the warp accesses the line several times
	warps bool // several warps access the line
}

// NewCollector returns a collector that calls ended at the end of each launch.
func NewCollector(ended func(*Launch)) *Collector {
	return &Collector{ended: ended, launches: map[*stream.Launch]*collection{}}
}

// BeginLaunch begins a launch.
func (c *Collector) BeginLaunch(l *stream.Launch) {
	c.launches[l] = &collection{Launch: Launch{Launch: l, Requests: []*stream.CTA{}, TooLarge: l.Grid.Count() > maxCTAs}, numbers: map[uint64]int32{}, seen: map[int32]touch{}}
}

// CTA collects the lines of a CTA.
func (c *Collector) CTA(l *stream.Launch, cta *stream.CTA) {
	n := c.launches[l]
	if n.TooLarge {
		return
	}
	for len(n.Uses) < len(l.Buffers) {
		n.Uses = append(n.Uses, Use{ByInstr: map[int32]int64{}})
	}
	for len(n.CTAs) <= cta.Index {
		n.CTAs = append(n.CTAs, nil)
	}
	at := l.Grid.At(cta.Index)
	id := [3]int32{int32(at.X), int32(at.Y), int32(at.Z)}
	var lines []int32
	for w := range cta.Warps {
		warp := &cta.Warps[w]
		if n.Requests != nil {
			n.transactions += len(warp.Transactions)
		}
		for i := range warp.Requests {
			q := &warp.Requests[i]
			if c.LoadsOnly && q.Kind != probe.AccessLoad {
				continue
			}
			for k := range warp.Transactions[q.First:][:q.N] {
				t := &warp.Transactions[int(q.First)+k]
				n.Uses[t.Buffer].Transactions++
				n.Uses[t.Buffer].ByInstr[q.Instr]++
				if t.Local {
					continue
				}
				number, ok := n.numbers[t.Line]
				if !ok {
					number = int32(len(n.Lines))
					n.numbers[t.Line], n.Lines = number, append(n.Lines, Line{Number: t.Line, Buffer: t.Buffer, low: id, high: id})
				}
				before, ok := n.seen[number]
				switch {
				case !ok:
					lines = append(lines, number)
					n.seen[number] = touch{warp: w}
				case before.warp != w && !before.warps:
					before.warps = true
					n.seen[number] = before
				case before.warp == w && !before.again:
					before.again = true
					n.seen[number] = before
				}
			}
		}
	}
	for _, number := range lines {
		line := &n.Lines[number]
		for d := range 3 {
			line.low[d], line.high[d] = min(line.low[d], id[d]), max(line.high[d], id[d])
		}
		switch t := n.seen[number]; {
		case t.warps:
			n.Uses[line.Buffer].Warps++
		case t.again:
			n.Uses[line.Buffer].Again++
		}
	}
	clear(n.seen)
	n.CTAs[cta.Index] = lines
	if n.Requests != nil {
		n.Requests = append(n.Requests, cta)
	}
	if n.transactions > maxTransactions {
		n.Requests = nil
	}
	if n.touches += len(lines); n.touches > maxTouches {
		n.TooLarge, n.CTAs, n.Lines, n.Requests, n.numbers = true, nil, nil, nil, nil
	}
}

// EndLaunch ends a launch.
func (c *Collector) EndLaunch(l *stream.Launch, err error) {
	n := c.launches[l]
	n.Err = err
	delete(c.launches, l)
	for i := range n.Lines {
		line := &n.Lines[i]
		u := &n.Uses[line.Buffer]
		u.Lines++
		if !line.isShared() {
			continue
		}
		u.Shared++
		if line.isNearby() {
			u.Nearby++
		}
		for d := range 3 {
			if line.low[d] != line.high[d] {
				u.Along[d]++
			}
		}
	}
	c.ended(&n.Launch)
}

// WorkingSet returns the number of distinct lines that a multiprocessor accesses, as the mean of all multiprocessors, if CTAs are on the
// multiprocessors of the list, by linear index.
func (l *Launch) WorkingSet(of []int, sms int) float64 {
	bySM := make([][]int, sms)
	for cta, sm := range of {
		bySM[sm] = append(bySM[sm], cta)
	}
	last := make([]int32, len(l.Lines)) // 1 + the last multiprocessor that accesses the line
	total := 0
	for sm, ctas := range bySM {
		for _, cta := range ctas {
			if cta >= len(l.CTAs) { // a trap has ended the launch before it
				continue
			}
			for _, line := range l.CTAs[cta] {
				if last[line] != int32(sm)+1 {
					last[line] = int32(sm) + 1
					total++
				}
			}
		}
	}
	return float64(total) / float64(sms)
}

// Shape is a shape of groups of CTAs with its working set.
type Shape struct {
	ptx.Dim3
	WorkingSet float64 // lines of a multiprocessor
}

// extents are the extents of groups in each dimension; 0 is that of the grid.
var extents = []int{1, 2, 4, 0}

// Shapes returns the shapes of groups whose extents are 1, 2, 4 and that of the grid in each dimension, each shape once, except that of
// single CTAs and that of the grid, which are the rotation.
func Shapes(grid ptx.Dim3) (list []ptx.Dim3) {
	seen := map[ptx.Dim3]bool{ptx.Dim(1): true, grid: true}
	for _, z := range extents {
		for _, y := range extents {
			for _, x := range extents {
				s := ptx.Dim3{X: x, Y: y, Z: z}
				for _, p := range []struct {
					of *int
					g  int
				}{{&s.X, grid.X}, {&s.Y, grid.Y}, {&s.Z, grid.Z}} {
					if *p.of == 0 || *p.of > p.g {
						*p.of = p.g
					}
				}
				if !seen[s] {
					seen[s] = true
					list = append(list, s)
				}
			}
		}
	}
	return list
}

// Measure returns the working set of a dispatcher on a machine with some multiprocessors, whose CTAs all take the same time. The dispatcher
// has the order in which the CTAs of the launch began. The launch must not be too large.
func (l *Launch) Measure(p *dispatch.Policy, sms int) (float64, error) {
	on := &dispatch.Launch{Grid: l.Grid, SMs: sms, Places: 1}
	if !l.Ascending() {
		on.Order = func(position int) int { return l.Grid.Linear(l.CTAAt(position)) }
	}
	of, err := dispatch.Assign(p, on)
	if err != nil {
		return 0, fmt.Errorf("kernel %s: %w", l.Kernel.Name, err)
	}
	return l.WorkingSet(of, sms), nil
}

// MeasureShapes returns the working sets of all Shapes.
func (l *Launch) MeasureShapes(sms int) (list []Shape, err error) {
	for _, s := range Shapes(l.Grid) {
		n, err := l.Measure(dispatch.Clusters(s), sms)
		if err != nil {
			return nil, err
		}
		list = append(list, Shape{s, n})
	}
	return list, nil
}
