package native

// This file has the log of loads and stores in machine code of observed launches.

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
	MayLog     = 2 // an instruction for which CanLog is true: the code logs it if its window permits (AccessLog); otherwise it exits before it
)

// AccessLog is the log of the loads and stores that machine code has executed without an exit. Each logged instruction has a window.
type AccessLog struct {
	used, limit uint64 // size of the logged accesses, and the size at which the log is full, in bytes
	entries     *[logCapacity]LoggedAccess
	windows     *AccessWindow                 // the first window
	stores      *[logCapacity + 1]LoggedStore // by entry; nil if the code logs no stores. Code may copy rows for an entry before it exits because the log is full.

	list []AccessWindow
}

// logCapacity is the maximum number of accesses in a log.
const logCapacity = 64

// AccessWindow is the condition under which machine code executes a load or store without an exit: all addresses are from Begin up to
// Begin + Last, and either *Closed is 0, or Marks is not nil and all accessed bytes have the mark Mark.
type AccessWindow struct {
	Begin, Last uint64 // Last must be less than 2^63
	Closed      *int64
	Quiet       *int64 // while *Quiet is not 0, the accesses are not logged
	step        uint64 // size of a log entry in bytes; 0: the accesses are not logged
	Marks       *byte  // mark of the byte at Begin; the marks of the following bytes follow
	Mark        uint32 // four times the mark
	Bytes       uint32 // bytes of each lane: 1, 2, or a multiple of 4; only for Marks and Memory
	Memory      *byte  // the byte at Begin, followed by the other bytes of the window; only for stores that are logged
}

// LoggedStore has the data of a logged store. Its size must be four times the size of a LoggedAccess.
type LoggedStore struct {
	Before [regfile.Lanes][maxStoredBytes]byte  // by lane: the bytes in memory before the store
	rows   [maxStoredBytes * regfile.Lanes]byte // the rows of the elements, one after another
	_      [128]byte
}

var _ = [1]struct{}{}[unsafe.Sizeof(LoggedStore{})-4*LoggedAccessBytes]

// maxStoredBytes is the largest number of bytes that each lane of a logged store stores.
const maxStoredBytes = 16

// AppendStored appends the bytes that a lane has stored to p, where acc is the store.
func (s *LoggedStore) AppendStored(p []byte, acc *code.Access, lane int) []byte {
	row := int64(0)
	for _, e := range acc.Elems {
		size := rowSizes[e.Slot]
		p = append(p, s.rows[row+size/regfile.Lanes*int64(lane):][:acc.Size]...)
		row += size
	}
	return p
}

// LoggedAccess is an entry of the log.
type LoggedAccess struct {
	Count        int64  // Context.Count
	ExitBranches int64  // Context.ExitBranches
	Mask         uint32 // executing lanes
	ReconvergeAt int32  // Context.ReconvergeAt
	window       uint64 // place of the window
	Addresses    [regfile.Lanes]uint64
}

// Number returns the number of the window of a logged load.
func (l *LoggedAccess) Number() int { return int(l.window / uint64(unsafe.Sizeof(AccessWindow{}))) }

// LogAt is the offset of the log in Context, LoggedAccessBytes the size of a LoggedAccess. The generator compares them with the C
// layout.
const (
	LogAt             = unsafe.Offsetof(Context{}.log)
	LoggedAccessBytes = unsafe.Sizeof(LoggedAccess{})
)

// closed is the value of AccessWindow.Closed for a window that is never open, open for a window that is always open.
var closed, open int64 = 1, 0

// NewAccessLog returns an empty log with n closed windows, with room for stores if stores is true. It returns nil if n is 0.
func NewAccessLog(n int, stores bool) *AccessLog {
	if n == 0 {
		return nil
	}
	l := &AccessLog{limit: logCapacity * uint64(LoggedAccessBytes), entries: new([logCapacity]LoggedAccess), list: make([]AccessWindow, n)}
	l.windows = &l.list[0]
	if stores {
		l.stores = new([logCapacity + 1]LoggedStore)
	}
	for i := range l.list {
		l.Close(i)
	}
	return l
}

// Close closes window i.
func (l *AccessLog) Close(i int) { l.list[i] = AccessWindow{Closed: &closed, Quiet: &open} }

// Open sets window i. A nil w.Closed or w.Quiet stands for 0. If logged is false, loads in the window are executed, but not logged.
func (l *AccessLog) Open(i int, w AccessWindow, logged bool) {
	if w.Closed == nil {
		w.Closed = &open
	}
	if w.Quiet == nil {
		w.Quiet = &open
	}
	if logged {
		w.step = uint64(LoggedAccessBytes)
	}
	l.list[i] = w
}

// Stored returns the data of the store that is entry i of the result of Take. It is valid until machine code is entered.
func (l *AccessLog) Stored(i int) *LoggedStore { return &l.stores[i] }

// Take returns the logged accesses and empties the log. The result is valid until machine code is entered.
func (l *AccessLog) Take() []LoggedAccess {
	n := l.used / uint64(LoggedAccessBytes)
	l.used = 0
	return l.entries[:n]
}

// SetLog sets the log of a warp. It may be nil if the code logs no loads.
func (c *Context) SetLog(l *AccessLog) { c.log = l }

// CanLog reports whether machine code can log a load or store: it has no guard and executes on lanes, the addresses are in a row, or a single address of
// shared or global memory, which has no row, and the elements of a store are in rows.
func CanLog(instr *code.Instr, acc *code.Access) bool {
	hasPlace := acc.Addr != code.NoSlot || acc.Space == ptx.Shared || acc.Space == ptx.Global
	stored := int64(0) // size of the rows
	if acc.Store {
		for _, e := range acc.Elems {
			if e.Slot != code.R && e.Slot != code.Q || acc.Size > 8 {
				return false
			}
			stored += rowSizes[e.Slot]
		}
	}
	return hasPlace && instr.Guard == 0 && instr.Plan.Exec == code.OnLanes && instr.Op != code.Atomic && !acc.Frame && acc.Tile == nil && !acc.SingleLane && !acc.Cluster && int64(acc.Offset) == int64(int32(acc.Offset)) &&
		stored <= maxStoredBytes*regfile.Lanes
}

// putLog puts the log of the load or store at pc.
func (a *assembler) putLog(pc int32) {
	instr, number := &a.prog.Instrs[pc], bytes.Count(a.exits[:pc], []byte{MayLog})
	acc, kind := &a.prog.Access[instr.Side], "load"
	if acc.Store {
		kind = "store"
		row := int64(0)
		for _, e := range acc.Elems {
			h := holes{n0: row}
			a.setPlace(&h, 'A', e.Slot, e.Row)
			a.put("log_row_"+e.Slot.String()+a.suffix, h)
			row += rowSizes[e.Slot]
		}
	}
	h := holes{n0: int64(acc.Offset), n1: int64(number) * int64(unsafe.Sizeof(AccessWindow{})), leave: a.exitLabel(pc, Observed)}
	rows := "n" // none
	if acc.Addr != code.NoSlot {
		a.setPlace(&h, 'A', acc.Addr, instr.A)
		rows = acc.Addr.String()
	}
	a.put("log_"+kind+"_"+rows+a.suffix, h)
}
