package trace

// This file computes backward slices in a log. A slice of an instruction has the instructions that produced its operands, the
// instructions that produced their operands, and so on. For loaded memory it has the writers: stores, atomics and asynchronous
// operations.

import (
	"cmp"
	"fmt"
	"io"
	"math/bits"
	"slices"
	"strings"

	"gemu/ptx"
)

// Limits of a slice; tests change them. A hop leads from loads to the writers of the loaded memory. At most 2·sliceHistory
// instructions of threads are in memory at a time, with about 500 bytes each.
var (
	sliceHistory = 1 << 16 // instructions before its targets that a hop searches, summed over the targets
	sliceNodes   = 40      // instructions in a slice
	sliceHops    = 4       // hops
)

// sliceBytes is the number of written bytes whose origin is searched for each segment, if the difference is in an asynchronous
// operation.
const sliceBytes = 64

// Origin is an instruction in a slice.
type Origin struct {
	Depth  int      // 0 for the instruction where the slice begins, 1 for the writers of its operands, and so on
	Launch uint64   // number of the launch, from 0
	CTA    uint64   // linear index in the grid
	Thread int      // index in the CTA
	Number uint64   // number of instructions that the thread executed before
	Line   uint64   // line in the PTX, from 1
	Text   string   // PTX without the semicolon; the opcode if the instruction is unknown
	Values []string // results and stored values of the thread
	Note   string   // remarks, such as why the slice ends here
}

// Slice returns the origin of the value of a difference, from the first of the logs that has the code of its instruction. The
// slice begins at the instruction of the difference; if the thread executes different instructions in the logs, it begins at the
// preceding instruction. Slice reads the log several times; if the log is a file with an index, only the necessary parts.
func (d *Difference) Slice(logs [2]Source) ([]Origin, error) {
	for i, r := range d.Record {
		if r != nil && d.Code[i] != nil && d.Thread >= 0 {
			return d.SliceOf(i, logs)
		}
	}
	return nil, nil
}

// SliceOf returns the origin of the value of a difference in log i, 0 or 1. If log i has no code lines, SliceOf uses the
// other log's code, by line. The result is nil if the log lacks the instruction, or if neither log has code.
func (d *Difference) SliceOf(i int, logs [2]Source) ([]Origin, error) {
	r := d.Record[i]
	if r == nil || d.Thread < 0 {
		return nil, nil
	}
	s := &slicer{log: logs[i]}
	defer s.close()
	if d.Code[i] == nil {
		known, err := s.borrowCode(logs[1-i], d.Launch)
		if err != nil || !known {
			return nil, err
		}
	}
	goal := &sliceTarget{record: r, launch: d.Launch, lane: d.Lane[i], startsAtRecord: d.Name != "" || r.Kind == Effect}
	if err := s.run(goal); err != nil {
		return nil, err
	}
	return s.list(goal), nil
}

// slicer computes a slice.
type slicer struct {
	log   Source
	c     *cursor
	width int // lanes per warp
	nodes int

	borrowed map[uint64]codeByLine // by launch, for a log without code lines
}

// sliceTarget is a step of a thread whose sources are wanted.
type sliceTarget struct {
	record         *Record
	launch         uint64
	lane           int
	startsAtRecord bool          // start at the instruction, not at the instruction before it
	ranges         []memoryRange // written bytes of interest of an asynchronous operation; nil: all

	history      []threadRecord // steps of the thread up to the target; for an asynchronous operation, up to its issue
	limit        int            // history keeps at least the latest limit steps, at most 2·limit
	count        uint64         // number of instructions that the thread has executed
	issued       bool           // the operation has been issued
	wholeHistory bool           // history ends with the instruction that issued the operation
	reads        *Record        // the record of the operation's read
	complete     bool           // history is complete
	sources      []*node        // the node of the target itself, from which its sources are reached; nil before walk unless it is a writer
}

// memoryRange is a range of bytes in a state space.
type memoryRange struct {
	space     string
	addr, end uint64 // end is exclusive
}

// threadRecord is a step of a thread.
type threadRecord struct {
	*Record           // reduced to the lane of the thread
	code       *Code  // nil: unknown
	number     uint64 // number of instructions that the thread executed before
	incomplete bool   // the log may lack results
}

