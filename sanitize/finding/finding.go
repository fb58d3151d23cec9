// Package finding defines the findings of sanitizers: an error or notice, its places in the program, and its
// printed form. finding.go has the types and the log, print.go the printed form.
//
// A Log is safe for concurrent use; all other types are plain data. The JSON form is described in
// docs/json.md and has a schema version in sanitize.Report; fields may be added to the Go types between
// versions.
package finding

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"sync"

	"gemu/probe"
	"gemu/ptx"
)

// Severity is error or notice.
type Severity uint8

// The severities.
const (
	Error  Severity = iota // makes a run fail
	Notice                 // may be wrong, but does not make a run fail
)

func (s Severity) String() string { return [...]string{"error", "notice"}[s] }

// MarshalText returns String, for JSON.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the text of MarshalText.
func (s *Severity) UnmarshalText(text []byte) error {
	for *s = Error; *s <= Notice; *s++ {
		if s.String() == string(text) {
			return nil
		}
	}
	return fmt.Errorf("unknown severity %q", text)
}

// Finding is an error or notice about an instruction of a program.
type Finding struct {
	Tool       string   `json:"tool"`             // name of the sanitizer, such as "race"
	Kind       string   `json:"kind"`             // kind of fault in fixed words, such as "read after write"
	Severity   Severity `json:"severity"`         // "error" or "notice"
	Message    string   `json:"message"`          // description of the fault with its details
	Place      Place    `json:"at"`               // place of the fault
	OtherPlace *Place   `json:"other,omitempty"`  // the second place of the finding
	Memory     *Memory  `json:"memory,omitempty"` // memory of the fault
	Notes      []string `json:"notes,omitempty"`  // further lines of text

	// Count is the number of findings of the same tool, kind and places, of which this is the first. Log.Add
	// adds up the counts; 0 counts as 1. An exit before barriers counts once for each barrier, and Place is
	// the first of them.
	Count int `json:"count"`

	// MergeByOther merges findings of the same tool, kind and OtherPlace, for any Place.
	MergeByOther bool `json:"-"`

	order order
	spots map[sourceSpot]bool // the different places merged by MergeByOther
}

// Place is an instruction and the thread that executed it. For operations of the host the thread's fields are
// unset; Kernel is the launched kernel, if any.
type Place struct {
	Role     string `json:"role"`                  // role of the place in the finding, such as "write" or "barrier"
	Kernel   string `json:"kernel,omitempty"`      // name of the launched kernel
	Function string `json:"function,omitempty"`    // name of the function, unless it is the kernel
	File     string `json:"file,omitempty"`        // name of the PTX file
	Line     int    `json:"line,omitempty"`        // line of the instruction in the PTX, from 1 on
	Column   int    `json:"column,omitempty"`      // column of the instruction in the PTX, from 1 on
	Instr    string `json:"instruction,omitempty"` // text of this line
	Source   string `json:"source,omitempty"`      // "file:line:col" of the .loc in force
	CTA      [3]int `json:"cta"`                   // index of the CTA in x, y and z
	Thread   [3]int `json:"thread"`                // index of the thread in its CTA
	Warp     int    `json:"warp"`                  // index of the warp in its CTA; -1 if the place is the whole CTA
	Lane     int    `json:"lane"`                  // index of the lane in its warp
	Lanes    string `json:"lanes,omitempty"`       // lanes of the warp in the finding, if there are several: "0-3,7"
	Value    string `json:"value,omitempty"`       // value read or written
	Launch   uint64 `json:"launch,omitempty"`      // number of the launch, from 1 on, if the finding has places in several operations of the device
	Stream   string `json:"stream,omitempty"`      // name of the stream of the operation, such as "stream 0x10030"
}

// Memory is the memory in a finding.
type Memory struct {
	Space    string `json:"space"`          // state space
	Name     string `json:"name,omitempty"` // name of the variable or buffer
	Offset   uint64 `json:"offset"`         // offset from its beginning in bytes
	Address  uint64 `json:"address"`        // address: in shared memory within the state space, otherwise generic
	Bytes    int    `json:"bytes"`          // size in bytes
	Variable bool   `json:"-"`              // Name is that of a variable
}

// order is the position of a finding in the output, which does not depend on the schedule of CTAs.
type order struct {
	launch uint64
	cta    int
	nth    int // in the CTA
}

func (o order) compare(p order) int {
	return cmp.Or(cmp.Compare(o.launch, p.launch), cmp.Compare(o.cta, p.cta), cmp.Compare(o.nth, p.nth))
}

// PlaceOf returns the place of an event's instruction for a lane.
func PlaceOf(e *probe.Event, role string, lane int) Place {
	p := Place{Role: role, CTA: dims(e.ID), Warp: e.Warp, Lane: lane}
	if e.Launch != nil {
		p.Kernel = e.Launch.Kernel.Name
		p.Thread = Thread(e.Launch, e.Warp, lane)
	}
	p.name(e.Instr, e.Func)
	return p
}

// Thread returns the index of a lane's thread in its CTA.
func Thread(l *probe.LaunchInfo, warp, lane int) [3]int {
	tid, b := warp*l.WarpSize+lane, l.Block
	return [3]int{tid % b.X, tid / b.X % b.Y, tid / (b.X * b.Y)}
}

// OfTrap returns the place of a trap.
func OfTrap(t *probe.Trap) Place {
	p := Place{
		Role: "trap", Kernel: t.Kernel, File: t.File, Line: int(t.Pos.Line), Column: int(t.Pos.Col), Instr: strings.TrimSpace(t.Line), Source: t.Source,
		CTA: dims(t.CTA), Thread: dims(t.Thread), Warp: t.Warp, Lanes: Lanes(t.Lanes),
	}
	if t.Func != t.Kernel {
		p.Function = t.Func
	}
	if t.Warp >= 0 && t.Lanes != 0 {
		p.Lane = bits.TrailingZeros64(t.Lanes)
	}
	return p
}

