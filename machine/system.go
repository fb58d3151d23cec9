package machine

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"gemu/machine/cache"
	"gemu/machine/codec"
	"gemu/machine/core"
	"gemu/machine/dispatch"
	"gemu/machine/dram"
	"gemu/machine/locality"
	"gemu/machine/stream"
	"gemu/occupancy"
)

// System replaces parts of a machine, as a paper proposes. Another module can make one, for Extensions of package cli.
type System struct {
	Name string // name with its options, as on the command line
	// New returns the parts of a machine. Each machine has parts of its own.
	New func() Parts
	// Close ends what the system executes, whose launches are then errors, and frees its memory. A second call has no effect. nil: there is nothing to end.
	Close func() error
}

// CloseSystems closes the systems of the machine, after its last launch or to end it.
func (s *Spec) CloseSystems() (err error) {
	for _, system := range s.Systems {
		if system.Close != nil {
			err = cmp.Or(err, system.Close())
		}
	}
	return err
}

// Parts are the replaceable parts of a machine. A nil part is that of the machine. The machine calls one function at a time.
type Parts struct {
	// Infer receives the accesses of a launch before it runs on the machine: the launch runs there after its end.
	Infer func(l *locality.Launch, forms []locality.Form) error
	// Begin begins a launch, before all parts below. Its error is that of the machine.
	Begin func(*Run) error
	// Dispatcher returns the dispatcher of a launch; nil is that of the machine.
	Dispatcher func(*Run) *dispatch.Policy
	// L1 returns the policy of the L1 of a multiprocessor for a launch.
	L1 func(*Run, cache.Shape) cache.Policy
	// L2 returns the policy of the L2, once.
	L2 func(cache.Shape) cache.Policy
	// Pages are the frames of pages in the memory behind the L2.
	Pages *dram.Policy
	// Prefetch returns, for a launch on a machine with a clock, the line to read when a line misses an L1 of some bytes.
	Prefetch func(r *Run, l1, resident int) func(line uint64) (next uint64, ok bool)
	// Scheduler is the scheduler of warps of a machine with a clock.
	Scheduler *core.Policy
	// Residency gives the resources of multiprocessors of a machine with a clock to warps. It returns the number of CTAs that begin on a
	// multiprocessor, and the residency of a multiprocessor for the launch, which begins after cycle now. registers is the number of registers
	// of a thread, 0 if it is unknown, and assist that of its assist warps in addition.
	Residency func(r *Run, limits *occupancy.Limits, registers, assist int) (places int, of func(sm int, now int64) core.Residency, err error)
	// Codec compresses a line of the memory behind the L2, and returns the bytes of its form: 1 to codec.LineBytes. number is the number of the line: its
	// address divided by codec.LineBytes. Compression counts the bursts of the forms (BurstCounts.System).
	Codec func(number uint64, line *codec.Line) (bytes int)
	// Compressed describes where a machine with a clock has lines in forms of Codec; nil: nowhere, and Codec is counted only.
	Compressed *Compressed
	// Inferred returns a description of all that the system has inferred from the launches so far, by line. A line that begins with spaces belongs to the
	// one before it.
	Inferred func() []string
	// Misses describes the assist warps that begin when loads miss the L1 of a machine with a clock; nil: none.
	Misses *AssistMisses
	// Notices returns messages about the launches so far: reasons why the system has had no effect on any of them.
	Notices func() []string
}

// Run is a launch that begins on a machine, for the parts of a system.
type Run struct {
	*stream.Launch
	SMs int // number of multiprocessors
}

