package record

// This file converts commit logs to recordings.

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"gemu/probe"
	"gemu/ptx"
	"gemu/trace"
)

// FromLog reads a log to its end and writes a recording of its launches. A log has executed instructions, returns, wakes,
// effects and traps; it has no splits, waits, stacks, arguments, variables, allocations, memory and control-flow graph, so
// Contents.Memory, Stack and Source have no effect. Events are in the order of CTAs. The step of an event is the number of earlier records of its launch.
// full is the reached limit, as from Recorder.Full.
func FromLog(out io.Writer, r *trace.Reader, o Options) (events uint64, full string, err error) {
	o.Memory, o.Stack, o.Source = false, false, false
	if r.Header.Filter.String() != "" && o.Filter.IsZero() {
		o.Filter = r.Header.Filter
	}
	simulator := r.Header.Simulator
	if simulator == "" {
		simulator = "gemu"
	}
	t, err := newTables(out, simulator, o)
	if err != nil {
		return 0, "", err
	}
	l := logConverter{tables: t}
	for {
		e, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return 0, "", err
		}
		if err := l.addEntry(e); err != nil {
			return 0, "", err
		}
		t.checkSize()
	}
	return rows[EventRow](t.w), t.full, t.w.close()
}

// logConverter converts the entries of a log.
type logConverter struct {
	*tables
	skipped   bool   // the filter excludes the launch
	launch    uint32 // row of the table launches
	step      uint64 // number of earlier records of the launch
	warpSize  int
	pending   *LaunchRow // a launch whose code is not read yet
	first     int32      // row of the launch's first instruction
	code      []*trace.Code
	registers map[[2]string]uint32      // rows of the table registers, by function and name
	unknown   map[instructionName]int32 // rows of instructions without code
}

// instructionName identifies an instruction without code.
type instructionName struct {
	line uint64
	name string
}

func (l *logConverter) addEntry(e trace.Entry) error {
	if c, ok := e.(*trace.Code); ok {
		if !l.skipped && l.full == "" {
			l.addCode(c)
		}
		return nil
	}
	l.finishLaunch()
	switch e := e.(type) {
	case *trace.Launch:
		return l.beginLaunch(e)
	case *trace.CTA:
		if !l.skipped && l.options.Filter.CTAs.Has(e.Number) && l.hasRoom() {
			addRow(l.w, &EventRow{Kind: CTABegin, Launch: l.launch, Step: l.step, CTA: uint32(e.Number), Warp: -1, Instruction: -1, Reconverge: -1})
		}
	case *trace.Record:
		if !l.skipped {
			err := l.addRecord(e)
			l.step++
			return err
		}
	case *trace.End:
		if !l.skipped {
			l.addEnd(l.launch, e.Error)
		}
	}
	return nil
}

func (l *logConverter) beginLaunch(e *trace.Launch) error {
	if l.skipped = !l.options.Filter.SelectsKernel(e.Kernel) || l.full != ""; l.skipped {
		return nil
	}
	for _, n := range slices.Concat(e.Grid, e.Block, e.Cluster) {
		if n > math.MaxUint32 {
			return fmt.Errorf("launch %d: an extent of %d is too large for a recording", e.Number, n)
		}
	}
	if e.WarpSize == 0 {
		e.WarpSize = 32
	}
	grid, block, cluster := extent(e.Grid), extent(e.Block), extent(e.Cluster)
	l.first = int32(rows[InstructionRow](l.w))
	l.pending = &LaunchRow{
		Kernel: e.Kernel, File: e.File, GridX: grid[0], GridY: grid[1], GridZ: grid[2], BlockX: block[0], BlockY: block[1], BlockZ: block[2],
		ClusterX: cluster[0], ClusterY: cluster[1], ClusterZ: cluster[2], WarpSize: uint8(e.WarpSize), Reconverge: e.Reconverge,
		FirstEvent: rows[EventRow](l.w), FirstInstruction: uint32(l.first),
	}
	l.warpSize, l.step = int(e.WarpSize), 0
	l.code, l.registers, l.unknown = nil, map[[2]string]uint32{}, map[instructionName]int32{}
	return nil
}

