package trace

// This file finds where a value comes from, in a log: the instructions whose results an instruction
// has read, theirs, and what stored what they loaded.

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"gemu/ptx"
)

// Bounds of a slice.
const (
	sliceHistory = 1 << 16 // instructions of a thread that are looked at, before the one whose sources are wanted
	sliceNodes   = 40      // instructions of a slice
	sliceHops    = 4       // times it goes through memory
)

// Origin is an instruction that a slice goes through.
type Origin struct {
	Depth  int // 1 is what the instruction itself has read
	Launch uint64
	CTA    uint64
	Thread int
	Number uint64
	Line   uint64
	Text   string
	Values []string // that the thread got, or stored
	Note   string   // why it ends here
}

// Slice is where the value of a difference comes from, in the first log that says which registers
// instructions read; back from the instruction itself or, where the threads part, from that before it.
// It reads the log several times.
func (d *Difference) Slice(logs [2]Source) ([]Origin, error) {
	for i, r := range d.Record {
		if r == nil || d.Code[i] == nil || d.Thread < 0 {
			continue
		}
		s := &slicer{log: logs[i]}
		goal := &target{ordinal: r.ordinal, cta: r.CTA, launch: d.Launch, warp: r.Warp, lane: d.Lane[i], itself: d.Name != ""}
		if err := s.run(goal); err != nil {
			return nil, err
		}
		return s.list(goal), nil
	}
	return nil, nil
}

// slicer makes a slice.
type slicer struct {
	log   Source
	width int // of warps
	nodes int
}

// target is an instruction of a thread whose sources are wanted.
type target struct {
	ordinal     uint64 // of the record, in the log
	launch, cta uint64
	warp        uint64
	lane        int
	itself      bool // not of the one before it

	history []moment // of the thread, up to it
	sources []*node
}

// moment is an instruction of a thread.
type moment struct {
	*Record
	code   *Code
	number uint64
}

// node is an instruction of a slice, with where its values come from.
type node struct {
	moment
	launch  uint64
	cta     uint64
	lane    int
	note    string
	sources []*node
}

// load is memory that an instruction of a slice has read, and what stored last there.
type load struct {
	space        string // "global", "shared", "local"
	addr, bytes  uint64
	launch, cta  uint64
	warp         uint64
	lane         int
	before       uint64 // the ordinal of the load
	store        moment
	storeLane    int
	storeLaunch  uint64
	storeOrdinal uint64
	node         *node
}

func (s *slicer) run(goal *target) error {
	goals := []*target{goal}
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
				l.node.note = "a slice goes through memory no further"
			}
			return nil
		}
		if len(loads) == 0 {
			return nil
		}
		if err := s.stores(loads); err != nil {
			return err
		}
		goals = nil
		for _, l := range loads {
			if l.store.Record == nil {
				l.node.note = fmt.Sprintf("what is at %s %#x was there before the log", l.space, l.addr)
				continue
			}
			g := &target{ordinal: l.storeOrdinal, launch: l.storeLaunch, cta: l.store.CTA, warp: l.store.Warp, lane: l.storeLane, itself: true}
			n := &node{moment: l.store, launch: l.storeLaunch, cta: l.store.CTA, lane: l.storeLane}
			l.node.sources = append(l.node.sources, n)
			g.sources = []*node{n}
			if s.nodes++; s.nodes < sliceNodes {
				goals = append(goals, g)
			}
		}
	}
	return nil
}

// each goes through the log up to a record.
func (s *slicer) each(last uint64, do func(c *cursor, l *Launch, r *Record)) error {
	c, err := s.log.open()
	if err != nil {
		return err
	}
	defer c.close()
	for {
		l, err := c.nextLaunch()
		if err != nil || l == nil {
			return err
		}
		for {
			cta, err := c.nextCTA()
			if err != nil {
				return err
			}
			if cta == nil {
				break
			}
			for {
				r, err := c.nextRecord()
				if err != nil && err != io.EOF {
					return err
				}
				if r == nil {
					break
				}
				if r.ordinal > last {
					return nil
				}
				do(c, l, r)
			}
		}
	}
}

// histories finds what the threads of targets did before them.
func (s *slicer) histories(goals []*target) error {
	last := uint64(0)
	counts := make([]uint64, len(goals))
	for _, g := range goals {
		last = max(last, g.ordinal)
	}
	return s.each(last, func(c *cursor, l *Launch, r *Record) {
		s.width = int(cmp.Or(l.WarpSize, 32))
		for i, g := range goals {
			if r.ordinal > g.ordinal || l.Number != g.launch || r.CTA != g.cta || r.Warp != g.warp || r.Active>>g.lane&1 == 0 || r.Kind == Effect || r.Kind == Trap {
				continue
			}
			m := moment{r, nil, counts[i]}
			if r.Code > 0 {
				m.code = c.code[r.Code-1]
			}
			if r.Numbers != nil {
				m.number, _ = r.Numbers.At(r.Active, g.lane)
			}
			if r.Kind == Instruction {
				counts[i] = m.number + 1
			}
			if g.history = append(g.history, m); len(g.history) > 2*sliceHistory {
				g.history = slices.Delete(g.history, 0, sliceHistory)
			}
		}
	})
}