// seams are the parts that a single system can replace.
var seams = []struct {
	name  string
	taken func(*Parts) bool
	take  func(to, from *Parts)
	named func(s *Spec, name string) // describes the part as that of a system; nil: descriptions do not have it
}{
	{"the dispatcher", func(p *Parts) bool { return p.Dispatcher != nil }, func(to, from *Parts) { to.Dispatcher = from.Dispatcher }, func(s *Spec, name string) {
		own := cmp.Or(s.Dispatcher, dispatch.Rotation)
		d := *own
		d.Name = name + ", else " + own.Name // the system may leave launches to it
		s.Dispatcher = &d
	}},
	{"the policy of the L1", func(p *Parts) bool { return p.L1 != nil }, func(to, from *Parts) { to.L1 = from.L1 }, func(s *Spec, name string) { s.L1.Policy = s.L1.Policy.named(name) }},
	{"the policy of the L2", func(p *Parts) bool { return p.L2 != nil }, func(to, from *Parts) { to.L2 = from.L2 }, func(s *Spec, name string) { s.L2.Policy = s.L2.Policy.named(name) }},
	{"the frames of pages", func(p *Parts) bool { return p.Pages != nil }, func(to, from *Parts) { to.Pages = from.Pages }, nil},
	{"prefetches", func(p *Parts) bool { return p.Prefetch != nil }, func(to, from *Parts) { to.Prefetch = from.Prefetch }, nil},
	{"the scheduler", func(p *Parts) bool { return p.Scheduler != nil }, func(to, from *Parts) { to.Scheduler = from.Scheduler }, nil},
	{"the resources of warps", func(p *Parts) bool { return p.Residency != nil }, func(to, from *Parts) { to.Residency = from.Residency }, nil},
	{"the routines of misses", func(p *Parts) bool { return p.Misses != nil }, func(to, from *Parts) { to.Misses = from.Misses }, nil},
	{"the compression of memory", func(p *Parts) bool { return p.Codec != nil }, func(to, from *Parts) { to.Codec, to.Compressed = from.Codec, from.Compressed }, nil},
}

// CombineParts returns the parts of systems together. The error says which two replace the same part.
func CombineParts(list []*System) (all Parts, err error) {
	owners := make([]string, len(seams))
	for _, s := range list {
		p := s.New()
		for i := range seams {
			switch {
			case !seams[i].taken(&p):
			case owners[i] != "":
				return Parts{}, fmt.Errorf("%s and %s both replace %s: leave one of them out", owners[i], s.Name, seams[i].name)
			default:
				owners[i] = s.Name
				seams[i].take(&all, &p)
			}
		}
		if before := all.Begin; before == nil {
			all.Begin = p.Begin
		} else if p.Begin != nil {
			all.Begin = func(r *Run) error { return cmp.Or(before(r), p.Begin(r)) } // both begin
		}
		if before := all.Notices; before == nil {
			all.Notices = p.Notices
		} else if p.Notices != nil {
			all.Notices = func() []string { return slices.Concat(before(), p.Notices()) }
		}
		if before := all.Inferred; before == nil {
			all.Inferred = p.Inferred
		} else if p.Inferred != nil {
			all.Inferred = func() []string { return slices.Concat(before(), p.Inferred()) }
		}
		if before := all.Infer; before == nil {
			all.Infer = p.Infer
		} else if p.Infer != nil {
			all.Infer = func(l *locality.Launch, forms []locality.Form) error {
				if err := before(l, forms); err != nil {
					return err
				}
				return p.Infer(l, forms)
			}
		}
	}
	return all, nil
}

// named returns the policy with another name.
func (p *Replacement) named(name string) *Replacement {
	q := *p
	q.Name = name
	return &q
}

// Described returns the machine for descriptions: the policies of caches and the dispatcher that a system replaces have the system's name.
func (s Spec) Described() Spec {
	for _, system := range s.Systems {
		p := system.New()
		for i := range seams {
			if seams[i].named != nil && seams[i].taken(&p) {
				seams[i].named(&s, system.Name)
			}
		}
	}
	return s
}