// node is an instruction of a slice and its sources.
type node struct {
	threadRecord
	launch  uint64
	lane    int
	notes   []string
	sources []*node
}

// note adds a note, unless the node has it.
func (n *node) note(format string, args ...any) {
	if s := fmt.Sprintf(format, args...); !slices.Contains(n.notes, s) {
		n.notes = append(n.notes, s)
	}
}

// load is memory read by an instruction of a slice, and the last writer of each byte.
type load struct {
	space   string // "global", "shared", "local" or "param"
	addr    uint64
	launch  uint64
	cta     uint64
	warp    uint64
	lane    int
	ordinal uint64       // ordinal of the reading record
	atomic  bool         // an atomic read the memory: lower lanes of the same atomic precede this lane
	node    *node        // the reading instruction
	writers []byteWriter // by byte
}

// byteWriter is the last writer of a byte.
type byteWriter struct {
	*Record // nil: unwritten
	code    *Code
	launch  uint64
	lane    int
}

func (s *slicer) close() {
	if s.c != nil {
		s.c.close()
		s.c = nil
	}
}

// run computes the slice of a target.
func (s *slicer) run(goal *sliceTarget) error {
	goals := []*sliceTarget{goal}
	for hop := 0; len(goals) > 0; hop++ {
		if err := s.histories(goals); err != nil {
			return err
		}
		var loads []*load
		for _, g := range goals {
			loads = append(loads, s.walk(g)...)
		}
		if hop == sliceHops {
			for _, l := range loads {
				l.node.note("limit of hops through memory reached")
			}
			return nil
		}
		if len(loads) == 0 {
			return nil
		}
		if err := s.findWriters(loads); err != nil {
			return err
		}
		goals = s.writerTargets(loads)
	}
	return nil
}

// writerTargets returns a target for each writer of loaded memory, and adds the writers to the sources of the loads.
func (s *slicer) writerTargets(loads []*load) (goals []*sliceTarget) {
	type key struct {
		ordinal uint64
		lane    int
	}
	known := map[key]*sliceTarget{}
	for _, l := range loads {
		for i := range l.writers {
			w := &l.writers[i]
			if w.Record == nil {
				l.node.note("%s memory at %#x was written before the log begins", l.space, l.firstUnwritten())
				continue
			}
			k := key{w.ordinal, w.lane}
			g := known[k]
			if g == nil {
				if s.nodes++; s.nodes > sliceNodes {
					l.node.note("further sources are not shown")
					continue
				}
				n := &node{threadRecord: threadRecord{Record: laneRecord(w.Record, w.lane), code: w.code}, launch: w.launch, lane: w.lane}
				g = &sliceTarget{record: w.Record, launch: w.launch, lane: w.lane, startsAtRecord: true, sources: []*node{n}}
				known[k], goals = g, append(goals, g)
			}
			if !slices.Contains(l.node.sources, g.sources[0]) {
				l.node.sources = append(l.node.sources, g.sources[0])
			}
			addr := l.addr + uint64(i)
			if n := len(g.ranges); n > 0 && g.ranges[n-1].space == l.space && g.ranges[n-1].end == addr {
				g.ranges[n-1].end++
			} else {
				g.ranges = append(g.ranges, memoryRange{l.space, addr, addr + 1})
			}
		}
	}
	return goals
}

// firstUnwritten returns the address of the first byte without a writer.
func (l *load) firstUnwritten() uint64 {
	return l.addr + uint64(slices.IndexFunc(l.writers, func(w byteWriter) bool { return w.Record == nil }))
}

