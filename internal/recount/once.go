package recount

import (
	"slices"

	"gemu/probe"
	"gemu/ptx"
)

// This file follows stored registers from docs/compress-once.md: no code of packages codec and models/gscalar is used, and numbers of lanes are compared as
// numbers.

// OnceLine is how a store wrote a line.
type OnceLine struct {
	Whole  bool   // the store covers the line
	Shares bool   // the store is encoded, and some word of it shares bytes, without the extension
	Bytes  [3]int // bytes of the form of an encoded line, by base; 128 for a raw line
	Words  int    // words of a lane of an encoded store
	set    [128]bool
}

// onceAt identifies the lines that an instruction writes.
type onceAt struct {
	launch           uint64
	cta, warp, instr int
	line             uint64
}

// Once is a probe that knows the encodings of stores of warps of 32 lanes, for kernels without calls.
type Once struct {
	stores  map[onceAt][]OnceLine // in the order of execution
	whole   map[onceRegister]bool // registers whose last write was by all lanes
	Origins map[uint64]OnceLine   // of lines that Write has written and the host has not, by line
}

// onceRegister is a register of a warp.
type onceRegister struct {
	launch    uint64
	cta, warp int
	reg       ptx.RegID
}

// NewOnce returns an empty counter.
func NewOnce() *Once {
	return &Once{map[onceAt][]OnceLine{}, map[onceRegister]bool{}, map[uint64]OnceLine{}}
}

// Subscription returns the events of instructions, and of writes by the host.
func (o *Once) Subscription() probe.Subscription {
	return probe.Subscription{Events: probe.OnAfter | probe.OnWake | probe.OnAlloc | probe.OnHostWrite, Values: true, Addresses: true, InOrder: true}
}

// CTA returns the counter.
func (o *Once) CTA(*probe.LaunchInfo, int, ptx.Dim3) probe.Sink { return o }

// allLanes is all lanes of a warp.
const allLanes = 1<<32 - 1

// OnEvent follows registers, and notes stores.
func (o *Once) OnEvent(e *probe.Event) {
	if e.Memory != nil {
		for at := e.Offset; at < e.Offset+uint64(e.Bytes); at++ {
			delete(o.Origins, (e.Memory.Base+at)/128)
		}
		return
	}
	for i := range e.Accesses {
		if a := &e.Accesses[i]; a.Kind == probe.AccessStore && e.Kind == probe.OnAfter {
			o.store(e, a)
		}
	}
	for i := range e.Writes {
		o.whole[onceRegister{e.Launch.ID, e.CTA, e.Warp, e.Writes[i].Reg}] = e.Lanes == allLanes
	}
}

// store notes the lines of a store to global memory.
func (o *Once) store(e *probe.Event, a *probe.Access) {
	lines := map[uint64]*OnceLine{}
	for lane := range 32 {
		if a.Lanes>>lane&1 == 0 {
			continue
		}
		if space, _, _, ok := a.PlaceOf(lane); !ok || space != ptx.Global {
			return
		}
		for b := range a.Bytes {
			at := a.Addr[lane] + uint64(b)
			if lines[at/128] == nil {
				lines[at/128] = &OnceLine{}
			}
			lines[at/128].set[at%128] = true
		}
	}
	words := o.words(e, a)
	for number, l := range lines {
		l.Whole = !slices.Contains(l.set[:], false)
		l.Bytes = [3]int{128, 128, 128}
		if len(words) > 0 && l.Whole {
			l.Words = len(words)
			sizes := [3]int{}
			for _, lanes := range words {
				for b := range sizes {
					bytes, n := onceWord(lanes, b, 32/len(words))
					sizes[b] += bytes
					l.Shares = l.Shares || b == 0 && n > 0
				}
			}
			for b, n := range sizes {
				if n <= 96 {
					l.Bytes[b] = n
				}
			}
		}
		key := onceAt{e.Launch.ID, e.CTA, e.Warp, e.Index, number}
		o.stores[key] = append(o.stores[key], *l)
	}
}

// words returns the words that each lane of an encoded store writes, with the lanes of each; nil for a word without an encoding. It returns no words
// if the store is not encoded.
func (o *Once) words(e *probe.Event, a *probe.Access) (list [][]uint32) {
	if e.Lanes != allLanes || a.Lanes != allLanes || !slices.Contains([]int{4, 8, 16}, a.Bytes) {
		return nil
	}
	var elems []ptx.Operand
	for _, x := range e.Instr.Ops {
		switch x.Kind {
		case ptx.VecOperand:
			elems = x.Elems()
		case ptx.RegOperand, ptx.ImmOperand:
			elems = []ptx.Operand{x}
		}
	}
	size := a.Bytes / len(elems)
	if size < 4 {
		return nil
	}
	for _, x := range elems {
		for k := range size / 4 {
			var lanes []uint32
			switch {
			case x.Kind == ptx.ImmOperand:
				lanes = slices.Repeat([]uint32{uint32(x.Imm.Encode(e.Instr.Type()) >> (32 * k))}, 32)
			case o.whole[onceRegister{e.Launch.ID, e.CTA, e.Warp, x.Reg}]:
				v := &e.Reads[slices.IndexFunc(e.Reads, func(v probe.Value) bool { return v.Reg == x.Reg })]
				for lane := range 32 {
					lanes = append(lanes, uint32(v.Low[lane]>>(32*k)))
				}
			}
			list = append(list, lanes)
		}
	}
	return list
}

// onceWord returns the fewest bytes in the form of a line with some values of a word, and the number of bytes that are left out: with methods up to base.
func onceWord(lanes []uint32, base, values int) (bytes, left int) {
	for method := 0; method <= base && len(lanes) > 0; method++ {
		for n := left + 1; n <= 4; n++ {
			holds := true
			for _, v := range lanes {
				switch method {
				case 0:
					holds = holds && onceHigh(int64(v), n) == onceHigh(int64(lanes[0]), n)
				case 1:
					holds = holds && (n < 4 && lineFits(int64(int32(v)), 4-n) || v == 0)
				case 2:
					holds = holds && onceHigh(onceMoved(v), n) == onceHigh(onceMoved(lanes[0]), n)
				}
			}
			if holds {
				left = n
				if bytes = n; method == 1 {
					bytes = 0
				}
			}
		}
	}
	return 1 + bytes + (4-left)*values, left
}

// onceHigh returns the number in the n highest of four bytes.
func onceHigh(v int64, n int) int64 {
	for range 4 - n {
		v /= 256
	}
	return v
}

// onceMoved returns a number whose sign is its lowest bit.
func onceMoved(v uint32) int64 {
	if n := int64(int32(v)); n < 0 {
		return -2*n - 1
	}
	return 2 * int64(v)
}

// Write notes that the L2 takes the next store of an instruction to a line; an atomic has no store.
func (o *Once) Write(launch uint64, cta, warp, instr int, line uint64, atomic bool) {
	key := onceAt{launch, cta, warp, instr, line}
	if list := o.stores[key]; len(list) > 0 && !atomic {
		o.Origins[line], o.stores[key] = list[0], list[1:]
		return
	}
	o.Origins[line] = OnceLine{Bytes: [3]int{128, 128, 128}}
}

// Left returns the number of stores that the L2 has not taken.
func (o *Once) Left() (n int) {
	for _, list := range o.stores {
		n += len(list)
	}
	return n
}
