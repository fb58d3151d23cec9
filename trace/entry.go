package trace

// This file is what a log is made of.

import (
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// Version is that of the format, text and binary. It changes when the meaning of a field does, or when
// who does not know a new one would take a log for another. Readers know all versions up to it. 2 has
// the operands of atomics, what asynchronous operations write, and filters.
const Version = 2

// Entry is one of Header, Launch, Code, CTA, Record, End and Finish.
type Entry interface{ entry() }

func (*Header) entry() {}
func (*Launch) entry() {}
func (*Code) entry()   {}
func (*CTA) entry()    {}
func (*Record) entry() {}
func (*End) entry()    {}
func (*Finish) entry() {}

// Header is the first entry of a log.
type Header struct {
	Version   uint64
	Simulator string   // the simulator; "" is gemu
	Missing   []string // what its records do not have, or not all of it: some of Lackings
	Filter    Filter   // what of the launches is in it
}

// What a log of another simulator may lack: it is not compared then. Without a number, the
// instructions of a thread are counted as they come.
var MissingParts = []string{"results", "addresses", "stored", "active", "launch", "code", "wake", "operands", "effects"}

// missingBefore2 is what logs of version 1 lack besides.
var missingBefore2 = []string{"operands", "effects"}

// Launch begins a launch.
type Launch struct {
	Number     uint64 // in the log, from 0 on
	Kernel     string
	File       string   // of the PTX, as messages name it
	Grid       []uint64 // CTAs: x, y, z
	Block      []uint64 // threads of a CTA
	Cluster    []uint64 // CTAs of a cluster; none without
	WarpSize   uint64
	Reconverge string // the policy that warps diverge and meet by
}

// Code is an instruction of the launch's kernel or of what it can call.
type Code struct {
	Index        uint64
	Func         string // that it is in
	Line, Column uint64 // in the PTX, from 1 on
	Class        string // of functional unit, as gemu isa has it
	Text         string // as PTX, without its semicolon
	Writes       []Register
	Reads        []Register
	Flags        []string // "clock": its results are times; "approx.f32", "approx.f16x2" …: they are approximate, of that type
}

// clock reports whether its results are times.
func (c *Code) clock() bool { return slices.Contains(c.Flags, "clock") }

// width is how many bits a result has that no record says: those of a register that the code writes, else 64. c may be nil.
func (c *Code) width(register string) uint64 {
	if c != nil {
		for i := range c.Writes {
			if c.Writes[i].Name == register {
				return c.Writes[i].Bits
			}
		}
	}
	return 64
}

// approx is the type of its results if they are approximate, as ".f32", else "".
func (c *Code) approx() string {
	for _, f := range c.Flags {
		if t, ok := strings.CutPrefix(f, "approx"); ok {
			return t
		}
	}
	return ""
}

// name is the opcode with its modifiers: the first word of the text, behind a guard.
func (c *Code) name() string {
	list := strings.Fields(c.Text)
	if len(list) > 1 && list[0][0] == '@' {
		list = list[1:]
	}
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

// Register is a register that an instruction names.
type Register struct {
	Name string
	Bits uint64
	Type string // as ".f32"
}

// CTA begins what a CTA of the launch did.
type CTA struct {
	Number uint64   // linear, in the grid
	ID     []uint64 // x, y, z
}

// Kind is what a record is about.
type Kind uint64

// The kinds.
const (
	Instruction Kind = iota // a warp has executed an instruction
	Return                  // lanes are back from the call that is Code: Results
	Wake                    // lanes have passed the barrier that is Code: Results
	Effect                  // what the asynchronous operation does that is Code: Note says which and what, Accesses where, Results what registers of tensor cores get
	Trap                    // the instruction has failed: Note
	kinds
)

var kindNames = [kinds]string{"instruction", "return", "wake", "effect", "trap"}

func (k Kind) String() string { return kindNames[k] }

// Record is what a warp did.
type Record struct {
	Kind Kind
	CTA  uint64 // linear, in the grid
	Warp uint64 // in the CTA
	Seq  uint64 // how many instructions the warp has executed before

	Code uint64 // Index of the instruction and 1 more; 0 is none, or not known
	Line uint64 // of it in the PTX, from 1 on
	Name string // the opcode with its modifiers

	Lanes  uint64 // that execute it, bit 0 for lane 0
	Active uint64 // that are together there, also those that their guard holds back

	// Numbers is, by lane of Active, how many instructions the thread has executed before. Nil stands
	// for one more than in the record of the thread before this, or 0: so it is where nothing was left out.
	Numbers *Value

	Depth    uint64 // of calls that the lanes are in
	Results  []Value
	Accesses []Access
	Note     string

	ordinal uint64 // how many records a cursor has given out before
}

// AccessKind is what is done to memory.
type AccessKind uint64

// The kinds of access.
const (
	Load AccessKind = iota
	Store
	Atomic
	Zero // of lengths that lanes choose, zeros: Stored is the lengths
	accessKinds
)

var accessNames = [accessKinds]string{"load", "store", "atomic", "zero"}

func (k AccessKind) String() string { return accessNames[k] }

// Access is what an instruction does to memory.
type Access struct {
	Kind  AccessKind
	Space string // as the instruction has it: "generic" is one
	Bytes uint64 // of a lane; 0 of Zero
	Lanes uint64 // of the record's; 0 stands for all of them
	Addr  Value  // of .shared, .local and .param the offset, else the generic address

	// Of stores the elements, each of as many bits as they have, of 128 bits in two; of atomics what is
	// combined with what is there, of .cas what comes in its place if Compare is there.
	Store   []Value
	Compare []Value
	Data    []byte // … of asynchronous operations, instead, the bytes
}

// End ends a launch.
type End struct {
	Number uint64
	Error  string // that it ended by
}

// Finish is the last entry of a log: without it, something is missing.
type Finish struct{ Records uint64 }

// Moments of an asynchronous operation, as a Note has them.
const (
	noteIssued = "issued"
	noteReads  = "reads"
	noteWrites = "writes"
)

// effectNote is the Note of an Effect: which of the operations that its CTA has issued, and what it does now.
func effectNote(number int64, issued, reads, writes bool) string {
	var moments []string
	for _, d := range []struct {
		now  bool
		name string
	}{{issued, noteIssued}, {reads, noteReads}, {writes, noteWrites}} {
		if d.now {
			moments = append(moments, d.name)
		}
	}
	return fmt.Sprintf("%d %s", number, strings.Join(moments, ","))
}

// effect is what the Note of an Effect says; ok is false if it says something else.
func (r *Record) effect() (number uint64, issued, reads, writes, ok bool) {
	first, rest, _ := strings.Cut(r.Note, " ")
	number, err := strconv.ParseUint(first, 10, 64)
	if err != nil {
		return 0, false, false, false, false
	}
	for _, moment := range strings.Split(rest, ",") {
		switch moment {
		case noteIssued:
			issued = true
		case noteReads:
			reads = true
		case noteWrites:
			writes = true
		default:
			return 0, false, false, false, false
		}
	}
	return number, issued, reads, writes, true
}

// lanes are those that an access of the record is by.
func (r *Record) lanes(a *Access) uint64 {
	if a.Lanes != 0 {
		return a.Lanes
	}
	return r.Lanes
}

// extent writes x,y,z.
func extent(d []uint64) string {
	var s []string
	for _, n := range d {
		s = append(s, fmt.Sprint(n))
	}
	return strings.Join(s, ",")
}

// rank is how many lanes of a mask come before one.
func rank(mask uint64, lane int) int { return bits.OnesCount64(mask & (1<<lane - 1)) }