// laneRecord returns a record reduced to a lane.
func laneRecord(r *Record, lane int) *Record {
	x := &Record{Kind: r.Kind, CTA: r.CTA, Warp: r.Warp, Seq: r.Seq, Code: r.Code, Line: r.Line, Name: r.Name, Lanes: r.Lanes & (1 << lane), Active: 1 << lane, Depth: r.Depth, Note: r.Note, ordinal: r.ordinal}
	laneValue := func(v *Value, lanes uint64) Value {
		u := Value{Name: v.Name, Bits: v.Bits}
		if u.Base, u.High = v.At(lanes, lane); v.Structure == NoValue {
			u.Structure = NoValue
		}
		return u
	}
	all := func(list []Value, lanes uint64) (source []Value) {
		for i := range list {
			source = append(source, laneValue(&list[i], lanes))
		}
		return source
	}
	if x.Lanes != 0 {
		x.Results = all(r.Results, r.Lanes)
	}
	for i := range r.Accesses {
		a := &r.Accesses[i]
		if lanes := r.lanes(a); lanes>>lane&1 != 0 {
			x.Accesses = append(x.Accesses, Access{Kind: a.Kind, Space: a.Space, Bytes: a.Bytes, Addr: laneValue(&a.Addr, lanes), Store: all(a.Store, lanes), Compare: all(a.Compare, lanes), Data: a.Data})
		}
	}
	return x
}

// openLaunch moves to the beginning of a launch. If this launch is the current launch and the log has an index, it does
// nothing: the caller can seek to the launch's CTAs.
func (s *slicer) openLaunch(launch uint64) (err error) {
	if s.c != nil && len(s.c.index) > 0 && s.c.launch != nil && s.c.launch.Number == launch && s.c.sorted == nil {
		return nil
	}
	position := -1
	if s.c != nil {
		position = s.launchPlace(launch)
	}
	if position < 0 { // from the beginning of the log
		s.close()
		if s.c, err = s.log.open(); err != nil {
			return err
		}
		position = s.launchPlace(launch)
	}
	if position >= 0 {
		if err := s.c.seek(s.c.index[position]); err != nil {
			return err
		}
	}
	return s.skipToLaunch(launch)
}

// launchPlace returns the position of a launch in the index of the log, or -1.
func (s *slicer) launchPlace(launch uint64) int {
	return slices.IndexFunc(s.c.index, func(p Place) bool { return p.Kind == LaunchPlace && p.Launch == launch })
}

// skipToLaunch reads forward to the beginning of a launch.
func (s *slicer) skipToLaunch(launch uint64) error {
	for {
		l, err := s.c.nextLaunch()
		if err != nil {
			return err
		}
		if l == nil {
			return s.c.fail(fmt.Errorf("launch %d is missing: the log has changed since it was compared", launch))
		}
		if l.Number == launch {
			s.width = int(cmp.Or(l.WarpSize, 32))
			return nil
		}
	}
}

// eachRecord calls visit for the records of a CTA until visit returns false.
func (s *slicer) eachRecord(launch, cta uint64, visit func(r *Record) bool) error {
	if err := s.openLaunch(launch); err != nil {
		return err
	}
	if p, ok := s.c.placeOf(launch, cta); ok && p.Kind == CTAPlace {
		if err := s.c.seek(p); err != nil {
			return err
		}
	} else if len(s.c.index) > 0 { // from the beginning of the launch
		s.c.launch = nil
		if err := s.openLaunch(launch); err != nil {
			return err
		}
	}
	for {
		ctaEntry, err := s.c.nextCTA()
		if err != nil || ctaEntry == nil || ctaEntry.Number > cta {
			return err
		}
		if ctaEntry.Number == cta {
			_, err := s.records(visit)
			return err
		}
	}
}

// records calls visit for the records of the current CTA until visit returns false. more is false in this case.
func (s *slicer) records(visit func(r *Record) bool) (more bool, err error) {
	for {
		r, err := s.c.nextRecord()
		if err != nil && err != io.EOF {
			return false, err
		}
		if r == nil {
			return true, nil
		}
		if !visit(r) {
			return false, nil
		}
	}
}