// LaunchPlace returns the place of an instruction, by index, that a lane of a CTA executed earlier in a launch.
func LaunchPlace(l *probe.LaunchInfo, index int, role string, cta ptx.Dim3, warp, lane int) Place {
	p := Place{Role: role, Kernel: l.Kernel.Name, CTA: dims(cta), Thread: Thread(l, warp, lane), Warp: warp, Lane: lane}
	instr, fn := l.Program.At(index)
	p.name(instr, fn)
	return p
}

func (p *Place) name(instr *ptx.Instr, fn *ptx.Func) {
	if fn == nil {
		return
	}
	m := fn.Module()
	p.File = m.Name
	if fn.Name != p.Kernel {
		p.Function = fn.Name
	}
	if instr == nil {
		return
	}
	p.Line, p.Column, p.Instr = int(instr.Pos.Line), int(instr.Pos.Col), strings.TrimSpace(m.Line(int(instr.Pos.Line)))
	p.Source = fn.Origin(instr)
}

// MemoryOf describes n bytes of an allocation with the names of the launch's variables.
func MemoryOf(l *probe.LaunchInfo, a *probe.Allocation, offset uint64, n int) *Memory {
	m := &Memory{Space: a.Space().String(), Name: a.Label(), Offset: offset, Address: a.Base + offset, Bytes: n}
	if a.Space() != ptx.Shared {
		return m
	}
	m.Name, m.Address = "", offset
	for _, v := range l.Program.Shared() {
		if in := offset - uint64(v.Offset); offset >= uint64(v.Offset) && (in < uint64(v.Var.Size()) || v.Var.Size() == 0) {
			m.Name, m.Offset = v.Var.Name, in
		}
	}
	return m
}

func dims(d ptx.Dim3) [3]int { return [3]int{d.X, d.Y, d.Z} }

// Log collects findings. It is safe for concurrent use. The zero Log is empty. Its contents do not depend on
// the schedule of CTAs.
type Log struct {
	mu    sync.Mutex
	found map[key]*Finding
	next  map[order]int // number of findings in each CTA of the running launches
}

// key identifies findings that are counted together.
type key struct {
	tool, kind        string
	place, otherPlace sourceSpot
}

func (f *Finding) key() key {
	k := key{f.Tool, f.Kind, spotOf(&f.Place), spotOf(f.OtherPlace)}
	if f.MergeByOther {
		k.place = sourceSpot{}
	}
	return k
}

// sourceSpot is a position in a source file.
type sourceSpot struct {
	file         string // or the role of an operation of the host
	line, column int
}

func spotOf(p *Place) sourceSpot {
	if p == nil {
		return sourceSpot{}
	}
	if p.File == "" {
		return sourceSpot{file: p.Role}
	}
	return sourceSpot{p.File, p.Line, p.Column}
}

// Add adds a finding that belongs to an event.
func (l *Log) Add(e *probe.Event, f Finding) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.found == nil {
		l.found, l.next = map[key]*Finding{}, map[order]int{}
	}
	f.Count = max(f.Count, 1)
	f.order.cta = e.CTA
	if e.Launch != nil {
		f.order.launch = e.Launch.ID
	}
	in := f.order
	f.order.nth = l.next[in]
	l.next[in]++
	k := f.key()
	old := l.found[k]
	if old == nil {
		if f.MergeByOther {
			f.spots = map[sourceSpot]bool{spotOf(&f.Place): true}
		}
		l.found[k] = &f
		return
	}
	f.Count += old.Count
	if f.spots = old.spots; f.MergeByOther {
		f.spots[spotOf(&f.Place)] = true
	}
	if f.order.compare(old.order) < 0 {
		*old = f
	} else {
		old.Count = f.Count
	}
}

// Findings returns the findings in order.
func (l *Log) Findings() []Finding {
	l.mu.Lock()
	defer l.mu.Unlock()
	var list []Finding
	for _, f := range l.found {
		g := *f
		if n := len(g.spots); n > 1 {
			g.Notes = append(slices.Clone(g.Notes), fmt.Sprintf("found at %d such instructions; this is the first", n))
		}
		list = append(list, g)
	}
	slices.SortFunc(list, func(a, b Finding) int {
		return cmp.Or(a.order.compare(b.order), cmp.Compare(a.Tool, b.Tool), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Place.Line, b.Place.Line), cmp.Compare(a.Place.Column, b.Place.Column))
	})
	return list
}

// Merge appends to list the findings of another run, with a note, except those with the same tool, kind and
// places.
func Merge(list, added []Finding, note string) []Finding {
	for _, f := range added {
		if !slices.ContainsFunc(list, func(g Finding) bool { return f.key() == g.key() }) {
			f.Notes = append(slices.Clone(f.Notes), note)
			list = append(list, f)
		}
	}
	return list
}

// Errors returns the number of findings with severity Error.
func (l *Log) Errors() int {
	n := 0
	for _, f := range l.Findings() {
		if f.Severity == Error {
			n++
		}
	}
	return n
}

// Coverage is the number of launches that a set of tools has watched, and of launches that it could not watch.
type Coverage struct {
	Tools     []string `json:"tools"`      // requested sanitizers
	Judged    uint64   `json:"judged"`     // launches judged by the sanitizers, up to the end or a trap
	NotJudged uint64   `json:"not_judged"` // launches that were refused, never began, or were stopped
}
