package record

// This file sends the events of recorded launches to probes.

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"gemu/probe"
	"gemu/ptx"
)

// Replayed describes the launches whose events Replay has sent.
type Replayed struct {
	Title    string              // title of the recording: Options.Title
	Launches []*probe.LaunchInfo // launches, in their order
	Err      error               // error that ended the last launch: a *probe.Trap with the text of the recording; nil if it completed
}

// ReplayedEvents are the kinds of events that Replay sends.
const ReplayedEvents = probe.OnLaunch | probe.OnLaunchEnd | probe.OnCTA | probe.OnCTAEnd | probe.OnWarp | probe.OnWarpEnd | probe.OnAccess | probe.OnAfter | probe.OnEffect | probe.OnWake

// Replay sends the events of a recording to probes, as if its launches were executed again: accesses have their addresses and allocations.
// With memory, allocations of global memory have their bytes (probe.Allocation.Data), as in the execution. Texels, values of registers, and
// the state of the machine (Event.Machine) are missing. Asynchronous operations have their memory (Effect.Segments) without that of
// other state spaces than global memory. A load of a vector that ignores its last elements counts them even if they lie past the end of local
// memory.
//
// The recording needs the parts accesses and source, and memory on demand. It must be whole: without filters, and not ended by a limit.
func Replay(ctx context.Context, f *File, memory bool, probes ...probe.Probe) (*Replayed, error) {
	p := &player{f: f, memory: memory, allocations: map[int32]*probe.Allocation{}, modules: map[uint32]*ptx.Module{}, programs: map[uint32]*replayedProgram{}, running: map[uint32]*replayedLaunch{}, numbers: map[uint32]uint64{}}
	for _, o := range probes {
		s := o.Subscription()
		if rest := s.Events &^ ReplayedEvents; rest != 0 || s.Values || s.Results || s.Tags {
			return nil, fmt.Errorf("a probe needs values of registers, or events that a recording cannot send: %s", rest)
		}
		p.probes = append(p.probes, replayedProbe{o, s.Events})
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	if err := p.play(ctx); err != nil {
		return nil, err
	}
	return &p.Replayed, nil
}

// replayedProbe is a probe with its events.
type replayedProbe struct {
	probe.Probe
	events probe.Events
}

// player sends the events of a recording.
type player struct {
	Replayed
	f      *File
	memory bool
	probes []replayedProbe

	allocations map[int32]*probe.Allocation // by row; known so far
	live        []int32                     // rows of the allocations, without arrays, that are not freed, of those before row seen
	seen        int                         // number of rows that are live or were
	modules     map[uint32]*ptx.Module      // by LaunchRow.FirstSource
	programs    map[uint32]*replayedProgram // by LaunchRow.FirstInstruction
	running     map[uint32]*replayedLaunch  // by row of the table launches
	numbers     map[uint32]uint64           // number of launches so far, by device

	launchRows     []LaunchRow
	endRows        []EndRow
	allocationRows []AllocationRow
	freeRows       []FreeRow

	cursors

	// The event in progress:
	e     probe.Event
	list  []probe.Access // its accesses
	moved []movedBytes   // bytes that it writes to global memory
	used  []probe.MbarrierUse
}

// cursors are the tables that are read row by row.
type cursors struct {
	events   cursor[EventRow]
	accesses cursor[AccessRow]
	stores   cursor[StoreRow]
	writes   cursor[WriteRow]
	waits    cursor[WaitRow]
	effects  cursor[EffectRow]
	segments cursor[SegmentRow]
	uses     cursor[MbarrierRow]
	traps    cursor[TrapRow]
	images   cursor[ImageRow]
	orders   cursor[OrderRow]

	arguments cursor[ArgumentRow]
}

// cursor reads the rows of a table in their order.
type cursor[Row any] struct {
	list []Row
	next uint64 // row after those of list
	row  uint64 // row of list[0]
}

// peek returns the next row; nil at the end of the table.
func (c *cursor[Row]) peek(f *File) (*Row, error) {
	if len(c.list) == 0 {
		list, err := Read[Row](f, c.next, 1<<14)
		if err != nil || len(list) == 0 {
			return nil, err
		}
		c.row, c.list = c.next, list
		c.next += uint64(len(list))
	}
	return &c.list[0], nil
}

// skip goes to the row after the next.
func (c *cursor[Row]) skip() { c.list, c.row = c.list[1:], c.row+1 }

// rowsFor calls use with the next rows while their key is a value, and passes rows with smaller keys.
func rowsFor[Row any](p *player, c *cursor[Row], key func(*Row) uint64, value uint64, use func(number uint64, row *Row) error) error {
	for {
		row, err := c.peek(p.f)
		if err != nil || row == nil || key(row) > value {
			return err
		}
		if key(row) == value {
			if err := use(c.row, row); err != nil {
				return err
			}
		}
		c.skip()
	}
}

// errorf returns an error about the recording.
func (p *player) errorf(format string, args ...any) error {
	return fmt.Errorf("%s: %w", p.f.name, fmt.Errorf(format, args...))
}

// check returns an error if the recording lacks something that a replay needs, and reads the small tables.
func (p *player) check() error {
	about, err := Read[RecordingRow](p.f, 0, 1)
	if err != nil {
		return err
	}
	if len(about) == 0 {
		return p.errorf("the recording is empty")
	}
	if p.launchRows, err = Read[LaunchRow](p.f, 0, math.MaxUint32); err != nil {
		return err
	}
	need := []string{"accesses", "source"}
	if p.memory {
		need = append(need, "memory")
	}
	again := "record the run again: gemu record … --with " + strings.Join(need, ",")
	a := &about[0]
	switch has := strings.Split(a.Contents, ","); {
	case slices.ContainsFunc(p.launchRows, func(r LaunchRow) bool { return r.SM == 0 }):
		return p.errorf("this is a converted log, which has no allocations and no PTX; %s", again)
	case slices.ContainsFunc(need, func(name string) bool { return !slices.Contains(has, name) }):
		missing := slices.DeleteFunc(need, func(name string) bool { return slices.Contains(has, name) })
		return p.errorf("the recording lacks %s; %s", strings.Join(missing, " and "), again)
	case a.Filter != "":
		return p.errorf("the recording has a part of the run only (%s); %s, without filters", a.Filter, again)
	case p.f.Table("segments") == nil:
		return p.errorf("an earlier gemu has written the recording, without the memory of asynchronous copies and the order of CTAs; %s", again)
	case !p.f.Complete:
		return p.errorf("the recording is incomplete: its writer was stopped; %s", again)
	}
	p.Title = a.Title
	if p.endRows, err = Read[EndRow](p.f, 0, math.MaxUint32); err != nil {
		return err
	}
	if p.allocationRows, err = Read[AllocationRow](p.f, 0, math.MaxInt32); err != nil {
		return err
	}
	if p.freeRows, err = Read[FreeRow](p.f, 0, math.MaxUint32); err != nil {
		return err
	}
	for _, e := range p.endRows {
		if e.Complete == 0 {
			return p.errorf("the recording has reached a limit and ends before the run; %s, with --max-events 0 and a larger --max-size", again)
		}
	}
	if len(p.launchRows) == 0 || len(p.endRows) != len(p.launchRows) {
		return p.errorf("the recording has %d launches, of which %d have ended; %s, with --max-events 0 and a larger --max-size", len(p.launchRows), len(p.endRows), again)
	}
	return nil
}

// play sends the events of all launches.
func (p *player) play(ctx context.Context) error {
	begun, ended, freed := 0, 0, 0
	for n := uint64(0); ; n++ {
		// The recorder has written these rows before event n.
		for progress := true; progress; {
			progress = false
			for ended < len(p.endRows) && p.endRows[ended].Events <= n && p.running[p.endRows[ended].Launch] != nil {
				p.endLaunch(&p.endRows[ended])
				ended, progress = ended+1, true
			}
			for freed < len(p.freeRows) && p.freeRows[freed].Event <= n {
				p.free(int32(p.freeRows[freed].Allocation))
				freed++
			}
			if begun < len(p.launchRows) && p.launchRows[begun].FirstEvent <= n {
				if err := p.beginLaunch(uint32(begun)); err != nil {
					return err
				}
				begun, progress = begun+1, true
			}
		}
		e, err := p.events.peek(p.f)
		if err != nil {
			return err
		}
		if e == nil {
			break
		}
		if n%(1<<14) == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := p.event(n, e); err != nil {
			return err
		}
		p.events.skip()
	}
	if begun < len(p.launchRows) || len(p.running) > 0 {
		return p.errorf("launches begin or end after the last event: the recording is damaged")
	}
	return nil
}

var (
	kindOfAllocation = inverse(allocationKinds)
	kindOfEvent      = inverse(kinds)
)

// inverse returns the keys of a map by value.
func inverse[K, V comparable](m map[K]V) map[V]K {
	out := make(map[V]K, len(m))
	for k, v := range m {
		out[v] = k
	}
	return out
}

// allocation returns the allocation of a row; nil for -1.
func (p *player) allocation(row int32) (*probe.Allocation, error) {
	if row < 0 {
		return nil, nil
	}
	if a := p.allocations[row]; a != nil {
		return a, nil
	}
	if int(row) >= len(p.allocationRows) {
		return nil, p.errorf("allocation %d does not exist: the recording is damaged", row)
	}
	r := &p.allocationRows[row]
	kind, ok := kindOfAllocation[r.Kind]
	if !ok {
		return nil, p.errorf("allocation %d has the unknown kind %q", row, r.Kind)
	}
	a := &probe.Allocation{Base: r.Base, Size: r.Size, Span: r.Size, Kind: kind, Name: r.Name}
	p.allocations[row] = a
	return a, nil
}

// at returns the allocation of a device that contains an address after some events; nil if there is none.
func (p *player) at(addr uint64, device uint32, event uint64) (*probe.Allocation, error) {
	for ; p.seen < len(p.allocationRows) && p.allocationRows[p.seen].Event <= event+1; p.seen++ { // the rows of an event follow it
		row := int32(p.seen)
		if a := p.allocations[row]; (a == nil || !a.Freed) && kindOfAllocation[p.allocationRows[row].Kind] != probe.ArrayMemory {
			p.live = append(p.live, row)
		}
	}
	for _, row := range p.live {
		if r := &p.allocationRows[row]; r.Device == device && addr-r.Base < r.Size {
			return p.allocation(row)
		}
	}
	return nil, nil
}

// free frees an allocation.
func (p *player) free(row int32) {
	p.live = slices.DeleteFunc(p.live, func(r int32) bool { return r == row })
	if a := p.allocations[row]; a != nil {
		a.Size, a.Data, a.Freed = 0, nil, true
	} else if int(row) < len(p.allocationRows) {
		p.allocations[row] = &probe.Allocation{Freed: true}
	}
}

// replayedLaunch is a launch in progress.
type replayedLaunch struct {
	*probe.LaunchInfo
	player  *player
	row     uint32
	device  uint32
	program *replayedProgram
	sinks   map[int][]probe.Sink // of each CTA in flight, by index: the sink of each probe; nil: none
	trap    *probe.Trap          // trap of the launch so far
}

// beginLaunch begins a launch.
func (p *player) beginLaunch(row uint32) error {
	r := &p.launchRows[row]
	p.numbers[r.Device]++
	dim := func(x, y, z uint32) ptx.Dim3 { return ptx.Dim3{X: int(x), Y: int(y), Z: int(z)} }
	info := &probe.LaunchInfo{
		ID: p.numbers[r.Device], Device: uint64(r.Device) + 1, SM: int(r.SM), Grid: dim(r.GridX, r.GridY, r.GridZ), Block: dim(r.BlockX, r.BlockY, r.BlockZ), Cluster: dim(r.ClusterX, r.ClusterY, r.ClusterZ),
		WarpSize: int(r.WarpSize), Shared: int(r.Shared), SharedBytes: int(r.SharedBytes), Cooperative: r.Cooperative == 1, Seed: r.Seed, MaxSteps: int64(r.MaxSteps),
		EagerEffects: r.EagerEffects == 1, Reconverge: probe.ReconvergencePolicy{Name: r.Reconverge},
	}
	ctas, fits := uint64(1), true
	for _, n := range []uint32{r.GridX, r.GridY, r.GridZ} {
		ctas *= uint64(n)
		fits = fits && ctas > 0 && ctas <= math.MaxInt32
	}
	if threads := uint64(r.BlockX) * uint64(r.BlockY); !fits || threads == 0 || threads > 1<<16 || r.BlockZ == 0 || r.BlockZ > 1<<16 || r.WarpSize == 0 || r.WarpSize > 64 ||
		r.ClusterX == 0 || r.ClusterY == 0 || r.ClusterZ == 0 || r.GridX%r.ClusterX+r.GridY%r.ClusterY+r.GridZ%r.ClusterZ != 0 {
		return p.errorf("launch %d: a grid of (%d,%d,%d) blocks of (%d,%d,%d) threads cannot be replayed", row, r.GridX, r.GridY, r.GridZ, r.BlockX, r.BlockY, r.BlockZ)
	}
	clusters := info.Clusters().Count()
	err := rowsFor(p, &p.orders, func(o *OrderRow) uint64 { return uint64(o.Launch) }, uint64(row), func(_ uint64, o *OrderRow) error {
		if uint64(o.Cluster) >= uint64(clusters) || len(info.Dispatch) == clusters {
			return p.errorf("launch %d: its order of CTAs is damaged", row)
		}
		info.Dispatch = append(info.Dispatch, int(o.Cluster))
		return nil
	})
	if err != nil {
		return err
	}
	if n := len(info.Dispatch); n > 0 && n < clusters {
		return p.errorf("launch %d: its order of CTAs is damaged", row)
	}
	program, err := p.program(r)
	if err != nil {
		return err
	}
	info.Program, info.Kernel, info.Module = program, program.kernel, program.module
	if err := p.readArguments(info, program, row, r); err != nil {
		return err
	}
	l := &replayedLaunch{info, p, row, r.Device, program, map[int][]probe.Sink{}, nil}
	p.running[row] = l
	p.Launches = append(p.Launches, info)
	if p.memory {
		if err := p.readImages(row); err != nil {
			return err
		}
		if err := program.checkMemory(p); err != nil {
			return err
		}
	}
	p.toProbes(l, &probe.Event{Kind: probe.OnLaunch, Launch: info, CTA: -1, Warp: -1, Index: -1, Reconverge: -1})
	return nil
}

// readImages sets the bytes of allocations to those at the beginning of a launch.
func (p *player) readImages(launch uint32) error {
	return rowsFor(p, &p.images, func(r *ImageRow) uint64 { return uint64(r.Launch) }, uint64(launch), func(_ uint64, r *ImageRow) error {
		if r.Allocation > math.MaxInt32 {
			return p.errorf("launch %d: an image is damaged", launch)
		}
		a, err := p.allocation(int32(r.Allocation))
		switch {
		case err != nil:
			return err
		case a.Freed || a.Kind.Opaque() != "":
			return nil
		case r.Bytes < a.Size:
			return p.errorf("the memory of launch %d is cut off at the limit --max-size; record the run again with a larger one", launch)
		}
		a.Data = make([]byte, a.Size)
		return p.readData(r.Data, a.Data)
	})
}

// readData reads rows of the table data.
func (p *player) readData(row uint64, to []byte) error {
	t := p.f.Table("data")
	for len(to) > 0 {
		if t == nil {
			return p.errorf("the table data is missing")
		}
		list, err := t.ReadNumbers("byte", row, uint64(min(len(to), 1<<20)))
		if err != nil {
			return err
		}
		if len(list) == 0 {
			return p.errorf("the table data ends before row %d", row)
		}
		for i, v := range list {
			to[i] = byte(v)
		}
		to, row = to[len(list):], row+uint64(len(list))
	}
	return nil
}

// endLaunch ends a launch.
func (p *player) endLaunch(r *EndRow) {
	l := p.running[r.Launch]
	delete(p.running, r.Launch)
	p.Err = nil
	if r.Error != "" {
		trap := l.trap
		if trap == nil {
			trap = &probe.Trap{Warp: -1, Index: -1}
		}
		p.Err = &replayedError{r.Error, trap}
	}
	p.toProbes(l, &probe.Event{Kind: probe.OnLaunchEnd, Launch: l.LaunchInfo, Err: p.Err, CTA: -1, Warp: -1, Index: -1, Reconverge: -1})
}

// replayedError is the error of a launch, with its recorded text.
type replayedError struct {
	text string
	trap *probe.Trap
}

func (e *replayedError) Error() string { return e.text }

// Unwrap returns the trap.
func (e *replayedError) Unwrap() error { return e.trap }

// toProbes sends an event that belongs to no CTA.
func (p *player) toProbes(l *replayedLaunch, e *probe.Event) {
	for _, o := range p.probes {
		if o.events&e.Kind != 0 {
			o.OnEvent(e)
		}
	}
}

// send sends an event to the sinks of its CTA.
func (l *replayedLaunch) send(e *probe.Event) {
	for i, sink := range l.sinks[e.CTA] {
		if sink != nil && l.player.probes[i].events&e.Kind != 0 {
			sink.OnEvent(e)
		}
	}
}

// event sends a row of the table events.
func (p *player) event(n uint64, r *EventRow) error {
	l := p.running[r.Launch]
	if l == nil {
		return p.errorf("event %d belongs to no running launch: the recording is damaged", n)
	}
	kind := kindOfEvent[r.Kind] & ReplayedEvents
	if kind == 0 && r.Kind != Trap {
		return nil
	}
	id := int(r.CTA)
	warps := (l.Block.Count() + l.WarpSize - 1) / l.WarpSize
	index := -1
	if r.Instruction >= 0 {
		index = int(r.Instruction) - int(l.program.first)
	}
	if uint64(r.CTA) >= uint64(l.Grid.Count()) || int(r.Warp) >= warps || index >= l.program.Len() || index < -1 || index < 0 && (r.Kind == Instruction || r.Kind == Effect || r.Kind == Wake) || r.Warp < 0 && r.Kind != CTABegin && r.Kind != CTAEnd && r.Kind != Trap {
		return p.errorf("event %d is damaged: CTA %d, warp %d, instruction %d", n, r.CTA, r.Warp, r.Instruction)
	}
	e := &p.e
	*e = probe.Event{Kind: kind, Launch: l.LaunchInfo, Step: int64(r.Step), CTA: id, ID: l.Grid.At(id), Warp: int(r.Warp), Index: index, Active: r.Active, Lanes: r.Lanes, Depth: int(r.Depth), Local: int(r.Frame), Reconverge: -1}
	if index >= 0 {
		e.Instr, e.Func = l.program.At(index)
	}
	if r.Kind == CTABegin {
		sinks := make([]probe.Sink, len(p.probes))
		for i, o := range p.probes {
			sinks[i] = o.CTA(l.LaunchInfo, id, e.ID)
		}
		l.sinks[id] = sinks
	}
	if l.sinks[id] == nil && r.Kind != Trap {
		return p.errorf("event %d belongs to a CTA that has not begun, or has ended: the recording is damaged", n)
	}
	p.list, p.moved, p.used = p.list[:0], p.moved[:0], p.used[:0]
	if r.Kind == Instruction || r.Kind == Effect {
		err := rowsFor(p, &p.uses, func(u *MbarrierRow) uint64 { return u.Event }, n, func(_ uint64, u *MbarrierRow) error {
			p.used = append(p.used, probe.MbarrierUse{Kind: probe.MbarrierUseKind(u.Use), Lanes: u.Lanes, Address: u.Address, Completes: u.Completes == 1})
			return nil
		})
		if err != nil {
			return err
		}
		if len(p.used) > 0 {
			e.Mbarriers = p.used
		}
	}
	switch r.Kind {
	case Trap:
		return rowsFor(p, &p.traps, func(t *TrapRow) uint64 { return t.Event }, n, func(_ uint64, t *TrapRow) error {
			if l.trap == nil {
				l.trap = &probe.Trap{Msg: t.Message, Kernel: l.Kernel.Name, Index: index, Grid: l.Grid, CTA: e.ID, Warp: int(r.Warp), Lanes: r.Lanes, Active: r.Active, Width: l.WarpSize}
			}
			return nil
		})
	case Wake:
		err := rowsFor(p, &p.waits, func(w *WaitRow) uint64 { return w.Event }, n, func(_ uint64, w *WaitRow) error {
			e.Wait = probe.WaitState{Barrier: int(w.Barrier), Threads: int(w.Threads), Members: w.Members, Generation: int(w.Generation)}
			return nil
		})
		if err != nil {
			return err
		}
		if e.Wait.Barrier > probe.ClusterBarrier || e.Wait.Barrier < -1 {
			return p.errorf("event %d waits at the unknown barrier %d: the recording is damaged", n, e.Wait.Barrier)
		}
	case Effect:
		if err := p.effect(l, n, e); err != nil {
			return err
		}
	case Instruction:
		err := rowsFor(p, &p.accesses, func(a *AccessRow) uint64 { return a.Event }, n, func(number uint64, a *AccessRow) error {
			return p.access(l, n, number, e, a)
		})
		if err != nil {
			return err
		}
		for i := range p.list {
			e.Kind, e.Accesses = probe.OnAccess, p.list[:i+1]
			l.send(e)
		}
		e.Kind, e.Accesses = kind, p.list
		p.move()
	}
	l.send(e)
	switch r.Kind {
	case Effect:
		p.move()
	case CTAEnd:
		delete(l.sinks, id)
	}
	return nil
}

// movedBytes are bytes that an event writes.
type movedBytes struct {
	to     *probe.Allocation
	offset uint64
	data   []byte
}

// move writes the bytes of the event in progress.
func (p *player) move() {
	for _, m := range p.moved {
		copy(m.to.Data[min(m.offset, uint64(len(m.to.Data))):], m.data)
	}
}

// valueOf returns the values of lanes.
func (p *player) valueOf(class Class, base uint64, stride int64, values, lanes uint64, to *[64]uint64) error {
	if class != Generic {
		for m := lanes; m != 0; m &= m - 1 {
			lane := lowest(m)
			if to[lane] = base; class == Affine {
				to[lane] += uint64(lane) * uint64(stride)
			}
		}
		return nil
	}
	t := p.f.Table("values")
	if t == nil {
		return p.errorf("the table values is missing")
	}
	list, err := t.ReadNumbers("low", values, 64)
	if err != nil {
		return err
	}
	k := 0
	for m := lanes; m != 0; m &= m - 1 {
		if k == len(list) {
			return p.errorf("the table values ends before row %d", values+uint64(k))
		}
		to[lowest(m)] = list[k]
		k++
	}
	return nil
}

// replayedMachine answers the questions about an access.
type replayedMachine struct {
	launch *replayedLaunch
	event  uint64            // number of the event
	space  ptx.Space         // state space of the access
	memory *probe.Allocation // global memory that all lanes access; nil if it is unknown
	unit   int               // bytes of an element
}

// AllocationAt returns the memory at an address.
func (m *replayedMachine) AllocationAt(a *probe.Access, addr uint64) (space ptx.Space, alloc *probe.Allocation, offset uint64, ok bool) {
	if m.space != ptx.Global {
		return m.space, nil, addr, true
	}
	alloc = m.memory
	if alloc == nil || addr-alloc.Base >= alloc.Span {
		alloc, _ = m.launch.player.at(addr, m.launch.device, m.event) // access has returned the error
	}
	if alloc == nil {
		return ptx.Global, nil, 0, false
	}
	return ptx.Global, alloc, addr - alloc.Base, true
}

// BytesLeft returns the number of bytes of a lane's access in memory, in whole elements.
func (m *replayedMachine) BytesLeft(a *probe.Access, lane int) int {
	_, alloc, offset, ok := a.PlaceOf(lane)
	if !ok || alloc == nil {
		return a.Bytes
	}
	return int(min((alloc.Span-offset)/uint64(m.unit)*uint64(m.unit), uint64(a.Bytes)))
}

// AppendStored returns no bytes: probes that need them have no events from a recording.
func (*replayedMachine) AppendStored(_ *probe.Access, p []byte, _ int) ([]byte, bool) {
	return p, false
}

// StoredBy returns no operands, as AppendStored.
func (*replayedMachine) StoredBy(*probe.Access, *probe.Stored, int) bool { return false }

// MemoryBefore returns no bytes.
func (*replayedMachine) MemoryBefore(*probe.Access, *probe.Allocation, uint64, int) []byte {
	return nil
}

// Shadow returns no bytes.
func (*replayedMachine) Shadow(*probe.Access, int) []byte { return nil }

// access adds an access of an instruction to the list.
func (p *player) access(l *replayedLaunch, event, number uint64, e *probe.Event, r *AccessRow) error {
	if r.Space == Texture {
		return nil
	}
	q := probe.Request{Space: ptx.Global, Bytes: int(r.Bytes), Surface: r.Space == Surface}
	if int(r.Space) < len(spaces) {
		q.Space = spaces[r.Space]
	}
	switch r.Kind {
	case Store, Zero:
		q.Kind = probe.AccessStore
	case Atomic:
		q.Kind = probe.AccessAtomic
	}
	alloc, err := p.allocation(r.Allocation)
	if err != nil {
		return err
	}
	if r.Bytes > maxAccess || r.Space > Surface || r.Kind > Zero || l.WarpSize < 64 && r.Lanes>>l.WarpSize != 0 || r.Class > Generic {
		return p.errorf("access %d is damaged", number)
	}
	if p.memory && r.Space == Global {
		if err := p.checkBytes(alloc, event); err != nil {
			return err
		}
	}
	machine := &replayedMachine{l, event, q.Space, alloc, max(e.Instr.Type().Bits()/8, 1)}
	if len(p.list) < cap(p.list) {
		p.list = p.list[:len(p.list)+1]
	} else {
		p.list = append(p.list, probe.Access{})
	}
	a := &p.list[len(p.list)-1]
	a.Reset(q, r.Lanes, machine)
	a.Reserve(64)
	if err := p.valueOf(r.Class, r.Base, r.Stride, r.Values, r.Lanes, (*[64]uint64)(a.Addr)); err != nil {
		return err
	}
	if r.Space == Global && r.Kind == Load {
		for m := r.Lanes; m != 0; m &= m - 1 {
			if lane := lowest(m); alloc != nil && a.Addr[lane]-alloc.Base < alloc.Span && alloc.Span-(a.Addr[lane]-alloc.Base) < uint64(r.Bytes) {
				a.SpareBytes = 1 // the length of some lanes is that of Length
			}
		}
	}
	if r.Kind == Zero {
		a.Lengths = make([]uint64, 64)
	}
	return p.stored(event, number, r, a)
}

// checkBytes gives memory that a kernel has allocated its bytes, zeros. It returns an error if the bytes of other memory are unknown.
func (p *player) checkBytes(a *probe.Allocation, event uint64) error {
	if a == nil || a.Freed || a.Data != nil || a.Size == 0 {
		return nil
	}
	switch a.Kind {
	case probe.HeapMemory, probe.PerCTAMemory, probe.WorkspaceMemory:
		a.Data = make([]byte, a.Size)
		return nil
	}
	return p.errorf("event %d accesses %s, whose bytes are not recorded: it is mapped memory of the host, or the recorder did not see its allocation", event, a)
}

// stored collects the bytes that an access writes to global memory.
func (p *player) stored(event, number uint64, r *AccessRow, a *probe.Access) error {
	if !p.memory && r.Kind != Zero {
		return nil
	}
	writes := p.memory && r.Space == Global && r.Kind != Load
	at, found := 0, false // bytes of the elements before
	var values [64]uint64
	put := func(lane int, offset int, data []byte) {
		if _, alloc, start, ok := a.PlaceOf(lane); ok && alloc != nil {
			p.moved = append(p.moved, movedBytes{alloc, start + uint64(offset), data})
		}
	}
	err := rowsFor(p, &p.stores, func(s *StoreRow) uint64 { return s.Access }, number, func(_ uint64, s *StoreRow) error {
		bytes := int(s.Bits) / 8
		if found = true; s.Class != NoValue && s.Compare == 0 && (r.Kind == Zero || writes && r.Kind == Store) {
			if err := p.valueOf(s.Class, s.Base, s.Stride, s.Values, r.Lanes, &values); err != nil {
				return err
			}
			for m := r.Lanes; m != 0; m &= m - 1 {
				lane := lowest(m)
				if r.Kind == Zero {
					if a.Lengths[lane] = min(values[lane], maxAccess); writes {
						put(lane, 0, make([]byte, a.Lengths[lane]))
					}
					continue
				}
				put(lane, at, binary.LittleEndian.AppendUint64(nil, values[lane])[:min(bytes, 8)])
			}
		}
		at += bytes
		return nil
	})
	if err != nil || !writes {
		return err
	}
	left := false
	err = rowsFor(p, &p.writes, func(w *WriteRow) uint64 { return w.Access }, number, func(_ uint64, w *WriteRow) error {
		data := make([]byte, min(w.Bytes, 64*maxAccess))
		if err := p.readData(w.Data, data); err != nil {
			return err
		}
		left = true
		for m := r.Lanes; m != 0; m &= m - 1 {
			n := min(int(r.Bytes), len(data))
			put(lowest(m), 0, data[:n])
			data = data[n:]
		}
		return nil
	})
	if err == nil && (r.Kind == Atomic && !left || r.Kind != Atomic && !found) {
		err = p.errorf("event %d: the bytes that the instruction leaves in memory are not recorded", event)
	}
	return err
}

// effect sets the asynchronous operation of an event, and collects the bytes that it writes.
func (p *player) effect(l *replayedLaunch, n uint64, e *probe.Event) error {
	x := &probe.Effect{}
	e.Effect = x
	err := rowsFor(p, &p.effects, func(r *EffectRow) uint64 { return r.Event }, n, func(_ uint64, r *EffectRow) error {
		*x = probe.Effect{Number: r.Number, Issued: r.Issued == 1, Reads: r.Reads == 1, Writes: r.Writes == 1, Arrives: r.Arrives == 1, Bulk: r.Bulk == 1, Reduces: r.Reduces == 1, FurtherDestination: r.FurtherDestination == 1}
		return nil
	})
	if err != nil {
		return err
	}
	err = rowsFor(p, &p.segments, func(r *SegmentRow) uint64 { return r.Event }, n, func(_ uint64, r *SegmentRow) error {
		s := probe.Segment{ToOffset: r.ToOffset, FromOffset: r.FromOffset, Bytes: int(r.Bytes), Read: int(r.Read)}
		var err error
		if s.To, err = p.allocation(r.To); err != nil {
			return err
		}
		if s.From, err = p.allocation(r.From); err != nil {
			return err
		}
		if r.Bytes > maxAccess || r.Read > maxAccess || s.To != nil && r.ToOffset > s.To.Span || s.From != nil && r.FromOffset > s.From.Span {
			return p.errorf("event %d: the memory of the operation is damaged", n)
		}
		x.Segments = append(x.Segments, s)
		return nil
	})
	if err != nil {
		return err
	}
	issued := len(x.Segments) > 0
	return rowsFor(p, &p.accesses, func(a *AccessRow) uint64 { return a.Event }, n, func(number uint64, a *AccessRow) error {
		if !p.memory || a.Space != Global || a.Kind == Load {
			return nil
		}
		to, err := p.at(a.Base, l.device, n)
		if err != nil {
			return err
		}
		if to == nil {
			return p.errorf("event %d: the operation writes to %#x, where no allocation is recorded", n, a.Base)
		}
		if err := p.checkBytes(to, n); err != nil {
			return err
		}
		if a.Kind == Atomic {
			return p.errorf("kernel %s reduces data in global memory asynchronously (line %d of the PTX), and a recording does not have the result; run the kernel without --from", l.Kernel.Name, e.Instr.Pos.Line)
		}
		if !issued {
			x.Segments = append(x.Segments, probe.Segment{To: to, ToOffset: a.Base - to.Base, Bytes: int(a.Bytes)})
		}
		return rowsFor(p, &p.writes, func(w *WriteRow) uint64 { return w.Access }, number, func(_ uint64, w *WriteRow) error {
			data := make([]byte, min(w.Bytes, maxAccess))
			p.moved = append(p.moved, movedBytes{to, a.Base - to.Base, data})
			return p.readData(w.Data, data)
		})
	})
}

// maxParameters is the maximum size of the parameters of a kernel in bytes.
const maxParameters = 1 << 16

// readArguments reads the parameters of a launch, whose row is r.
func (p *player) readArguments(info *probe.LaunchInfo, program *replayedProgram, row uint32, r *LaunchRow) error {
	for _, v := range program.params {
		if end := v.Offset + v.Var.Size(); end > len(info.Parameters) {
			info.Parameters = append(info.Parameters, make([]byte, end-len(info.Parameters))...)
		}
	}
	first := uint64(r.FirstVariable) + uint64(r.Variables) - uint64(len(program.params))
	return rowsFor(p, &p.arguments, func(a *ArgumentRow) uint64 { return uint64(a.Launch) }, uint64(row), func(_ uint64, a *ArgumentRow) error {
		i := uint64(a.Variable) - first
		if i >= uint64(len(program.params)) {
			return p.errorf("launch %d: the number of a parameter is damaged", row)
		}
		v := program.params[i]
		return p.readData(a.Data, info.Parameters[v.Offset:][:v.Var.Size()])
	})
}

// replayedProgram is the program of a launch.
type replayedProgram struct {
	kernel  *ptx.Func
	module  *ptx.Module
	first   uint32 // row of the first instruction
	instrs  []*ptx.Instr
	funcs   []*ptx.Func
	locals  map[string][]probe.Variable // by function
	params  []probe.Variable            // parameters of the kernel
	checked bool                        // by checkMemory
}

// program returns the program of a launch.
func (p *player) program(r *LaunchRow) (*replayedProgram, error) {
	if known := p.programs[r.FirstInstruction]; known != nil {
		return known, nil
	}
	m, err := p.module(r)
	if err != nil {
		return nil, err
	}
	differs := fmt.Errorf("kernel %s: its instructions are not those of its PTX; another version of gemu may have written the recording: record the run again", r.Kernel)
	rows, err := Read[InstructionRow](p.f, uint64(r.FirstInstruction), uint64(r.Instructions))
	if err != nil {
		return nil, err
	}
	out := &replayedProgram{module: m, first: r.FirstInstruction, locals: map[string][]probe.Variable{}}
	function := func(name string) *ptx.Func {
		f, _ := m.Lookup(name).(*ptx.Func)
		return f
	}
	if out.kernel = function(r.Kernel); out.kernel == nil {
		return nil, p.errorf("%w", differs)
	}
	for at := 0; at < len(rows); {
		f := function(rows[at].Function)
		if f == nil {
			return nil, p.errorf("%w", differs)
		}
		before := at
		for _, b := range f.Blocks {
			for _, instr := range b.Instrs {
				if at == len(rows) || rows[at].Function != f.Name || rows[at].Text != instr.Format(f) {
					return nil, p.errorf("%w", differs)
				}
				out.instrs, out.funcs = append(out.instrs, instr), append(out.funcs, f)
				at++
			}
		}
		if at == before {
			return nil, p.errorf("%w", differs)
		}
	}
	variables, err := Read[VariableRow](p.f, uint64(r.FirstVariable), uint64(r.Variables))
	if err != nil {
		return nil, err
	}
	params := max(len(variables)-len(out.kernel.Params), 0) // the parameters of the kernel are the last
	for i, v := range variables[params:] {
		declared := out.kernel.Params[i]
		if v.Offset > maxParameters || v.Offset+uint64(declared.Size()) > maxParameters {
			return nil, p.errorf("kernel %s: the place of parameter %s is damaged", r.Kernel, declared.Name)
		}
		out.params = append(out.params, probe.Variable{Var: declared, Offset: int(v.Offset)})
	}
	for _, v := range variables[:params] {
		if (v.Space == Local || v.Space == Param) && v.Bytes <= math.MaxInt32 && v.Offset <= math.MaxInt32 {
			declared := &ptx.Var{Name: v.Name, Space: spaces[v.Space], Type: ptx.B8, Dims: []int{int(v.Bytes)}}
			out.locals[v.Function] = append(out.locals[v.Function], probe.Variable{Var: declared, Offset: int(v.Offset)})
		}
	}
	p.programs[r.FirstInstruction] = out
	return out, nil
}

// module returns the module of a launch.
func (p *player) module(r *LaunchRow) (*ptx.Module, error) {
	if m := p.modules[r.FirstSource]; m != nil {
		return m, nil
	}
	list, err := Read[SourceRow](p.f, uint64(r.FirstSource), uint64(r.Sources))
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(list, func(s SourceRow) bool { return s.Kind == PTXSource })
	if i < 0 {
		return nil, p.errorf("the PTX of kernel %s is not recorded: its module has no text, or more than %d bytes", r.Kernel, maxSourceBytes)
	}
	m, err := ptx.ParseString(list[i].Name, list[i].Text)
	if err != nil {
		return nil, p.errorf("the recorded PTX: %w", err)
	}
	p.modules[r.FirstSource] = m
	return m, nil
}

// checkMemory returns an error if the program changes memory in a way that a recording does not have.
func (p *replayedProgram) checkMemory(player *player) error {
	if p.checked {
		return nil
	}
	p.checked = true
	for _, instr := range p.instrs {
		if strings.HasPrefix(instr.Text, "tensormap.replace") {
			return player.errorf("kernel %s changes a tensor map (line %d of the PTX), and a recording does not have its bytes; run the kernel without --from", p.kernel.Name, instr.Pos.Line)
		}
	}
	return nil
}

func (p *replayedProgram) Len() int { return len(p.instrs) }

func (p *replayedProgram) At(index int) (*ptx.Instr, *ptx.Func) {
	return p.instrs[index], p.funcs[index]
}

func (p *replayedProgram) Writes(int) []ptx.RegID { return nil }

func (p *replayedProgram) Shared() []probe.Variable { return nil }

func (p *replayedProgram) Globals() []probe.Variable { return nil }

func (p *replayedProgram) Params() []probe.Variable { return p.params }

func (p *replayedProgram) Locals(f *ptx.Func) []probe.Variable { return p.locals[f.Name] }

func (p *replayedProgram) LocationOf(int, ptx.RegID) probe.Location { return probe.Location{} }

func (p *replayedProgram) Operations(int) *probe.Operations { return nil }

func (p *replayedProgram) Frame(*ptx.Func) probe.FrameSize { return probe.FrameSize{} }

func (p *replayedProgram) Arguments(*ptx.Func) (params, results []probe.Operand) { return nil, nil }

// Texts returns the texts of the compiled source files of a recording, by name.
func (f *File) Texts() (map[string]string, error) {
	list, err := Read[SourceRow](f, 0, math.MaxUint32)
	texts := map[string]string{}
	for _, s := range list {
		if s.Kind == CompiledSource {
			texts[s.Name] = s.Text
		}
	}
	return texts, err
}
