package machine

import (
	"cmp"
	"fmt"
	"slices"

	"gemu/machine/core"
	"gemu/machine/dram"
	"gemu/machine/memory"
	"gemu/machine/stream"
	"gemu/occupancy"
	"gemu/probe"
)

// Clock is a machine with a clock. It takes launches of a recorder that records instructions (stream.Recorder.RecordInstructions).
type Clock struct {
	*core.Machine
	system  *memory.System  // memory behind the L1; nil: another memory
	buffers []stream.Buffer // that launches have accessed, the latest last
	known   map[stream.Buffer]bool
	parts   *Parts                        // of the systems of the spec
	err     error                         // first error of a system
	values  map[*probe.LaunchInfo]*Values // nil without CompareValues
	forms   *clockForms                   // nil if no line is compressed
	misses  *clockMisses                  // nil if no routine runs for misses
}

// NewClock returns a machine with a clock. registers is that of New. It returns an error if the memory cannot be built. The spec must pass its
// Check.
func NewClock(s Spec, registers int) (*Clock, error) {
	var c *Clock
	s, parts := s.withSystems()
	forms := newClockForms(&s, parts)
	m, err := newMemory(s, func(addr uint64) dram.Structure { return c.structure(addr) }, forms.compression(&s))
	if err != nil {
		return nil, fmt.Errorf("machine %s: %w", s.Name, err)
	}
	c = newClock(s, parts, registers, m)
	c.system, c.known, c.forms = m, map[stream.Buffer]bool{}, forms
	return c, nil
}

// CTA runs the launch until it needs a CTA that has not arrived. The buffers of the CTA are known to placements of pages.
func (c *Clock) CTA(l *stream.Launch, cta *stream.CTA) {
	if c.known != nil {
		for _, b := range l.Buffers {
			if !c.known[b] {
				c.known[b], c.buffers = true, append(c.buffers, b)
			}
		}
	}
	c.Machine.CTA(l, cta)
}

// structure returns the latest buffer at an address.
func (c *Clock) structure(addr uint64) (of dram.Structure) {
	for _, b := range slices.Backward(c.buffers) {
		if addr-b.Base < b.Bytes {
			return dram.Structure{Name: b.Name, Base: b.Base, Bytes: b.Bytes}
		}
	}
	return of
}

// Memory returns the memory behind the L1, for its counts.
func (c *Clock) Memory() *memory.System { return c.system }

// Err returns the first error of the launches so far, of their counts or of the memory.
func (c *Clock) Err() error {
	if c.err != nil {
		return c.err
	}
	if err := cmp.Or(c.Machine.Err(), c.forms.failure(), c.misses.failure()); err != nil || c.system == nil {
		return err
	}
	if err := c.system.Err(); err != nil {
		return err
	}
	return c.system.Verify()
}

// NeedsData reports whether the recorder of the launches must record data (stream.NewDataRecorder).
func (c *Clock) NeedsData() bool { return c.forms != nil }

// NeedsEncodings reports whether the recorder must record the encodings of stored registers, too (stream.Recorder.Encode).
func (c *Clock) NeedsEncodings() bool { return c.forms != nil && c.forms.Registers }

// HasAssists reports whether the machine has assist warps.
func (c *Clock) HasAssists() bool {
	return c.misses != nil || c.forms != nil && c.forms.Assist != nil
}

// Values are the differences between a launch on a machine and its execution.
type Values struct {
	ImageCounts
	Changed map[int]int64 // loads that would have seen another value, by index of the instruction
}

// CompareValues makes the machine compare the values of launches that start later, if their recorder records data.
func (c *Clock) CompareValues() { c.values = map[*probe.LaunchInfo]*Values{} }

// Values returns the differences of a launch that has ended. It returns nil if the values were not compared: without CompareValues, without data,
// or if the execution of the launch had ended before the machine could start it, because launches before it were still in progress.
func (c *Clock) Values(l *core.Launch) *Values { return c.values[l.LaunchInfo] }