// walk finds the sources of a target in its thread's history, and what they have loaded.
func (s *slicer) walk(g *target) (loads []*load) {
	at := len(g.history) - 1
	if !g.itself {
		for at--; at >= 0 && g.history[at].Kind != Instruction; {
			at--
		}
	}
	if at < 0 {
		return nil
	}
	root := &node{moment: g.history[at], launch: g.launch, cta: g.cta, lane: g.lane}
	if len(g.sources) > 0 { // a store that has been found
		root = g.sources[0]
		root.number = g.history[at].number
	} else {
		g.sources = []*node{root}
	}
	seen := map[int]*node{at: root}
	queue := []int{at}
	for len(queue) > 0 {
		k := queue[0]
		n := seen[k]
		queue = queue[1:]
		for i := range n.Accesses {
			if a := &n.Accesses[i]; n.Record.lanes(a)>>g.lane&1 != 0 && (a.Kind == Load || a.Kind == Atomic) && a.Space != "const" {
				space, addr := step{n.Record, g.lane, 0}.where(a)
				if space == "param" && n.Depth == 0 {
					n.note = "a parameter of the kernel"
					continue
				}
				l := &load{space: space, addr: addr, bytes: a.Bytes, launch: g.launch, cta: g.cta, warp: g.warp, lane: g.lane, before: n.ordinal, node: n}
				loads = append(loads, l)
			}
		}
		if n.code == nil {
			n.note = "the log does not say what it reads"
			continue
		}
		if n.code.Class == ptx.ClassWarp.String() {
			n.note = "other lanes have their part in it"
		}
		for _, r := range n.code.Reads {
			j := g.definition(k, n, r.Name)
			switch {
			case j < 0:
				n.note = strings.TrimPrefix(n.note+"; "+r.Name+" was not written before, or too long ago", "; ")
			case seen[j] != nil:
				if !slices.Contains(n.sources, seen[j]) {
					n.sources = append(n.sources, seen[j])
				}
			default:
				if s.nodes++; s.nodes > sliceNodes {
					n.note = "the slice goes on"
					continue
				}
				m := &node{moment: g.history[j], launch: g.launch, cta: g.cta, lane: g.lane}
				seen[j] = m
				n.sources = append(n.sources, m)
				queue = append(queue, j)
			}
		}
	}
	return loads
}

// definition is where a register that an instruction reads has been written: in the same function, in
// the same depth of calls.
func (g *target) definition(before int, n *node, name string) int {
	for j := before - 1; j >= 0; j-- {
		m := &g.history[j]
		if m.Depth != n.Depth || m.code == nil || m.code.Func != n.code.Func || m.Lanes>>g.lane&1 == 0 {
			continue
		}
		if slices.ContainsFunc(m.Results, func(v Value) bool { return v.Name == name }) {
			return j
		}
	}
	return -1
}

// stores finds what has stored last to memory that was loaded: in the order of the log, which is that of
// time within a CTA.
func (s *slicer) stores(loads []*load) error {
	last := uint64(0)
	for _, l := range loads {
		last = max(last, l.before)
	}
	return s.each(last, func(c *cursor, at *Launch, r *Record) {
		for i := range r.Accesses {
			a := &r.Accesses[i]
			if a.Kind == Load {
				continue
			}
			for lane := range 64 {
				if r.lanes(a)>>lane&1 == 0 {
					continue
				}
				space, addr := step{r, lane, 0}.where(a)
				for _, l := range loads {
					if r.ordinal >= l.before || space != l.space || addr >= l.addr+l.bytes || l.addr >= addr+a.length(r, lane) {
						continue
					}
					if space != "global" && (at.Number != l.launch || r.CTA != l.cta) || space != "global" && space != "shared" && (r.Warp != l.warp || lane != l.lane) {
						continue
					}
					l.store, l.storeLane, l.storeLaunch, l.storeOrdinal = moment{Record: r}, lane, at.Number, r.ordinal
					if r.Code > 0 {
						l.store.code = c.code[r.Code-1]
					}
				}
			}
		}
	})
}

// length is how many bytes a lane accesses.
func (a *Access) length(r *Record, lane int) uint64 {
	if a.Kind == Zero && len(a.Store) > 0 {
		n, _ := a.Store[0].At(r.lanes(a), lane)
		return n
	}
	return a.Bytes
}

// list is a slice, each instruction behind what has read its result.
func (s *slicer) list(goal *target) (list []Origin) {
	told := map[*node]bool{}
	var tell func(n *node, depth int)
	tell = func(n *node, depth int) {
		o := Origin{Depth: depth, Launch: n.launch, CTA: n.cta, Thread: int(n.Warp)*s.width + n.lane, Number: n.number, Line: n.Line, Text: n.Name, Note: n.note}
		if n.code != nil {
			o.Text = n.code.Text
		}
		if n.Lanes>>n.lane&1 == 0 {
			o.Note = "held back by its guard"
		}
		for i := range n.Results {
			if n.Lanes>>n.lane&1 == 0 {
				break
			}
			low, high := n.Results[i].At(n.Lanes, n.lane)
			o.Values = append(o.Values, n.Results[i].Name+" = "+wide(low, high))
		}
		for i := range n.Accesses {
			a := &n.Accesses[i]
			for k := range a.Store {
				if n.Record.lanes(a)>>n.lane&1 != 0 {
					low, _ := a.Store[k].At(n.Record.lanes(a), n.lane)
					o.Values = append(o.Values, "stores "+wide(low, 0))
				}
			}
		}
		if told[n] {
			return
		}
		told[n] = true
		list = append(list, o)
		for _, m := range n.sources {
			tell(m, depth+1)
		}
	}
	for _, n := range goal.sources {
		tell(n, 0)
	}
	return list
}

// String is the instruction in a line, without its thread.
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
