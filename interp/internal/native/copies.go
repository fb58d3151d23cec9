package native

// This file has the state of cp.async, which Go and machine code share. Both change the same lists in place, so an exit
// copies nothing. The lists name copies by their numbers, because machine code must not write Go's pointers.

import (
	"math/bits"
	"slices"
	"strconv"
	"unsafe"

	"gemu/interp/internal/code"
	"gemu/interp/internal/mem"
	"gemu/regfile"
)

// WarpCopy is the copies of one cp.async instruction in up to 32 lanes of a warp: a compact form of an effect for each of
// these lanes. All its lanes had committed the same number of groups. Its layout is that of struct warp_copy in
// _gen/c/async.c.
type WarpCopy struct {
	Sequence int64 // position in the order of issue of the copy of the first lane of Issued; each further lane has the next position
	Group    int64 // number of groups that its threads had committed before
	CopyRange
	Active uint64 // active mask at issue
	Imm    uint64 // see code.AsyncOf
	CopyPlace
	Src    int32  // index in Program.Sources of the issuing instruction
	Source int32  // index in CopyState.Sources of the allocation that contains the sources of the lanes of Reads; NoSource if there are none; unknown if IsLocated is false
	Size   int32  // number of bytes that each lane writes
	Issued uint32 // lanes that executed the instruction
	Lanes  uint32 // lanes whose copy is pending
	Reads  uint32 // issued lanes that read at least one byte
	Number int32  // index in CopyState.Objects

	IsLocated    bool // the memory of all lanes is known
	IsWhole      bool // each lane reads Size bytes
	IsContiguous bool // all 32 lanes copy Size bytes, and sources as well as targets of neighbouring lanes are adjacent
	ReadsParts   bool // a lane may read some of its bytes only: neither none nor Size

	Bytes    [regfile.Lanes]uint8  // number of bytes read, by lane, unless IsWhole; zeros follow up to Size
	To, From [regfile.Lanes]uint64 // addresses, by lane; only of lane 0 if IsContiguous
}

// LaneSequence returns the position in the order of issue of the copy of a lane.
func (p *WarpCopy) LaneSequence(lane int) int64 {
	return p.Sequence + int64(bits.OnesCount32(p.Issued&(1<<lane-1)))
}

// CopyRange is the memory of a WarpCopy. It is unknown if IsLocated is false.
type CopyRange struct {
	SourceEnd uint64 // end of the last source, as an offset in its allocation
	ToFirst   uint64 // first byte of the range that contains all targets, as an offset in the CTA's shared memory
	ToEnd     uint64 // end of this range
}

// CopyPlace is up to 32 lanes of a warp.
type CopyPlace struct {
	Warp int32 // index in the CTA
	Half int32 // half of the warp
}

// NoSource is the WarpCopy.Source of a copy that reads nothing.
const NoSource = -1

// CopyQueue is the cp.async work issued by up to 32 lanes of a warp.
type CopyQueue struct {
	Pending []int32       // numbers of copies, in the order of issue
	Sets    []CommitLanes // each lane is in one of them
	CopyPlace
}

// CommitLanes is lanes that have committed the same number of groups of cp.async.
type CommitLanes struct {
	Groups int64
	Lanes  uint32
}

// CopyState is the part of a CTA's asynchronous state that machine code changes.
type CopyState struct {
	KeptBytes uint64 // host memory of pending effects, in bytes
	MaxBytes  uint64 // maximum of KeptBytes
	LaneBytes uint64 // bytes for which the pending copy of a lane counts
	IsEager   bool   // copies happen at issue

	Objects []*WarpCopy       // all copies, by number
	Free    []int32           // numbers of unused objects; the capacity is at least the length of Objects
	Sources []*mem.Allocation // allocations from which cp.async has copied lately. A freed one has size 0
}

// SearchedSources is the number of Sources, from the first on, among which machine code searches an address: SOURCES in async.c.
const SearchedSources = 8

// copyBlock is the number of objects that are allocated together.
const copyBlock = 16

// Copy takes an unused object. Its contents are undefined, except Number.
func (s *CopyState) Copy() *WarpCopy {
	if len(s.Free) == 0 {
		block := make([]WarpCopy, copyBlock)
		for i := range block {
			block[i].Number = int32(len(s.Objects))
			s.Objects = append(s.Objects, &block[i])
		}
		s.Free = slices.Grow(s.Free, len(s.Objects))
		for i := range block {
			s.Free = append(s.Free, block[copyBlock-1-i].Number)
		}
	}
	last := len(s.Free) - 1
	p := s.Objects[s.Free[last]]
	s.Free = s.Free[:last]
	return p
}

// Release makes an object available to Copy. No list may contain it.
func (s *CopyState) Release(p *WarpCopy) { s.Free = append(s.Free, p.Number) }

// Add makes a copy the last pending one of the queue.
func (q *CopyQueue) Add(p *WarpCopy) {
	if len(q.Pending) == cap(q.Pending) {
		q.Pending = slices.Grow(q.Pending, copyBlock) // machine code adds no copy to a full list
	}
	q.Pending = append(q.Pending, p.Number)
}

// SetCopies sets the queue of the warp, the state of its CTA, and the position of the next effect in the order of issue. With nil,
// machine code leaves cp.async to Go.
func (c *Context) SetCopies(q *CopyQueue, s *CopyState, sequence *int64) {
	c.copyQueue, c.copyState, c.sequence = q, s, sequence
}

// CopiesAt is the offset of the queue in Context, WarpCopyBytes the size of a WarpCopy. The generator compares them with the C
// layout.
const (
	CopiesAt      = unsafe.Offsetof(Context{}.copyQueue)
	WarpCopyBytes = unsafe.Sizeof(WarpCopy{})
)

// The C layout also depends on these offsets.
var (
	_ = [1]struct{}{}[unsafe.Offsetof(WarpCopy{}.Bytes)-96]
	_ = [1]struct{}{}[unsafe.Offsetof(CopyQueue{}.CopyPlace)-48]
	_ = [1]struct{}{}[unsafe.Offsetof(CommitLanes{}.Lanes)-8]
	_ = [1]struct{}{}[unsafe.Sizeof(CommitLanes{})-16]
	_ = [1]struct{}{}[unsafe.Offsetof(CopyState{}.Sources)-80]
)

// putAsync makes the code of cp.async, of its commit, and of a wait for a constant number of groups.
func (a *assembler) putAsync(pc int32, instr *code.Instr, suffix string) {
	h := a.operandHoles(instr)
	h.leave = a.exitLabel(pc, Unsupported)
	bulk, _, all := code.GroupsOf(instr.Imm)
	switch {
	case instr.Op == code.AsyncCopy:
		_, _, size := code.CopyOf(instr.Imm)
		name := "async_copy_" + strconv.Itoa(size)
		if instr.C >= 0 {
			name += "_filled"
		}
		h.n0, h.n1 = int64(instr.Src), int64(instr.Imm)
		a.checkOffset(h.n1)
		a.putOrLeave(name+suffix, h)
	case bulk:
		a.leaveToGo()
	case instr.Op == code.AsyncCommit:
		a.put("async_commit", h)
	case instr.A >= 0: // the lanes may wait for different groups
		a.leaveToGo()
	default:
		if h.n0 = 0; all {
			h.n0 = 1
		}
		a.put("async_wait", h)
	}
}