// finishLaunch writes the row of a launch whose code is complete.
func (l *logConverter) finishLaunch() {
	if l.pending != nil {
		l.pending.Instructions = uint32(len(l.code))
		l.launch = uint32(addRow(l.w, l.pending))
		l.pending = nil
	}
}

// extent returns an extent of three dimensions; 1 where the log has none.
func extent(list []uint64) (d [3]uint32) {
	d = [3]uint32{1, 1, 1}
	for i, n := range list[:min(len(list), 3)] {
		d[i] = uint32(n)
	}
	return d
}

func (l *logConverter) addCode(c *trace.Code) {
	l.code = append(l.code, c)
	at := uint32(addRow(l.w, &InstructionRow{Function: c.Func, Line: uint32(c.Line), Column: uint32(c.Column), Class: c.Class, Text: c.Text, Flags: strings.Join(c.Flags, ",")}))
	for writes, list := range [][]trace.Register{c.Reads, c.Writes} {
		for i := range list {
			addRow(l.w, &OperandRow{at, l.registerRow(c.Func, &list[i]), uint8(writes)})
		}
	}
}

// registerRow returns the row of a register, and adds it if necessary.
func (l *logConverter) registerRow(function string, r *trace.Register) uint32 {
	key := [2]string{function, r.Name}
	at, ok := l.registers[key]
	if !ok {
		at = uint32(addRow(l.w, &RegisterRow{function, r.Name, r.Type, uint16(r.Bits)}))
		l.registers[key] = at
	}
	return at
}

// instructionRow returns the row of the instruction of a record; -1 if it has none. An instruction without code gets a row of its own.
func (l *logConverter) instructionRow(r *trace.Record) (row int32) {
	if r.Code > 0 && r.Code <= uint64(len(l.code)) {
		return l.first + int32(r.Code) - 1
	}
	if r.Line == 0 && r.Name == "" {
		return -1
	}
	key := instructionName{r.Line, r.Name}
	row, ok := l.unknown[key]
	if !ok {
		row = int32(addRow(l.w, &InstructionRow{Line: uint32(r.Line), Text: r.Name}))
		l.unknown[key] = row
	}
	return row
}

var kindOfRecord = [...]Kind{trace.Instruction: Instruction, trace.Return: Return, trace.Wake: Wake, trace.Effect: Effect, trace.Trap: Trap}

// maxAccess is the largest access of a lane in bytes.
const maxAccess = 1 << 24

func (l *logConverter) addRecord(r *trace.Record) error {
	if r.CTA > math.MaxUint32 || r.Warp > math.MaxInt32 || r.Line > math.MaxUint32 {
		return fmt.Errorf("launch %d: the numbers of CTA %d, warp %d, line %d are too large for a recording", l.launch, r.CTA, r.Warp, r.Line)
	}
	code := &trace.Code{} // without a class and a function if the log has none
	if r.Code > 0 && r.Code <= uint64(len(l.code)) {
		code = l.code[r.Code-1]
	}
	if f := &l.options.Filter; !f.CTAs.Has(r.CTA) || !f.Warps.Has(r.Warp) || r.Line > 0 && !f.SelectsInstruction(r.Line, code.Class) || !l.hasRoom() {
		return nil
	}
	at := l.instructionRow(r)
	event := addRow(l.w, &EventRow{
		Kind: kindOfRecord[r.Kind], Launch: l.launch, Step: l.step, CTA: uint32(r.CTA), Warp: int32(r.Warp), Instruction: at,
		Active: r.Active, Lanes: r.Lanes, Depth: uint16(r.Depth), Reconverge: -1,
	})
	switch r.Kind {
	case trace.Trap:
		addRow(l.w, &TrapRow{event, r.Note})
	case trace.Effect:
		number, issued, reads, writes, _ := r.EffectStage() // the reader has checked it
		addRow(l.w, &EffectRow{Event: event, Number: int64(number), Issued: oneIf(issued), Reads: oneIf(reads), Writes: oneIf(writes)})
	}
	if l.options.Results {
		for i := range r.Results {
			v := &r.Results[i]
			x := l.addValue(v)
			register := l.registerRow(code.Func, &trace.Register{Name: v.Name, Bits: v.Bits})
			addRow(l.w, &ResultRow{event, r.Lanes, register, x.class, x.base, x.high, x.stride, x.values})
		}
	}
	if l.options.Accesses {
		for i := range r.Accesses {
			if a := &r.Accesses[i]; a.Bytes > maxAccess || a.Bytes == 0 && a.Kind != trace.Zero && len(a.Data) == 0 && r.Kind == trace.Instruction {
				return fmt.Errorf("launch %d, CTA %d, warp %d, line %d: an access of %d bytes is not supported", l.launch, r.CTA, r.Warp, r.Line, a.Bytes)
			}
			l.addLoggedAccess(event, r.Lanes, &r.Accesses[i], l.warpSize, accessesSurface(code))
		}
	}
	return nil
}

