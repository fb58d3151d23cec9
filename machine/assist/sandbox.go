package assist

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"gemu/interp"
	"gemu/machine/codec"
	"gemu/probe"
	"gemu/ptx"
)

const (
	batch     = 256     // number of lines of a launch
	maxSteps  = 1 << 16 // limit of instructions for a line; the longest routine of gemu executes less than 200
	unwritten = 0xa5    // value of the bytes that a routine has not written: an absent store of zeros must show
)

// Sandbox is a device apart from all programs. It executes assist routines, each with a warp of 32 lanes.
type Sandbox struct {
	routines []*Routine
	modules  map[*Routine]*interp.Module
	launches map[*Routine]*probe.LaunchInfo // a launch of each routine that has run
	device   *interp.Device
	in, out  [batch]*interp.Buffer // the lines and forms, each in an allocation of its own, so that every access is checked
	inAddr   *interp.Buffer        // their addresses, in 8 bytes each
	outAddr  *interp.Buffer
	hints    *interp.Buffer // encodings, or indices of loads, in 4 bytes each
	missed   *interp.Buffer // addresses of missed lines, in 8 bytes each
	sizes    *interp.Buffer // results, in 4 bytes each
}

// Outcome is the outcome of a routine for a line or a form.
type Outcome struct {
	Out          codec.Line // the line of a fill; the form of a store, whose bytes from Bytes on have no meaning
	Bytes        int        // of a store: bytes of the form, or codec.LineBytes if the line stays raw
	Instructions int        // warp instructions of the routine
	Path         []int32    // these instructions, by index in the program of Sandbox.Launch
	Ahead        []uint64   // of a miss: addresses whose lines are read ahead
}

// MaxAhead is the maximum number of addresses that a routine for Miss returns.
const MaxAhead = codec.LineBytes / 8