// histories finds the earlier steps of the targets' threads.
func (s *slicer) histories(goals []*sliceTarget) error {
	type key struct{ launch, cta uint64 }
	byThread := map[key][]*sliceTarget{}
	var order []key
	for _, g := range goals {
		k := key{g.launch, g.record.CTA}
		if byThread[k] == nil {
			order = append(order, k)
		}
		byThread[k] = append(byThread[k], g)
		g.limit = max(sliceHistory/len(goals), 1)
	}
	for _, k := range order {
		err := s.eachRecord(k.launch, k.cta, func(r *Record) bool {
			unresolved := false
			for _, g := range byThread[k] {
				if !g.complete {
					s.addToHistory(g, r)
				}
				unresolved = unresolved || !g.complete
			}
			return unresolved
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// addToHistory adds a record to a target's history.
func (s *slicer) addToHistory(g *sliceTarget, r *Record) {
	async := g.record.Kind == Effect && len(g.record.Results) == 0
	reached := r.ordinal >= g.record.ordinal
	if async && r.Kind == Effect {
		if n, issued, reads, _, _ := r.EffectStage(); n == g.number() {
			g.issued = g.issued || issued
			if reads {
				g.reads = r
			}
		}
	}
	isStep := r.Warp == g.record.Warp && r.Active>>g.lane&1 != 0 && r.Kind != Trap && (r.Kind != Effect || len(r.Results) > 0)
	if isStep && !g.wholeHistory && (async || r.ordinal <= g.record.ordinal) {
		m := threadRecord{laneRecord(r, g.lane), s.codeOf(r), g.count, s.c.isMissing("results")}
		if r.Numbers != nil {
			m.number, _ = r.Numbers.At(r.Active, g.lane)
		}
		if r.Kind == Instruction {
			g.count = m.number + 1
		}
		if g.history = append(g.history, m); len(g.history) > 2*g.limit {
			g.history = slices.Delete(g.history, 0, g.limit)
		}
		// The issuing instruction comes after the operation.
		g.wholeHistory = async && g.issued && r.Kind == Instruction
	}
	g.complete = reached && (!async || g.wholeHistory)
}

// number returns the number of the target's asynchronous operation.
func (g *sliceTarget) number() uint64 {
	n, _, _, _, _ := g.record.EffectStage()
	return n
}

// walk finds the sources of a target in its thread's history, and returns their loads.
func (s *slicer) walk(g *sliceTarget) (loads []*load) {
	position := len(g.history) - 1
	if !g.startsAtRecord {
		for position--; position >= 0 && g.history[position].Kind != Instruction; {
			position--
		}
	}
	if position < 0 {
		return nil
	}
	root := &node{threadRecord: g.history[position], launch: g.launch, lane: g.lane}
	switch {
	case len(g.sources) > 0: // the target is a writer
		root = g.sources[0]
		root.number = g.history[position].number
	case g.record.Kind == Effect && len(g.record.Results) == 0:
		root.Record = laneRecord(g.record, g.lane)
		fallthrough
	default:
		g.sources = []*node{root}
	}
	if root.Kind == Effect {
		root.note("asynchronous")
		loads = append(loads, s.effectLoads(g, root)...)
	}
	seen := map[int]*node{position: root}
	queue := []int{position}
	for len(queue) > 0 {
		k := queue[0]
		n := seen[k]
		queue = queue[1:]
		loads = append(loads, s.loadsOf(n)...)
		if n.code == nil {
			n.note("the log does not record the registers that it reads")
			continue
		}
		s.noteMissing(n)
		if n.code.Class == ptx.ClassWarp.String() {
			n.note("the result also depends on other lanes")
		}
		for _, r := range n.code.Reads {
			j := g.findDefinition(k, n, r.Name)
			switch {
			case j < 0:
				n.note("no earlier write of %s is known", r.Name)
			case seen[j] != nil:
				if !slices.Contains(n.sources, seen[j]) {
					n.sources = append(n.sources, seen[j])
				}
			default:
				if s.nodes++; s.nodes > sliceNodes {
					n.note("further sources are not shown")
					continue
				}
				m := &node{threadRecord: g.history[j], launch: g.launch, lane: g.lane}
				seen[j] = m
				n.sources = append(n.sources, m)
				queue = append(queue, j)
			}
		}
	}
	return loads
}

// loadsOf returns the memory reads of an instruction.
func (s *slicer) loadsOf(n *node) (loads []*load) {
	if n.Kind == Effect {
		if len(n.Results) > 0 {
			n.note("its reads of shared memory are not traced")
		}
		return nil
	}
	for i := range n.Accesses {
		a := &n.Accesses[i]
		if a.Kind != Load && a.Kind != Atomic || a.Space == "const" || n.Lanes == 0 {
			continue
		}
		space, addr := step{n.Record, n.lane, 0}.location(a)
		if space == "param" && n.Depth == 0 {
			n.note("a parameter of the kernel")
			continue
		}
		l := newLoad(n, n.Record, space, addr, a.Bytes)
		l.atomic = a.Kind == Atomic
		loads = append(loads, l)
	}
	return loads
}

// newLoad returns the load of memory by record r of node n.
func newLoad(n *node, r *Record, space string, addr, bytes uint64) *load {
	return &load{space: space, addr: addr, launch: n.launch, cta: r.CTA, warp: r.Warp, lane: n.lane, ordinal: r.ordinal, node: n, writers: make([]byteWriter, bytes)}
}

// effectLoads returns the memory that an asynchronous operation read for the written bytes of interest.
func (s *slicer) effectLoads(g *sliceTarget, n *node) (loads []*load) {
	var from, to []*Access
	if g.reads != nil {
		for i := range g.reads.Accesses {
			if a := &g.reads.Accesses[i]; a.Kind == Load {
				from = append(from, a)
			}
		}
	}
	for i := range g.record.Accesses {
		if a := &g.record.Accesses[i]; a.Kind != Load {
			to = append(to, a)
		}
	}
	if len(from) > 0 && len(to) > 0 && len(from) != len(to) { // some written segments are fill values
		n.note("the log does not record which of its reads gave the value")
		return nil
	}
	if len(to) == 0 { // the difference is in the read
		to = from
	}
	for i, a := range to {
		space, addr := step{g.record, g.lane, 0}.location(a)
		ranges := g.ranges
		if len(ranges) == 0 {
			ranges = []memoryRange{{space, addr, addr + min(a.Bytes, sliceBytes)}}
		}
		for _, w := range ranges {
			first, end := max(w.addr, addr), min(w.end, addr+a.Bytes)
			if w.space != space || first >= end {
				continue
			}
			if i < len(from) {
				space, source := step{g.reads, g.lane, 0}.location(from[i])
				loads = append(loads, newLoad(n, g.reads, space, source+first-addr, end-first))
			}
			if a.Kind == Atomic { // it reads the old value
				loads = append(loads, newLoad(n, g.record, space, first, end-first))
			}
		}
	}
	return loads
}

// findDefinition returns the index in the history of the last write of a register before instruction n, which has the index
// position. The write is in the same function at the same call depth. The result is -1 if there is none.
func (g *sliceTarget) findDefinition(position int, n *node, name string) int {
	for j := position - 1; j >= 0; j-- {
		m := &g.history[j]
		if m.Depth != n.Depth || m.code == nil || m.code.Func != n.code.Func || m.Lanes>>g.lane&1 == 0 {
			continue
		}
		if slices.ContainsFunc(m.Results, func(v Value) bool { return v.Name == name }) || m.incomplete && m.code.writes(name) {
			return j
		}
	}
	return -1
}

// findWriters finds the last writers of loaded memory before each load. Within a CTA the order of the log is the order of time.
// findWriters searches the CTA first (for shared memory its cluster), and then the whole log before the load.
func (s *slicer) findWriters(loads []*load) error {
	type key struct{ launch, cta uint64 }
	done := map[key]bool{}
	for _, l := range loads {
		if err := s.openLaunch(l.launch); err != nil {
			return err
		}
		cluster := []uint64{l.cta}
		if l.space == "shared" {
			cluster = clusterCTAs(s.c.launch, l.cta)
		}
		for _, cta := range cluster {
			if k := (key{l.launch, cta}); !done[k] {
				done[k] = true
				if err := s.eachRecord(l.launch, cta, func(r *Record) bool {
					s.noteWrites(loads, r)
					return true
				}); err != nil {
					return err
				}
			}
		}
	}
	var remaining []*load
	last := uint64(0)
	for _, l := range loads {
		if l.space == "global" && slices.ContainsFunc(l.writers, func(w byteWriter) bool { return w.Record == nil }) {
			remaining, last = append(remaining, l), max(last, l.ordinal)
		}
	}
	if len(remaining) == 0 {
		return nil
	}
	return s.searchBefore(last, remaining)
}

// searchBefore searches the records before the record with ordinal last for writers. If the log has an index, it searches
// backwards, until all bytes have a writer.
func (s *slicer) searchBefore(last uint64, loads []*load) error {
	if len(s.c.index) == 0 {
		return s.searchFromStart(last, loads)
	}
	end := last
	for i := len(s.c.index) - 1; i >= 0; i-- {
		p := s.c.index[i]
		if p.Records >= end || p.Kind == EndPlace {
			continue
		}
		if err := s.searchPart(p, end, loads); err != nil {
			return err
		}
		end = p.Records
		if !slices.ContainsFunc(loads, func(l *load) bool {
			return slices.ContainsFunc(l.writers, func(w byteWriter) bool { return w.Record == nil })
		}) {
			return nil
		}
	}
	return nil
}

// searchPart searches from a place of the index up to the record with ordinal end.
func (s *slicer) searchPart(p Place, end uint64, loads []*load) error {
	if p.Kind == LaunchPlace {
		s.c.launch = nil // from its beginning
	}
	if err := s.openLaunch(p.Launch); err != nil {
		return err
	}
	if p.Kind == CTAPlace {
		if err := s.c.seek(p); err != nil {
			return err
		}
	}
	return s.searchCTAs(end, loads)
}

// searchCTAs searches the remaining CTAs of a launch up to the record with ordinal end.
func (s *slicer) searchCTAs(end uint64, loads []*load) error {
	for {
		ctaEntry, err := s.c.nextCTA()
		if err != nil || ctaEntry == nil {
			return err
		}
		more, err := s.records(func(r *Record) bool {
			if r.ordinal < end {
				s.noteWrites(loads, r)
			}
			return r.ordinal < end
		})
		if err != nil || !more {
			return err
		}
	}
}

// searchFromStart searches the log from its beginning up to the record with ordinal last.
func (s *slicer) searchFromStart(last uint64, loads []*load) (err error) {
	s.close()
	if s.c, err = s.log.open(); err != nil {
		return err
	}
	for {
		l, err := s.c.nextLaunch()
		if err != nil || l == nil || s.c.count > last {
			return err
		}
		if err := s.searchCTAs(last, loads); err != nil {
			return err
		}
	}
}

// clusterCTAs returns the linear indices of the CTAs in the cluster of a CTA.
func clusterCTAs(l *Launch, cta uint64) []uint64 {
	if len(l.Cluster) != 3 || len(l.Grid) != 3 || slices.Contains(l.Grid, 0) || slices.Contains(l.Cluster, 0) {
		return []uint64{cta}
	}
	id := [3]uint64{cta % l.Grid[0], cta / l.Grid[0] % l.Grid[1], cta / l.Grid[0] / l.Grid[1]}
	list := []uint64{}
	for z := range min(l.Cluster[2], 16) {
		for y := range min(l.Cluster[1], 16) {
			for x := range min(l.Cluster[0], 16) {
				member := [3]uint64{x, y, z}
				for i := range member {
					member[i] += id[i] / l.Cluster[i] * l.Cluster[i]
				}
				list = append(list, member[0]+l.Grid[0]*(member[1]+l.Grid[1]*member[2]))
			}
		}
	}
	return list
}

// noteWrites stores a record as the last writer of the loaded bytes that it has written.
func (s *slicer) noteWrites(loads []*load, r *Record) {
	launch := s.c.launch
	for i := range r.Accesses {
		a := &r.Accesses[i]
		if a.Kind == Load {
			continue
		}
		lanes := r.lanes(a)
		for m := lanes; m != 0; m &= m - 1 {
			lane := bits.TrailingZeros64(m)
			if r.fails(a, lane) {
				continue
			}
			x := step{r, lane, 0}
			space, addr := x.location(a)
			end := addr + a.length(r, lane)
			for _, l := range loads {
				if space != l.space || addr >= l.addr+uint64(len(l.writers)) || l.addr >= end {
					continue
				}
				sameMemory := launch.Number == l.launch && (r.CTA == l.cta || space == "shared" && slices.Contains(clusterCTAs(launch, l.cta), r.CTA))
				switch {
				case r.ordinal == l.ordinal && l.atomic && a.Kind == Atomic && lane < l.lane: // lanes execute in order
				case r.ordinal >= l.ordinal && (r.CTA == l.cta || !sameMemory || r.ordinal == l.ordinal):
					continue
				}
				if space != "global" && !sameMemory || space != "global" && space != "shared" && (r.Warp != l.warp || lane != l.lane) {
					continue
				}
				for b := max(addr, l.addr); b < min(end, l.addr+uint64(len(l.writers))); b++ {
					w := &l.writers[b-l.addr]
					if a.omitsByte(b-addr) || w.Record != nil && (w.ordinal > r.ordinal || w.ordinal == r.ordinal && w.lane > lane) {
						continue
					}
					*w = byteWriter{r, s.codeOf(r), launch.Number, lane}
				}
			}
		}
	}
}

// fails reports whether an access is a compare-and-swap that wrote nothing for a lane, because memory had another value.
func (r *Record) fails(a *Access, lane int) bool {
	if len(a.Compare) == 0 || len(r.Results) == 0 {
		return false
	}
	low, high := r.Results[0].At(r.Lanes, lane)
	got := [2]uint64{low, high}
	for i := range min(len(a.Compare), len(got)) {
		if want, _ := a.Compare[i].At(r.lanes(a), lane); want != got[i] {
			return true
		}
	}
	return false
}

// omitsByte reports whether a store does not write a byte, because it omits the element with the byte.
func (a *Access) omitsByte(offset uint64) bool {
	if len(a.Store) == 0 || a.Kind == Zero || a.Bytes == 0 {
		return false
	}
	return a.Store[min(offset*uint64(len(a.Store))/a.Bytes, uint64(len(a.Store)-1))].Structure == NoValue
}

// length returns the number of bytes that a lane accesses.
func (a *Access) length(r *Record, lane int) uint64 {
	if a.Kind == Zero && len(a.Store) > 0 {
		n, _ := a.Store[0].At(r.lanes(a), lane)
		return n
	}
	return a.Bytes
}

// list returns the instructions of the slice, each after an instruction that reads its result.
func (s *slicer) list(goal *sliceTarget) (list []Origin) {
	listed := map[*node]bool{}
	var add func(n *node, depth int)
	add = func(n *node, depth int) {
		o := Origin{Depth: depth, Launch: n.launch, CTA: n.CTA, Thread: int(n.Warp)*s.width + n.lane, Number: n.number, Line: n.Line, Text: n.Name, Note: strings.Join(n.notes, "; ")}
		if n.code != nil {
			o.Text = n.code.Text
		}
		if n.Lanes>>n.lane&1 == 0 {
			o.Note = "held back by its guard"
		}
		for i := range n.Results {
			v := &n.Results[i]
			o.Values = append(o.Values, v.Name+" = "+formatWide(v.Base, v.High))
		}
		for i := range n.Accesses {
			o.Values = append(o.Values, n.Accesses[i].describeStored()...)
		}
		if listed[n] {
			return
		}
		listed[n] = true
		list = append(list, o)
		for _, m := range n.sources {
			add(m, depth+1)
		}
	}
	for _, n := range goal.sources {
		add(n, 0)
	}
	return list
}

// describeStored describes the values that a thread stores, for a record of a single lane.
func (a *Access) describeStored() (list []string) {
	verb := "stores "
	if a.Kind == Atomic {
		verb = "operand "
	}
	for i := range a.Store {
		switch v := &a.Store[i]; {
		case v.Structure == NoValue:
			list = append(list, "stores no element")
		case i < len(a.Compare):
			list = append(list, fmt.Sprintf("%s%#x if memory holds %#x", verb, v.Base, a.Compare[i].Base))
		default:
			list = append(list, verb+formatWide(v.Base, 0))
		}
	}
	if n := min(len(a.Data), 8); n > 0 {
		more := ""
		if n < len(a.Data) {
			more = fmt.Sprintf(" and %d bytes more", len(a.Data)-n)
		}
		list = append(list, verb+hexBytes(a.Data[:n])+more)
	}
	return list
}

// String describes the instruction in a single line, without its thread.
func (o Origin) String() string {
	s := fmt.Sprintf("%d line %d: %s", o.Number, o.Line, o.Text)
	if len(o.Values) > 0 {
		s += ": " + strings.Join(o.Values, ", ")
	}
	if o.Note != "" {
		s += " (" + o.Note + ")"
	}
	return s
}
