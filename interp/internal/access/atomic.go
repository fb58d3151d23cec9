package access

// This file executes atom and red. Functions marked go:norace access the guest program's memory: see access.go.

import (
	"math"
	"math/bits"
	hostatomic "sync/atomic"
	"unsafe"

	"gemu/interp/internal/alu"
	"gemu/interp/internal/code"
	"gemu/interp/internal/fp"
	"gemu/interp/internal/machine"
	"gemu/interp/internal/mem"
	"gemu/ptx"
	"gemu/regfile"
)

// AtomLane executes atom and red, lane by lane.
func AtomLane(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	a := w.AccessOf(instr)
	t := a.Atom
	elems, bs, cs, size := a.Elems, t.B[:len(a.Elems)], t.C, a.Size // local copies: otherwise the compiler loads the fields again after each store
	p, base, last, ok := LastHit(w, a, a.Bytes)
	shift := -bits.TrailingZeros(uint(a.Bytes))
	generic := a.Space == ptx.Generic
	parallel := UsesHostAtomics(w.CTA) && !t.Shared
	onShared := t.Reduction // the same operation on shared memory, without host atomics
	onShared.Global = false
	mask := WidthMask(t.Type)
	var addrs regfile.Row64
	if bits.OnesCount32(m) > machine.MaxLaneByLane {
		Addresses(f, instr, a, &addrs)
	} else {
		for n := m; n != 0; n &= n - 1 {
			lane := bits.TrailingZeros32(n) & 31
			addrs[lane] = address(f, instr, a, lane)
		}
	}
	for ; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m) & 31
		addr := addrs[lane]
		o := addr - base
		var q unsafe.Pointer
		if ok && bits.RotateLeft64(o, shift) <= last {
			q = unsafe.Add(p, o)
		} else {
			if q, _, _ = ResolveLane(w, instr, h, lane, addr, m); w.Err != nil {
				return
			}
			p, base, last, ok = LastHit(w, a, a.Bytes)
		}
		if size == 16 {
			atom128(w, f, q, lane, a)
			continue
		}
		for i := range elems {
			e := &elems[i]
			r := unsafe.Add(q, i*size)
			bv, cv := ReadElem(f, bs[i], lane), uint64(0)
			if cs != nil {
				cv = ReadElem(f, cs[i], lane)
			}
			var old, now uint64
			switch {
			case generic && mem.InShared(addr, w.CTA.Grid.ClusterSize):
				old = mem.LoadBits(r, size)
				now = ApplyReduction(onShared, mask, old, bv, cv)
				mem.StoreBits(r, size, now)
			case parallel:
				old, now = applyHostReduction(t.Reduction, mask, r, size, bv, cv)
			default:
				old = mem.LoadBits(r, size)
				now = ApplyReduction(t.Reduction, mask, old, bv, cv)
				mem.StoreBits(r, size, now)
			}
			if old != now {
				w.CTA.Changed = true
			}
			switch e.Slot {
			case code.R:
				f.Row32(e.Row)[lane] = uint32(old)
			case code.Q:
				f.Row64(e.Row)[lane] = old
			}
		}
	}
}

// atom128 executes exch and cas of 128 bits.
func atom128(w *machine.Warp, f *regfile.File, p unsafe.Pointer, lane int, a *code.Access) {
	t, d, b := a.Atom, a.Elems[0], a.Atom.B[0]
	lo, hi := (*uint64)(p), (*uint64)(unsafe.Add(p, 8))
	oldLo, oldHi := *lo, *hi
	newLo, newHi := f.Src64(b.Row)[lane], f.Src64(b.High)[lane]
	if t.Op == code.AtomCas {
		if oldLo == newLo && oldHi == newHi {
			c := t.C[0]
			newLo, newHi = f.Src64(c.Row)[lane], f.Src64(c.High)[lane]
		} else {
			newLo, newHi = oldLo, oldHi
		}
	}
	*lo, *hi = newLo, newHi
	if oldLo != newLo || oldHi != newHi {
		w.CTA.Changed = true
	}
	if d.Slot == code.Q {
		f.Row64(d.Row)[lane], f.Row64(d.High)[lane] = oldLo, oldHi
	}
}