// accessesSurface reports whether an instruction of a log accesses a surface: the log has its accesses as accesses to global memory.
func accessesSurface(c *trace.Code) bool {
	words := strings.Fields(c.Text)
	if len(words) > 1 && words[0][0] == '@' {
		words = words[1:]
	}
	if len(words) == 0 {
		return false
	}
	opcode, _, _ := strings.Cut(words[0], ".")
	forms, err := ptx.FormsOf(opcode)
	return err == nil && forms[0].Family == ptx.FamilySurface
}

// addLoggedAccess records an access of a log entry, or of a stage of an asynchronous operation.
func (t *tables) addLoggedAccess(event, lanes uint64, a *trace.Access, warpSize int, surface bool) {
	if a.Lanes != 0 {
		lanes = a.Lanes
	}
	q := laneAccess{event: event, kind: AccessKind(a.Kind), bytes: a.Bytes, bulk: a.Kind == trace.Zero, warpSize: warpSize}
	var bySpace [spaceCount]uint64
	var unknown [spaceCount]int32 // the rows of the allocations
	for i := range unknown {
		unknown[i] = -1
	}
	for m := lanes; m != 0; m &= m - 1 {
		lane := lowest(m)
		addr, _ := a.Addr.At(lanes, lane)
		q.frame = q.frame || a.Space == ptx.Param.String() && addr < probe.ParamBase
		space, offset := placeOfAddress(a.Space, addr)
		q.addr[lane], q.lengths[lane] = offset, a.Bytes
		if q.bulk && len(a.Store) > 0 {
			q.lengths[lane], _ = a.Store[0].At(lanes, lane)
		}
		if surface {
			space = Surface
		}
		bySpace[space] |= 1 << lane
	}
	t.addAccesses(&q, bySpace, unknown, a)
}

// placeOfAddress returns the state space of an address of a log, and the address in it. space is the name in the log.
func placeOfAddress(space string, addr uint64) (Space, uint64) {
	i := slices.IndexFunc(spaces[:], func(s ptx.Space) bool { return s.String() == space })
	switch k := Space(i); {
	case i < 0 || k == Global: // a generic address
	case k == Param && addr >= probe.ParamBase: // of the kernel
		return Param, addr - probe.ParamBase
	default:
		return k, addr
	}
	const rank = 1<<probe.RankShift - 1
	switch in := addr & rank; {
	case addr >= probe.FirstAddress:
	case in >= probe.SharedWindow && in < probe.SharedWindow+probe.WindowSize:
		return Shared, addr - probe.SharedWindow
	case addr >= probe.LocalWindow && addr < probe.LocalWindow+probe.WindowSize:
		return Local, addr - probe.LocalWindow
	case addr >= probe.ParamBase && addr < probe.SharedWindow:
		return Param, addr - probe.ParamBase
	}
	return Global, addr
}
