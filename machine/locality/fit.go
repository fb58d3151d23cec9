package locality

import (
	"cmp"
	"math/bits"
	"slices"
	"sync"

	"gemu/probe"
	"gemu/ptx"
)

// Form is the addresses of an instruction, if all of them are
//
//	Base + CTA·ctaid + Thread·tid + Steps[k],
//
// where k is the number of times that the thread has executed the instruction before. The form holds for each address of the launch.
type Form struct {
	Instr  int               // index of the instruction in the program
	Kind   probe.AccessKind  // load, store or atomic
	Buffer *probe.Allocation // accessed buffer; nil if there are several
	Bytes  int               // bytes of a thread's access
	Affine bool              // the form holds; if not, the further fields have no meaning
	Base   int64             // address of thread 0 of CTA 0
	CTA    [3]int64          // bytes from a CTA to the next, in x, y and z; 0 in a dimension in which the grid has extent 1
	Thread [3]int64          // bytes from a thread to the next
	Low    [3]int            // least tid that executes the instruction
	High   [3]int            // greatest tid
	Steps  []int64           // bytes of execution k from execution 0
}

// maxSteps is the maximum number of executions of an instruction by a thread in a form; maxFits is that of pairs of a CTA and an instruction.
const (
	maxSteps = 1 << 16
	maxFits  = 1 << 22
)

// Fitter is a probe that finds the forms of the accesses to global memory, by execution: asynchronous copies and textures have none.
type Fitter struct {
	ended func(*probe.LaunchInfo, []Form)

	mu       sync.Mutex
	launches map[*probe.LaunchInfo]*fits
}

// NewFitter returns a fitter that calls ended at the end of each launch, with the forms in the order of the program.
func NewFitter(ended func(*probe.LaunchInfo, []Form)) *Fitter {
	return &Fitter{ended: ended, launches: map[*probe.LaunchInfo]*fits{}}
}

// fits are the instructions of a launch.
type fits struct {
	instrs map[int]*launchFit
	count  int
}

// launchFit is an instruction of a launch.
type launchFit struct {
	form
	bases []ctaBase
}

// ctaBase is the address of thread 0 of a CTA.
type ctaBase struct {
	cta  int
	base int64
}

// form is what the threads of a CTA have in common.
type form struct {
	broken    bool // the addresses have no form
	kind      probe.AccessKind
	buffer    *probe.Allocation
	several   bool // there are several buffers
	bytes     int
	thread    [3]int64
	known     [3]bool // thread is known
	low, high [3]int
	steps     []int64
}

// Subscription asks for the addresses of executed instructions.
func (f *Fitter) Subscription() probe.Subscription {
	return probe.Subscription{Events: probe.OnLaunch | probe.OnLaunchEnd | probe.OnAfter | probe.OnCTAEnd, Addresses: true}
}

// OnEvent begins and ends launches.
func (f *Fitter) OnEvent(e *probe.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch e.Kind {
	case probe.OnLaunch:
		f.launches[e.Launch] = &fits{instrs: map[int]*launchFit{}}
	case probe.OnLaunchEnd:
		l := f.launches[e.Launch]
		delete(f.launches, e.Launch)
		var list []Form
		for i, fit := range l.instrs {
			list = append(list, fit.solve(i, e.Launch.Grid))
		}
		slices.SortFunc(list, func(a, b Form) int { return cmp.Compare(a.Instr, b.Instr) })
		f.ended(e.Launch, list)
	}
}

// CTA returns the sink of a CTA.
func (f *Fitter) CTA(info *probe.LaunchInfo, index int, _ ptx.Dim3) probe.Sink {
	f.mu.Lock()
	defer f.mu.Unlock()
	return &ctaFits{fitter: f, launch: f.launches[info], index: index, block: info.Block, width: info.WarpSize, instrs: map[int]*ctaFit{}}
}

// ctaFits are the instructions of a CTA.
type ctaFits struct {
	fitter *Fitter
	launch *fits
	index  int
	block  ptx.Dim3
	width  int
	instrs map[int]*ctaFit
}

// ctaFit is an instruction of a CTA.
type ctaFit struct {
	form
	begun  bool
	base   int64  // address of thread at, in its first execution
	at     [3]int // tid of the first access
	counts []int  // number of executions, by thread
}

// OnEvent notes the addresses of an instruction.
func (c *ctaFits) OnEvent(e *probe.Event) {
	if e.Kind == probe.OnCTAEnd {
		c.end()
		return
	}
	for i := range e.Accesses {
		a := &e.Accesses[i]
		if a.Surface || a.Space == ptx.Shared || a.Space == ptx.Const || a.Space == ptx.Local {
			continue
		}
		for m := a.Lanes & e.Lanes; m != 0; m &= m - 1 {
			lane := bits.TrailingZeros64(m)
			c.address(e, a, lane)
		}
	}
}