// UsesHostAtomics reports whether atomics of the CTA on global memory must be host atomics, because other CTAs or the host
// may access the memory at the same time. Atomics of 128 bits never are: Go's atomics have at most 64 bits.
func UsesHostAtomics(c *machine.CTA) bool {
	return c.Grid.HostAtomics && (!c.Ordered || c.Grid.Device.HostGrace > 0)
}

// applyHostReduction applies the operation to memory with host atomics. For a value of less than 4 bytes it
// changes the aligned 4-byte word around it, which is in the same page and allocation.
func applyHostReduction(t code.Reduction, mask uint64, p unsafe.Pointer, size int, b, c uint64) (old, now uint64) {
	if size == 8 {
		q := (*uint64)(p)
		for {
			old = hostatomic.LoadUint64(q)
			now = ApplyReduction(t, mask, old, b, c)
			if old == now || hostatomic.CompareAndSwapUint64(q, old, now) {
				return old, now
			}
		}
	}
	byteInWord := uintptr(p) % 4 // offset of the value in the word, in bytes
	q := (*uint32)(unsafe.Add(p, -int(byteInWord)))
	for {
		v := hostatomic.LoadUint32(q)
		old = uint64(v) >> (8 * byteInWord) & mask
		now = ApplyReduction(t, mask, old, b, c)
		if old == now || hostatomic.CompareAndSwapUint32(q, v, uint32(uint64(v)&^(mask<<(8*byteInWord))|now<<(8*byteInWord))) {
			return old, now
		}
	}
}

// ApplyReduction returns the new value of memory after a reduction (manual 9.7.13.5). a is the value in memory, b the
// operand, and c the second operand of cas. mask has the width of the type.
func ApplyReduction(t code.Reduction, mask, a, b, c uint64) uint64 {
	switch t.Op {
	case code.AtomAdd:
		switch t.Type {
		case ptx.F32:
			x, y := math.Float32frombits(uint32(a)), math.Float32frombits(uint32(b))
			if t.Global {
				x, y = fp.FTZ32(x), fp.FTZ32(y)
				return uint64(math.Float32bits(fp.FTZ32(fp.Canon32(x + y))))
			}
			return uint64(math.Float32bits(fp.Canon32(x + y)))
		case ptx.F64:
			x, y := math.Float64frombits(a), math.Float64frombits(b)
			switch {
			case !t.Global:
				x, y = y, x // keeps the NaN in memory
			case y != y:
				return b // unchanged, not made quiet
			case x != x:
				return a
			}
			return math.Float64bits(fp.Result64(x+y, y, x))
		}
		return (a + b) & mask
	case code.AtomFloat:
		v, _ := alu.Single[t.Float](a, b, 0, 0, 0)
		return v
	case code.AtomAnd:
		return a & b
	case code.AtomOr:
		return a | b
	case code.AtomXor:
		return a ^ b
	case code.AtomExch:
		return b & mask
	case code.AtomCas:
		if a == b&mask {
			return c & mask
		}
		return a
	case code.AtomInc:
		if a >= b {
			return 0
		}
		return a + 1
	case code.AtomDec:
		if a == 0 || a > b {
			return b
		}
		return a - 1
	}
	aIsLess := a < b&mask
	if t.Type.IsSigned() {
		n := bits.LeadingZeros64(mask)
		aIsLess = int64(a<<n) < int64(b<<n)
	}
	if aIsLess == (t.Op == code.AtomMin) {
		return a
	}
	return b & mask
}

// WidthMask returns a mask with the width of a type of at most 64 bits.
func WidthMask(t ptx.Type) uint64 { return ^uint64(0) >> max(0, 64-t.Bits()) }