// withSystems returns the parts of the machine's systems, and the machine with those that are parts of all launches.
func (s Spec) withSystems() (Spec, *Parts) {
	parts, err := CombineParts(s.Systems)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	if parts.L2 != nil {
		s.L2.Policy = &Replacement{Name: s.L2.Policy.Name, New: parts.L2}
	}
	if parts.Pages != nil {
		memory := s.Memory()
		memory.Policy = parts.Pages
		s.DRAM = memory
	}
	if parts.Scheduler != nil {
		s.clock().Policy = parts.Scheduler
	}
	if parts.Compressed != nil { // no sector can be taken from a form
		s.WholeLines = true
	}
	return s, &parts
}

// assistRegisters returns the registers of a thread for assist warps: those for compression and those for misses.
func (p *Parts) assistRegisters() (n int) {
	if p.Compressed != nil && p.Compressed.Assist != nil {
		n = p.Compressed.Assist.Registers
	}
	if p.Misses != nil {
		n += p.Misses.Registers
	}
	return n
}

// begin begins a launch, and returns its dispatcher and the policy of its L1.
func (p *Parts) begin(r *Run, own *Replacement) (d *dispatch.Policy, l1 func(cache.Shape) cache.Policy, err error) {
	if p.Begin != nil {
		if err = p.Begin(r); err != nil {
			err = fmt.Errorf("kernel %s: %w", r.Kernel.Name, err)
		}
	}
	if p.Dispatcher != nil {
		d = p.Dispatcher(r)
	}
	if p.L1 == nil {
		return d, own.New, err
	}
	return d, func(s cache.Shape) cache.Policy { return p.L1(r, s) }, err
}

// replay runs a launch that has ended on a machine. A launch whose requests were not kept is an error.
func (p *Parts) replay(m stream.Consumer, l *locality.Launch, forms []locality.Form) error {
	err := error(nil)
	if l.Requests == nil {
		err = errors.New("the launch has too many requests for inferred descriptors: take a smaller input, or give the descriptors in a file")
	} else if p.Infer != nil {
		err = p.Infer(l, forms)
	}
	if err != nil {
		return fmt.Errorf("kernel %s: %w", l.Kernel.Name, err)
	}
	m.BeginLaunch(l.Launch)
	for _, c := range l.Requests {
		m.CTA(l.Launch, c)
	}
	m.EndLaunch(l.Launch, l.Err)
	return nil
}

// Infers reports whether the machine needs the accesses of a launch before the launch. Such a machine is no consumer of a recorder: Replay
// runs its launches.
func (m *Machine) Infers() bool { return m.parts.Infer != nil }

// Replay runs a launch that has ended. Its error is that of the machine.
func (m *Machine) Replay(l *locality.Launch, forms []locality.Form) {
	if m.err == nil {
		m.err = m.parts.replay(m, l, forms)
	}
}

// Notices returns messages of the machine's systems about the launches so far, for the user.
func (m *Machine) Notices() []string {
	if m.parts.Notices == nil {
		return nil
	}
	return m.parts.Notices()
}

// Memory returns the memory behind the L2, with the frames of the machine's systems.
func (m *Machine) Memory() dram.Spec { return m.spec.Memory() }

// Infers reports whether the machine needs the accesses of a launch before the launch, as Machine.Infers does.
func (c *Clock) Infers() bool { return c.parts.Infer != nil }

// Notices returns messages of the machine's systems: see Parts.Notices.
func (c *Clock) Notices() []string {
	if c.parts.Notices == nil {
		return nil
	}
	return c.parts.Notices()
}

// Inferred describes what the machine's systems have inferred from the launches so far: see Parts.Inferred.
func (c *Clock) Inferred() []string {
	if c.parts.Inferred == nil {
		return nil
	}
	return c.parts.Inferred()
}

// Replay runs a launch that has ended. Its error is that of the machine.
func (c *Clock) Replay(l *locality.Launch, forms []locality.Form) {
	if c.err == nil {
		c.err = c.parts.replay(c, l, forms)
	}
}
