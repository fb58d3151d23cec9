package native

// This file has the log of loads in machine code of observed launches.

import (
	"bytes"
	"unsafe"

	"gemu/interp/internal/code"
	"gemu/ptx"
	"gemu/regfile"
)

// The values of Code.WithExits.
const (
	NoExit     = 0
	AlwaysExit = 1 // the code exits before the instruction
	MayLog     = 2 // an instruction for which CanLog is true: the code logs it if its window permits (LoadLog); otherwise it exits before it
)

// LoadLog is the log of the loads that machine code has executed without an exit. Each logged instruction has a window.
type LoadLog struct {
	used, limit uint64 // size of the logged loads, and the size at which the log is full, in bytes
	entries     *[logCapacity]LoggedLoad
	windows     *LoadWindow // the first window

	list []LoadWindow
}

// logCapacity is the maximum number of loads in a log.
const logCapacity = 64

// LoadWindow is the condition under which machine code executes a load without an exit: all addresses are from Begin up to
// Begin + Last, and either *Closed is 0, or Marks is not nil and all loaded bytes have the mark Mark.
type LoadWindow struct {
	Begin, Last uint64 // Last must be less than 2^63
	Closed      *int64
	Quiet       *int64 // while *Quiet is not 0, the loads are not logged
	step        uint64 // size of a log entry in bytes; 0: the loads are not logged
	Marks       *byte  // mark of the byte at Begin; the marks of the following bytes follow
	Mark        uint32 // four times the mark
	Bytes       uint32 // bytes that each lane loads: 1, 2, or a multiple of 4; only for Marks
}

// LoggedLoad is an entry of the log.
type LoggedLoad struct {
	Count        int64  // Context.Count
	ExitBranches int64  // Context.ExitBranches
	Mask         uint32 // executing lanes
	ReconvergeAt int32  // Context.ReconvergeAt
	window       uint64 // place of the window
	Addresses    [regfile.Lanes]uint64
}

// Number returns the number of the window of a logged load.
func (l *LoggedLoad) Number() int { return int(l.window / uint64(unsafe.Sizeof(LoadWindow{}))) }

// LogAt is the offset of the log in Context, LoggedLoadBytes the size of a LoggedLoad. The generator compares them with the C
// layout.
const (
	LogAt           = unsafe.Offsetof(Context{}.log)
	LoggedLoadBytes = unsafe.Sizeof(LoggedLoad{})
)

// closed is the value of LoadWindow.Closed for a window that is never open, open for a window that is always open.
var closed, open int64 = 1, 0

// NewLoadLog returns an empty log with n closed windows. It returns nil if n is 0.
func NewLoadLog(n int) *LoadLog {
	if n == 0 {
		return nil
	}
	l := &LoadLog{limit: logCapacity * uint64(LoggedLoadBytes), entries: new([logCapacity]LoggedLoad), list: make([]LoadWindow, n)}
	l.windows = &l.list[0]
	for i := range l.list {
		l.Close(i)
	}
	return l
}

// Close closes window i.
func (l *LoadLog) Close(i int) { l.list[i] = LoadWindow{Closed: &closed, Quiet: &open} }

// Open sets window i. A nil w.Closed or w.Quiet stands for 0. If logged is false, loads in the window are executed, but not logged.
func (l *LoadLog) Open(i int, w LoadWindow, logged bool) {
	if w.Closed == nil {
		w.Closed = &open
	}
	if w.Quiet == nil {
		w.Quiet = &open
	}
	if logged {
		w.step = uint64(LoggedLoadBytes)
	}
	l.list[i] = w
}

// Take returns the logged loads and empties the log. The result is valid until machine code is entered.
func (l *LoadLog) Take() []LoggedLoad {
	n := l.used / uint64(LoggedLoadBytes)
	l.used = 0
	return l.entries[:n]
}

// SetLog sets the log of a warp. It may be nil if the code logs no loads.
func (c *Context) SetLog(l *LoadLog) { c.log = l }

// CanLog reports whether machine code can log a load: it has no guard, and the addresses are in a row, or a single address of shared
// or global memory, which has no row.
func CanLog(instr *code.Instr, acc *code.Access) bool {
	hasPlace := acc.Addr != code.NoSlot || acc.Space == ptx.Shared || acc.Space == ptx.Global
	return hasPlace && instr.Guard == 0 && instr.Op != code.Atomic && !acc.Store && !acc.Frame && acc.Tile == nil && !acc.SingleLane && !acc.Cluster && int64(acc.Offset) == int64(int32(acc.Offset))
}

// putLog puts the log of the load at pc.
func (a *assembler) putLog(pc int32) {
	instr, number := &a.prog.Instrs[pc], bytes.Count(a.exits[:pc], []byte{MayLog})
	acc := &a.prog.Access[instr.Side]
	h := holes{n0: int64(acc.Offset), n1: int64(number) * int64(unsafe.Sizeof(LoadWindow{})), leave: a.exitLabel(pc, Observed)}
	rows := "n" // none
	if acc.Addr != code.NoSlot {
		a.setPlace(&h, 'A', acc.Addr, instr.A)
		rows = acc.Addr.String()
	}
	a.put("log_load_"+rows+a.suffix, h)
}