// NewSandbox loads the routines of modules. Of several routines with the same trigger in different modules the first is taken; in one module they
// are an error. An error names its place in the text. Close frees the memory.
func NewSandbox(sources ...Source) (*Sandbox, error) {
	s := &Sandbox{device: interp.NewDevice(interp.Config{}), modules: map[*Routine]*interp.Module{}, launches: map[*Routine]*probe.LaunchInfo{}}
	for _, source := range sources {
		if err := s.load(source); err != nil {
			s.Close()
			return nil, err
		}
	}
	if err := s.allocate(); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// allocate allocates the buffers.
func (s *Sandbox) allocate() (err error) {
	addresses := func(list *[batch]*interp.Buffer) (*interp.Buffer, error) {
		table := make([]uint64, batch)
		for i := range list {
			b, err := s.device.Alloc(codec.LineBytes)
			if err != nil {
				return nil, err
			}
			list[i], table[i] = b, b.Addr()
		}
		return interp.NewBuffer(s.device, table)
	}
	if s.inAddr, err = addresses(&s.in); err != nil {
		return err
	}
	if s.outAddr, err = addresses(&s.out); err != nil {
		return err
	}
	for _, b := range []**interp.Buffer{&s.hints, &s.sizes} {
		if *b, err = s.device.Alloc(4 * batch); err != nil {
			return err
		}
	}
	s.missed, err = s.device.Alloc(8 * batch)
	return err
}

// Close frees the memory of the device.
func (s *Sandbox) Close() error { return s.device.Close() }

// Routines returns the routines of all modules, in the order of the text.
func (s *Sandbox) Routines() []*Routine { return s.routines }

// Fill returns the routine that decompresses forms of an algorithm with an encoding; nil if there is none.
func (s *Sandbox) Fill(c codec.Codec, e codec.Encoding) *Routine {
	return withTrigger(s.routines, Trigger{Event: Fill, Codec: c, Encoding: e})
}

// Store returns the routine that compresses lines by an algorithm; nil if there is none.
func (s *Sandbox) Store(c codec.Codec) *Routine {
	return withTrigger(s.routines, Trigger{Event: Store, Codec: c})
}

// Miss returns the routine for loads that miss the L1; nil if there is none.
func (s *Sandbox) Miss() *Routine { return withTrigger(s.routines, Trigger{Event: Miss}) }

// Runs reports whether a routine is taken for one of its triggers.
func (s *Sandbox) Runs(r *Routine) bool {
	return slices.ContainsFunc(r.Triggers, func(t Trigger) bool { return withTrigger(s.routines, t) == r })
}

// withTrigger returns the first routine with a trigger; nil if there is none.
func withTrigger(routines []*Routine, t Trigger) *Routine {
	for _, r := range routines {
		if slices.Contains(r.Triggers, t) {
			return r
		}
	}
	return nil
}

// load loads a module, together with a kernel for each routine.
func (s *Sandbox) load(source Source) error {
	m, err := ptx.Parse(source.Name, source.Text)
	if err != nil {
		return err
	}
	routines, err := Routines(m)
	if err != nil {
		return err
	}
	if routines == nil {
		return fmt.Errorf("%s: no .func has .pragma %q", source.Name, Pragma)
	}
	text := bytes.NewBuffer(bytes.Clone(source.Text))
	for _, r := range routines {
		if r.Event() == Point {
			return fmt.Errorf("%s:%d: routine %s is for a program point: gemu assist inserts it there", source.Name, r.Func.Pos.Line, r.Name())
		}
		for _, d := range m.Decls {
			if f, ok := d.(*ptx.Func); ok && f.Name == kernelName(r) {
				return fmt.Errorf("%s:%d: %s is the name of the kernel that gemu adds to call routine %s: choose another", source.Name, f.Pos.Line, f.Name, r.Name())
			}
		}
		text.WriteString(kernelText(r))
	}
	if m, err = ptx.Parse(source.Name, text.Bytes()); err != nil {
		return err
	}
	if routines, err = Routines(m); err != nil { // those of the new module
		return err
	}
	mod, err := s.device.LoadModule(m)
	if err != nil {
		return err
	}
	for i, r := range routines {
		for _, t := range r.Triggers {
			if other := withTrigger(routines[:i], t); other != nil {
				return fmt.Errorf("%s:%d: routines %s and %s both have trigger=%s: leave one of them out", source.Name, r.Func.Pos.Line, other.Name(), r.Name(), t)
			}
		}
		s.modules[r] = mod
		s.routines = append(s.routines, r)
	}
	return nil
}

// kernelName returns the name of the kernel that calls a routine.
func kernelName(r *Routine) string { return "gemu_assist_" + r.Name() }

// kernelText returns the kernel that calls a routine. Each CTA is a warp, and takes a line, a form or a register.
func kernelText(r *Routine) string {
	hint, result, store := "", "", ""
	switch {
	case r.takesHint():
		hint = ", %hint"
	case r.Event() == Miss:
		hint = ", %missed, %hint"
	}
	if r.Event() != Fill {
		result, store = "(%bytes), ", "\tst.global.b32 [%sizes], %bytes;\n"
	}
	return fmt.Sprintf(`
.visible .entry %s(.param .u64 in, .param .u64 out, .param .u64 hints, .param .u64 sizes, .param .u64 addresses)
{
	.reg .b32 %%cta, %%hint, %%bytes;
	.reg .b64 %%in, %%out, %%hints, %%sizes, %%missed;
	mov.u32 %%cta, %%ctaid.x;
	ld.param.u64 %%in, [in];
	mad.wide.u32 %%in, %%cta, 8, %%in;
	ld.global.u64 %%in, [%%in];
	ld.param.u64 %%out, [out];
	mad.wide.u32 %%out, %%cta, 8, %%out;
	ld.global.u64 %%out, [%%out];
	ld.param.u64 %%hints, [hints];
	mad.wide.u32 %%hints, %%cta, 4, %%hints;
	ld.global.b32 %%hint, [%%hints];
	ld.param.u64 %%missed, [addresses];
	mad.wide.u32 %%missed, %%cta, 8, %%missed;
	ld.global.u64 %%missed, [%%missed];
	ld.param.u64 %%sizes, [sizes];
	mad.wide.u32 %%sizes, %%cta, 4, %%sizes;
	call %s%s, (%%in, %%out%s);
%s	ret;
}
`, kernelName(r), result, r.Name(), hint, store)
}

// Run executes a routine of the sandbox for lines, or for forms if its event is Fill; it is not for Miss. hints has the encoding of the previous form for each
// line, for a routine with a third parameter; nil means no hints. A fault of the routine is a *probe.Trap with its place. A routine that
// executes 65536 instructions for a line traps, too. Calls of Run must not overlap.
func (s *Sandbox) Run(ctx context.Context, r *Routine, in []codec.Line, hints []codec.Encoding) ([]Outcome, error) {
	list := make([]Outcome, 0, len(in))
	for first := 0; first < len(in); first += batch {
		n := min(batch, len(in)-first)
		clear(s.hints.Bytes())
		clear(s.sizes.Bytes())
		for i := range n {
			s.put(i, &in[first+i])
			if hints != nil {
				binary.LittleEndian.PutUint32(s.hints.Bytes()[4*i:], uint32(hints[first+i]))
			}
		}
		paths, err := s.launch(ctx, r, n)
		if err != nil {
			return nil, err
		}
		for i, path := range paths {
			o := Outcome{Out: codec.Line(s.out[i].Bytes()), Instructions: len(path), Path: path}
			if r.Event() == Store {
				o.Bytes = int(int32(binary.LittleEndian.Uint32(s.sizes.Bytes()[4*i:])))
				if o.Bytes != codec.LineBytes && (o.Bytes < 1 || o.Bytes > codec.MaxForm) {
					return nil, fmt.Errorf("%s returns %d bytes: want 1 to %d, or %d for a line that stays raw", r.Name(), o.Bytes, codec.MaxForm, codec.LineBytes)
				}
			}
			list = append(list, o)
		}
	}
	return list, nil
}

// put gives CTA i its line, form or register, and a place for what it writes.
func (s *Sandbox) put(i int, in *codec.Line) {
	copy(s.in[i].Bytes(), in[:])
	for at, out := 0, s.out[i].Bytes(); at < len(out); at++ {
		out[at] = unwritten
	}
}

// launch launches a routine with n CTAs, and returns the instructions of each.
func (s *Sandbox) launch(ctx context.Context, r *Routine, n int) ([][]int32, error) {
	mod := s.modules[r]
	if mod == nil {
		return nil, fmt.Errorf("%s: the routine is of another sandbox", r.Name())
	}
	paths := &paths{list: make([][]int32, n)}
	_, err := mod.Run(ctx, &interp.Launch{
		Kernel: kernelName(r), Grid: ptx.Dim(n), Block: ptx.Dim(32), Args: []any{s.inAddr, s.outAddr, s.hints, s.sizes, s.missed},
		Mode: interp.Vector, MaxSteps: maxSteps, Probes: []probe.Probe{paths},
	})
	if err != nil {
		return nil, err
	}
	s.launches[r] = paths.launch
	return paths.list, nil
}

// RunMiss executes a routine for Miss: for a load, with its index in the program, that misses the line at an address. register is that of the
// warp, which the routine changes. Faults and limits are those of Run. Calls must not overlap.
func (s *Sandbox) RunMiss(ctx context.Context, r *Routine, register *codec.Line, address uint64, instr uint32) (*Outcome, error) {
	s.put(0, register)
	binary.LittleEndian.PutUint64(s.missed.Bytes(), address)
	binary.LittleEndian.PutUint32(s.hints.Bytes(), instr)
	paths, err := s.launch(ctx, r, 1)
	if err != nil {
		return nil, err
	}
	count := binary.LittleEndian.Uint32(s.sizes.Bytes())
	if count > MaxAhead {
		return nil, fmt.Errorf("%s returns %d addresses: want at most %d", r.Name(), int32(count), MaxAhead)
	}
	*register = codec.Line(s.in[0].Bytes())
	o := &Outcome{Instructions: len(paths[0]), Path: paths[0]}
	for i := range count {
		o.Ahead = append(o.Ahead, binary.LittleEndian.Uint64(s.out[0].Bytes()[8*i:]))
	}
	return o, nil
}

// Launch returns a launch of a routine that has run: its program has the instructions of paths. It returns nil if the routine has not run.
func (s *Sandbox) Launch(r *Routine) *probe.LaunchInfo { return s.launches[r] }

// paths is a probe that collects the instructions of a routine, by CTA.
type paths struct {
	list   [][]int32
	launch *probe.LaunchInfo
}

func (*paths) Subscription() probe.Subscription {
	return probe.Subscription{Events: probe.OnBefore | probe.OnLaunch}
}

func (p *paths) OnEvent(e *probe.Event) { p.launch = e.Launch }

func (p *paths) CTA(_ *probe.LaunchInfo, index int, _ ptx.Dim3) probe.Sink {
	return (*path)(&p.list[index])
}

// path is the instructions of a CTA.
type path []int32

func (p *path) OnEvent(e *probe.Event) {
	if e.Depth > 0 {
		*p = append(*p, int32(e.Index))
	}
}