// compareValues makes a launch compare the values of its loads, in the order in which memory units take the accesses.
func (c *Clock) compareValues(l *stream.Launch, plan *core.Plan) {
	m, changed := newImage(l, nil), map[int]int64{}
	plan.Access = func(w *stream.Warp, q *stream.Request, transaction int32) {
		t, content := &w.Transactions[transaction], &w.Contents[transaction]
		switch {
		case t.Local:
		case q.Kind != probe.AccessLoad:
			m.write(t.Line, content)
		case !m.load(t.Line, content):
			changed[int(q.Instr)]++
		}
	}
	plan.End = func(err error) {
		if err == nil { // CTAs after that of a trap have not arrived
			m.end()
		}
		c.values[l.LaunchInfo] = &Values{m.ImageCounts, changed}
	}
}

// newClock returns a machine with a clock, on a memory. parts are those of withSystems.
func newClock(s Spec, parts *Parts, registers int, m memory.Memory) *Clock {
	c := &Clock{parts: parts, misses: newClockMisses(&s, parts)}
	c.Machine = core.New(core.Config{Spec: *s.clock(), SMs: s.SMs, L1Lines: s.L1Lines, StoresEvict: s.StoresEvict, Memory: m, Plan: func(l *stream.Launch) core.Plan {
		resident, by, l1 := s.resources(l, registers, parts)
		if assist := parts.assistRegisters(); resident == 0 && by == occupancy.LimitedByRegisters && assist > 0 {
			c.err = cmp.Or(c.err, fmt.Errorf("kernel %s: a block of %d threads with %d registers, and %d for assist routines, does not fit: %s; choose fewer registers (--regs, .maxnreg), a smaller block, or a machine with more registers", l.Kernel.Name, l.Block.Count(), s.registers(l, registers), assist, by))
		}
		resident = max(resident, 1)
		run := &Run{l, s.SMs}
		own, policy, err := parts.begin(run, l1.Policy)
		c.err = cmp.Or(c.err, err)
		plan := core.Plan{Resident: resident, L1: l1.shape(), Policy: policy, Dispatcher: s.dispatcher(l, own, resident)}
		if parts.Residency != nil {
			places, of, err := parts.Residency(run, s.limits(), s.registers(l, registers), parts.assistRegisters())
			if err != nil {
				c.err = cmp.Or(c.err, fmt.Errorf("kernel %s: %w", l.Kernel.Name, err))
			} else {
				plan.Resident, plan.Dispatcher, plan.Residency = places, s.dispatcher(l, own, places), of
			}
		}
		switch {
		case parts.Prefetch != nil:
			plan.Prefetch = parts.Prefetch(run, l1.Bytes, resident)
		case s.Prefetch != nil:
			plan.Prefetch = s.Prefetch(l1.Bytes, resident)
		}
		if c.values != nil && l.Memory != nil {
			c.compareValues(l, &plan)
		}
		if c.forms != nil {
			c.err = cmp.Or(c.err, c.forms.begin(l))
			plan.Forms, plan.Assist = c.forms, c.forms.assist()
		}
		if c.misses != nil {
			plan.Misses = c.misses
		}
		return plan
	}})
	return c
}

// Reading is a parameter of a machine with a clock whose value is unknown.
type Reading struct {
	Name  string   `json:"name"`           // name of the parameter
	With  []string `json:"with,omitempty"` // further parameters that have its value
	Value int64    `json:"value"`          // assumed value
	Fast  int64    `json:"fast"`           // end of the range for the faster machine
	Slow  int64    `json:"slow"`           // end of the range for the slower machine
}

// Readings returns the unknown parameters of a machine with a clock.
func (s *Spec) Readings() (list []Reading) {
	c := s.clock()
	for _, r := range c.Readings {
		list = append(list, Reading{Name: r.Name, Value: c.Value(r.Name), Fast: r.Low, Slow: r.High})
	}
	m := s.timing()
	for _, r := range m.Readings {
		list = append(list, Reading{r.Name, r.With, m.Value(r.Name), int64(r.Low), int64(r.High)})
	}
	return list
}

// ClockEnds returns the machine with all readings at the end of their range for the faster machine, and with all at the other.
func (s Spec) ClockEnds() (fast, slow Spec) {
	fast, slow = s, s
	fast.Clock, slow.Clock = s.clock().Ends()
	fast.Timing, slow.Timing = s.timing().Ends()
	return fast, slow
}