// address notes the address of a lane.
func (c *ctaFits) address(e *probe.Event, a *probe.Access, lane int) {
	f := c.instrs[e.Index]
	if f != nil && f.broken && f.several {
		return
	}
	addr := a.Addr[lane]
	if f == nil || f.buffer == nil || addr-f.buffer.Base >= f.buffer.Span {
		space, alloc, _, ok := a.PlaceOf(lane)
		if !ok || space != ptx.Global {
			return
		}
		if f == nil {
			f = &ctaFit{form: form{kind: a.Kind, buffer: alloc, bytes: a.Length(lane)}, counts: make([]int, c.block.Count())}
			c.instrs[e.Index] = f
		}
		if alloc != f.buffer {
			f.several, f.broken = true, true
			return
		}
	}
	if f.broken {
		return
	}
	thread := e.Warp*c.width + lane
	at := c.block.At(thread)
	k := f.counts[thread]
	f.counts[thread]++
	f.add([3]int{at.X, at.Y, at.Z}, k, int64(addr), a.Length(lane))
}

// add adds the address of execution k of a thread.
func (f *ctaFit) add(at [3]int, k int, addr int64, n int) {
	if !f.begun {
		f.begun, f.base, f.at, f.low, f.high, f.steps = true, addr, at, at, at, []int64{0}
	}
	for d := range 3 {
		f.low[d], f.high[d] = min(f.low[d], at[d]), max(f.high[d], at[d])
	}
	delta, unknown := addr-f.base, -1
	for d := range 3 {
		switch diff := int64(at[d] - f.at[d]); {
		case diff == 0:
		case f.known[d]:
			delta -= f.thread[d] * diff
		case unknown >= 0: // two unknown coefficients
			f.broken = true
			return
		default:
			unknown = d
		}
	}
	switch {
	case n != f.bytes || k > len(f.steps) || k == maxSteps || k == len(f.steps) && unknown >= 0:
		f.broken = true
	case k == len(f.steps):
		f.steps = append(f.steps, delta)
	case unknown >= 0:
		diff := int64(at[unknown] - f.at[unknown])
		delta -= f.steps[k]
		f.thread[unknown], f.known[unknown] = delta/diff, true
		f.broken = delta%diff != 0
	default:
		f.broken = delta != f.steps[k]
	}
}

// end adds the CTA to its launch.
func (c *ctaFits) end() {
	c.fitter.mu.Lock()
	defer c.fitter.mu.Unlock()
	for i, f := range c.instrs {
		l := c.launch.instrs[i]
		if l == nil {
			l = &launchFit{form: f.form}
			l.steps = slices.Clone(f.steps)
			c.launch.instrs[i] = l
		}
		base, determined := f.base, true
		for d := range 3 {
			base -= f.thread[d] * int64(f.at[d])
			determined = determined && (f.known[d] || f.at[d] == 0)
		}
		if !l.merge(&f.form) || !determined {
			l.broken = true
		}
		if c.launch.count++; c.launch.count > maxFits {
			l.broken = true
		}
		if l.broken {
			l.bases = nil
			continue
		}
		l.bases = append(l.bases, ctaBase{c.index, base})
	}
}

// merge adds what the threads of another CTA have in common. It reports whether both agree.
func (f *form) merge(o *form) bool {
	if f.buffer != o.buffer || o.several {
		f.several = true
	}
	if f.several || f.broken || o.broken || f.bytes != o.bytes {
		return false
	}
	for d := range 3 {
		switch {
		case !o.known[d]:
		case !f.known[d]:
			f.thread[d], f.known[d] = o.thread[d], true
		case f.thread[d] != o.thread[d]:
			return false
		}
		f.low[d], f.high[d] = min(f.low[d], o.low[d]), max(f.high[d], o.high[d])
	}
	n := min(len(f.steps), len(o.steps))
	if !slices.Equal(f.steps[:n], o.steps[:n]) {
		return false
	}
	f.steps = append(f.steps, o.steps[n:]...)
	return true
}

// solve returns the form of an instruction.
func (f *launchFit) solve(instr int, grid ptx.Dim3) Form {
	out := Form{Instr: instr, Kind: f.kind, Buffer: f.buffer, Bytes: f.bytes, Thread: f.thread, Low: f.low, High: f.high, Steps: f.steps}
	if f.several {
		out.Buffer = nil
	}
	if f.broken {
		return out
	}
	slices.SortFunc(f.bases, func(a, b ctaBase) int { return cmp.Compare(a.cta, b.cta) })
	first, known := f.bases[0], [3]bool{}
	from := grid.At(first.cta).Dims()
	for _, b := range f.bases {
		delta, unknown := b.base-first.base, -1
		at := grid.At(b.cta).Dims()
		for d := range 3 {
			switch diff := int64(at[d] - from[d]); {
			case diff == 0:
			case known[d]:
				delta -= out.CTA[d] * diff
			case unknown >= 0:
				return out
			default:
				unknown = d
			}
		}
		switch {
		case unknown >= 0:
			diff := int64(at[unknown] - from[unknown])
			if delta%diff != 0 {
				return out
			}
			out.CTA[unknown], known[unknown] = delta/diff, true
		case delta != 0:
			return out
		}
	}
	out.Base = first.base
	for d := range 3 {
		out.Base -= out.CTA[d] * int64(from[d])
	}
	out.Affine = true
	return out
}
