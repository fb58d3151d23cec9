package simt

// This file is copies between tensors and shared memory (manual 5.5, 9.7.9.25.5), which happen
// as all bulk operations do, and what changes tensor maps.

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"unsafe"

	"gemu/internal/tensormap"
	"gemu/interp/internal/code"
	"gemu/interp/internal/fp"
	"gemu/interp/internal/mem"
	"gemu/probe"
	"gemu/ptx"
	"gemu/regfile"
)

// tensorCopy is what an effect is of a tensor, beside the box in shared memory.
type tensorCopy struct {
	copy   tensormap.Copy
	at     uint64 // the address of the map
	space  ptx.Space
	m      *tensormap.Map // once it has been read
	reduce code.AtomicOp
	with   *tensormap.Override // nil: the map has everything
}

// shared is the address of the box in shared memory.
func (e *effect) shared() uint64 {
	if e.tensor.copy.Store {
		return e.from
	}
	return e.to
}

// tensorTrap is the trap of a copy that cannot be.
func (e *effect) tensorTrap(kind error, format string, args ...any) *probe.Trap {
	t := e.tensor
	args = append([]any{kind, t.copy.String(), hexAddr(t.at)}, args...)
	return e.trap(kind, "%v: the box at %s by the tensor map at %s: "+format, args...)
}

// tensorFaultTrap is the trap of a copy that cannot reach memory.
func (e *effect) tensorFaultTrap(fault *mem.Fault, addr uint64, bytes int) *probe.Trap {
	t := e.trap(fault.Kind, "%s: one of %d bytes of the box at %s by the tensor map at %s", fault.Msg, bytes, e.tensor.copy.String(), hexAddr(e.tensor.at))
	t.Addr, t.Bytes, t.Nearby = addr, bytes, fault.Near
	return t
}

// readMap reads the tensor map, if that has not been done.
func (e *effect) readMap() error {
	if e.tensor.m != nil {
		return nil
	}
	m, err := e.mapOf()
	e.tensor.m = m
	return err
}

// mapOf is the tensor map of a copy, which fits it.
//
//go:norace
func (e *effect) mapOf() (*tensormap.Map, error) {
	t, c := e.tensor, e.cta
	view := mem.View{Map: c.grid.dev.Memory, Shared: c.sharedMem}
	place, fault := view.Resolve(&mem.Access{Request: probe.Request{Space: t.space, Bytes: tensormap.Align, Kind: probe.AccessLoad}}, t.at)
	switch {
	case fault == nil && (place.Alloc == nil || place.Alloc.Kind == probe.SharedMemory):
		return nil, e.tensorTrap(probe.ErrWrongSpace, "it is in shared or local memory")
	case fault == nil && place.Alloc.Size-place.Offset < tensormap.Size:
		return nil, e.tensorTrap(probe.ErrOutOfBounds, "it ends behind %d bytes, of %d", place.Alloc.Size-place.Offset, tensormap.Size)
	case fault != nil:
		return nil, e.tensorFaultTrap(fault, t.at, tensormap.Size)
	}
	var b [tensormap.Size]byte
	copy(b[:], unsafe.Slice((*byte)(unsafe.Add(place.Alloc.Ptr, place.Offset)), tensormap.Size))
	m, err := tensormap.DecodeWith(b[:], t.with)
	if err == nil {
		err = m.Fits(&t.copy)
	}
	if err == nil && e.op.Reduces && !slices.Contains(reductions[m.Type].ops, t.reduce) {
		return nil, e.tensorTrap(probe.ErrAsync, "elements of .%s, for which there is no such reduction", m.Type)
	}
	if err != nil {
		return nil, e.tensorTrap(probe.ErrAsync, "%v", err)
	}
	return m, nil
}

// reductions are those that elements have (manual 9.7.9.25.5.3), by type.
var reductions = map[tensormap.Type]struct {
	typ ptx.Type
	ops []code.AtomicOp
}{
	tensormap.U32:  {ptx.U32, []code.AtomicOp{code.AtomAdd, code.AtomMin, code.AtomMax, code.AtomInc, code.AtomDec, code.AtomAnd, code.AtomOr, code.AtomXor}},
	tensormap.S32:  {ptx.S32, []code.AtomicOp{code.AtomAdd, code.AtomMin, code.AtomMax, code.AtomAnd, code.AtomOr, code.AtomXor}},
	tensormap.U64:  {ptx.U64, []code.AtomicOp{code.AtomAdd, code.AtomMin, code.AtomMax, code.AtomAnd, code.AtomOr, code.AtomXor}},
	tensormap.S64:  {ptx.S64, []code.AtomicOp{code.AtomMin, code.AtomMax, code.AtomAnd, code.AtomOr, code.AtomXor}},
	tensormap.F16:  {ptx.F16, []code.AtomicOp{code.AtomAdd, code.AtomMin, code.AtomMax}},
	tensormap.BF16: {ptx.BF16, []code.AtomicOp{code.AtomAdd, code.AtomMin, code.AtomMax}},
	tensormap.F32:  {ptx.F32, []code.AtomicOp{code.AtomAdd}},
}

// memoryView finds memory of a tensor, piece by piece: mostly that of the piece before.
type memoryView struct {
	view  mem.View
	kind  probe.AccessKind
	alloc *mem.Allocation
}

func (r *memoryView) bytes(p *tensormap.Segment) ([]byte, *mem.Fault) {
	n := uint64(p.Bytes)
	if r.alloc == nil || p.Global < r.alloc.Base || p.Global-r.alloc.Base > r.alloc.Size || n > r.alloc.Size-(p.Global-r.alloc.Base) {
		request := mem.Access{Request: probe.Request{Space: ptx.Global, Bytes: 1, Kind: r.kind}}
		for _, addr := range [...]uint64{p.Global, p.Global + n - 1} {
			place, fault := r.view.Resolve(&request, addr)
			if fault != nil {
				return nil, fault
			}
			if r.alloc != nil && addr != p.Global && place.Alloc != r.alloc {
				return nil, &mem.Fault{Kind: probe.ErrOutOfBounds, Msg: "a tensor that is not in one piece of memory"}
			}
			r.alloc = place.Alloc
		}
	}
	return unsafe.Slice((*byte)(unsafe.Add(r.alloc.Ptr, p.Global-r.alloc.Base)), n), nil
}

func (c *cta) view(kind probe.AccessKind) memoryView {
	return memoryView{view: mem.View{Map: c.grid.dev.Memory, Shared: c.sharedMem}, kind: kind}
}

// box is the shared memory that a copy needs.
func (e *effect) box(m *tensormap.Map) ([]byte, error) {
	kind := probe.AccessStore
	if e.tensor.copy.Store {
		kind = probe.AccessLoad
	}
	space, addr := e.op.To, e.shared()
	if e.tensor.copy.Store {
		space = e.op.From
	}
	n := m.Span(&e.tensor.copy)
	alloc, b, fault := e.cta.region(space, kind, addr, n, tensormap.SharedAlign)
	if fault == nil && e.op.NotifiesMbarrier && alloc != e.cta.ctaAt(e.mbarrier).sharedMem {
		fault = &mem.Fault{Kind: probe.ErrWrongSpace, Msg: fmt.Sprintf("a box at %s, not in the shared memory of cta %s, whose mbarrier counts its bytes", hexAddr(addr), e.cta.ctaAt(e.mbarrier).id)}
	}
	if fault != nil {
		return nil, e.tensorFaultTrap(fault, addr, int(n))
	}
	return b, nil
}

// resolvePlaces traps if a copy cannot go where it should.
func (e *effect) resolvePlaces(m *tensormap.Map) (err error) {
	if _, err = e.box(m); err != nil {
		return err
	}
	kind := probe.AccessLoad
	if e.tensor.copy.Store {
		kind = probe.AccessStore
	}
	r := e.cta.view(kind)
	m.Walk(&e.tensor.copy, e.shared(), func(p tensormap.Segment) bool {
		if p.Inside {
			if _, fault := r.bytes(&p); fault != nil {
				err = e.tensorFaultTrap(fault, p.Global, p.Bytes)
			}
		}
		return err == nil
	})
	return err
}

// readTensor reads the map and the source: what is one piece behind the other. What is outside
// of the tensor is filled in.
//
//go:norace
func (e *effect) readTensor() (err error) {
	if err := e.readMap(); err != nil {
		return err
	}
	m, t := e.tensor.m, e.tensor
	from, err := e.box(m)
	if err != nil {
		return err
	}
	data := make([]byte, 0, m.Bytes(&t.copy))
	if !t.copy.Store {
		r, fill := e.cta.view(probe.AccessLoad), fillOf(m)
		m.Walk(&t.copy, e.shared(), func(p tensormap.Segment) bool {
			if !p.Inside {
				for n := p.Bytes; n > 0; n -= min(n, len(fill)) {
					data = append(data, fill[:min(n, len(fill))]...)
				}
				return true
			}
			b, fault := r.bytes(&p)
			if fault != nil {
				err = e.tensorFaultTrap(fault, p.Global, p.Bytes)
				return false
			}
			e.patternFound = e.patternFound || found(e.op.ReportPattern, &p, b)
			data = append(data, b...)
			return true
		})
		convert(m.Type, data)
		e.keepData(data)
		return err
	}
	m.Walk(&t.copy, e.shared(), func(p tensormap.Segment) bool {
		b := from[p.Shared-e.shared():]
		if m.Type == tensormap.B6x16P32 {
			data = append(data, pack6((*[16]byte)(b))...)
		} else {
			data = append(data, b[:p.Bytes]...)
		}
		return true
	})
	e.keepData(data)
	return nil
}

// found reports whether a piece of a tensor has the pattern that a copy looks for: in each 16 bytes of global
// memory it looks at the first element that is copied.
func found(v code.PatternCheck, p *tensormap.Segment, b []byte) bool {
	for addr := p.Global; len(b) > 0; {
		n := min(int(16-addr%16), len(b))
		if p.First || addr != p.Global || addr%16 == 0 || v == code.PerByte {
			if v.FoundFirst(b[:n]) {
				return true
			}
		}
		addr, b = addr+uint64(n), b[n:]
	}
	return false
}

// keepData has the effect have what it has read.
func (e *effect) keepData(data []byte) {
	if e.data = data; !e.done {
		e.charge(uint64(len(data)))
	}
}

// writeTensor writes what has been read.
//
//go:norace
func (e *effect) writeTensor() (err error) {
	m, t, data := e.tensor.m, e.tensor, e.data
	e.data = nil
	if !t.copy.Store {
		to, err := e.box(m)
		if err != nil {
			return err
		}
		m.Walk(&t.copy, e.shared(), func(p tensormap.Segment) bool {
			copy(to[p.Shared-e.shared():], data[:p.Bytes])
			data = data[p.Bytes:]
			return true
		})
		return nil
	}
	var reduction code.Reduction
	if e.op.Reduces {
		reduction = code.ReductionOn(t.reduce, reductions[m.Type].typ, ptx.Global)
	}
	r := e.cta.view(probe.AccessStore)
	m.Walk(&t.copy, e.shared(), func(p tensormap.Segment) bool {
		if p.Inside {
			to, fault := r.bytes(&p)
			switch {
			case fault != nil:
				err = e.tensorFaultTrap(fault, p.Global, p.Bytes)
				return false
			case e.op.Reduces:
				reduceBytes(to, data[:p.Bytes], reduction)
			default:
				copy(to, data)
			}
		}
		data = data[p.Bytes:]
		return true
	})
	return err
}

// fillOf is what elements have that are outside of a tensor. The NaN of half precision is the one
// that fma.oob knows; of the others nobody has said which it is.
func fillOf(m *tensormap.Map) []byte {
	if !m.NaN {
		return make([]byte, 16)
	}
	switch m.Type {
	case tensormap.F16, tensormap.BF16:
		return []byte{0xf7, 0x7f}
	case tensormap.F64:
		return binary.LittleEndian.AppendUint64(nil, 0x7ff8<<48)
	}
	return binary.LittleEndian.AppendUint32(nil, math.Float32bits(fp.Canon32(float32(math.NaN()))))
}

// convert makes elements of what is in global memory, where a type asks for it: .f32.ftz has no
// subnormal numbers, and .tf32 is .f32 rounded to the nearest (manual 5.5.1).
func convert(t tensormap.Type, data []byte) {
	flush := t == tensormap.F32Ftz || t == tensormap.TF32Ftz
	round := t == tensormap.TF32 || t == tensormap.TF32Ftz
	if !flush && !round {
		return
	}
	for ; len(data) > 0; data = data[4:] {
		v := binary.LittleEndian.Uint32(data)
		if flush {
			v = math.Float32bits(fp.FTZ32(math.Float32frombits(v)))
		}
		if round {
			v = uint32(fp.TF32.Convert(float64(math.Float32frombits(v)), fp.RN, 0, false)) << 13
		}
		binary.LittleEndian.PutUint32(data, v)
	}
}

// pack6 is the low six bits of 16 bytes.
func pack6(b *[16]byte) []byte {
	out := make([]byte, 0, 12)
	for i := 0; i < len(b); i += 4 {
		v := uint32(b[i]&63) | uint32(b[i+1]&63)<<6 | uint32(b[i+2]&63)<<12 | uint32(b[i+3]&63)<<18
		out = append(out, byte(v), byte(v>>8), byte(v>>16))
	}
	return out
}

// asyncTensor executes cp.async.bulk.tensor and cp.reduce.asyncState.bulk.tensor.
func asyncTensor(w *warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	op, args := code.TensorOf(instr.Imm), w.cta.code.Calls[instr.Side].Args
	for ; m != 0 && w.err == nil; m &= m - 1 {
		lane := bits.TrailingZeros32(m) & 31
		rest := args
		next := func() uint32 {
			v := f.Src32(rest[0].Row)[lane]
			rest = rest[1:]
			return v
		}
		t := &tensorCopy{at: f.Src64(instr.B)[lane], space: op.Map, reduce: op.Op}
		t.copy = tensormap.Copy{Mode: op.Mode, Dims: op.Dims, Rows: op.Rows, Store: op.Store, Reset: op.Shape}
		for i := range op.Coordinates() {
			t.copy.Position[i] = int32(next())
		}
		for i := range t.copy.Offsets {
			t.copy.Offsets[i] = uint16(next())
		}
		e := w.effect(h, instr, lane, code.Async{Bulk: true, NotifiesMbarrier: !op.Store, Reduces: op.Reduces, ReportPattern: op.Report, To: op.Shared, From: ptx.Global})
		if e.tensor, e.to = t, f.Src64(instr.A)[lane]; op.Store {
			e.from, e.to = e.to, 0
			e.op.From, e.op.To = e.op.To, e.op.From
		}
		mask := uint32(0)
		if op.Multicast {
			mask = next()
		}
		if op.Override {
			t.with = &tensormap.Override{Address: f.Src64(rest[0].Row)[lane]}
			rest = rest[1:]
		}
		if op.Shape {
			t.with.Dims = op.Dims
			for i := range op.Dims {
				t.with.Dim[i] = uint16(next())
			}
			for i := range op.Dims - 1 {
				t.with.Low[i] = next()
			}
			if op.Dims > 1 {
				t.with.High = uint16(next())
			}
		}
		w.issueTensor(h, instr, e, op, f.Src64(instr.C)[lane], mask)
	}
}

// issueTensor looks at a copy, whose mbarrier is at an address, and notes it: for each CTA of a
// mask, if it has .multicast::cluster.
func (w *warp) issueTensor(h int, instr *code.Instr, e *effect, op code.Tensor, barrier uint64, mask uint32) {
	m, err := e.mapOf()
	if err != nil {
		w.err = err
		return
	}
	if e.bytes = m.Bytes(&e.tensor.copy); e.op.NotifiesMbarrier && !w.findMbarrier(h, instr, e, op.MbarrierSpace, barrier, false) {
		return
	}
	list := []*effect{e}
	if op.Multicast {
		list = w.multicast(e, mask)
	}
	for _, e := range list {
		if b := w.cta.mbarrier(e.mbarrier); e.op.NotifiesMbarrier && !b.valid() {
			w.failMbarrier(h, instr, e.lane&31, e.mbarrier, notAnMbarrier)
			return
		}
		if op.Report != code.NoReport && !w.setMbarrier(h, instr, e) {
			return
		}
		if w.err = e.resolvePlaces(m); w.err != nil {
			return
		}
		if w.issue(e); w.err != nil {
			return
		}
	}
}

// mapReplace executes tensormap.replace (manual 9.7.9.27).
//
//go:norace
func mapReplace(w *warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	op := code.MapFieldOf(instr.Imm)
	for ; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m) & 31
		b, ok := w.mapAt(h, instr, lane, op.Space, probe.AccessAtomic, f.Src64(instr.A)[lane])
		if !ok {
			return
		}
		if err := tensormap.Replace(b, code.MapFields[op.Field], op.Ord, f.Src64(instr.B)[lane]); err != nil {
			w.fail(w.sourceOf(instr), 1<<(32*h+lane), probe.ErrAsync, "%v: the tensor map at %s: %v", probe.ErrAsync, hexAddr(f.Src64(instr.A)[lane]), err)
			return
		}
		w.cta.changed = true
	}
}

// mapLarge executes tensormap.query.
//
//go:norace
func mapLarge(w *warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	op, d := code.MapFieldOf(instr.Imm), uint32(0)
	for left := m; left != 0; left &= left - 1 {
		lane := bits.TrailingZeros32(left) & 31
		b, ok := w.mapAt(h, instr, lane, op.Space, probe.AccessLoad, f.Src64(instr.A)[lane])
		if !ok {
			return
		}
		large, err := tensormap.Large(b)
		if err != nil {
			w.fail(w.sourceOf(instr), 1<<(32*h+lane), probe.ErrAsync, "%v: the tensor map at %s: %v", probe.ErrAsync, hexAddr(f.Src64(instr.A)[lane]), err)
			return
		}
		if large {
			d |= 1 << lane
		}
	}
	if instr.D != code.NoRow {
		f.SetP(instr.D, m, d)
	}
}

// mapCopy executes tensormap.cp_fenceproxy (manual 9.7.13.16), lane by lane.
//
//go:norace
func mapCopy(w *warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	if absent := uint32(w.live>>(32*h)) &^ m; absent != 0 {
		t := w.fail(w.sourceOf(instr), uint64(m)<<(32*h), probe.ErrDivergent, "%v: %s takes all lanes of a warp together, and not without lanes %s", probe.ErrDivergent, w.sourceOf(instr).Text, probe.LaneList(uint64(absent)<<(32*h)))
		t.Notes = append(t.Notes, w.whereabouts(uint64(absent)<<(32*h))...)
		return
	}
	for ; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m) & 31
		from, ok := w.mapAt(h, instr, lane, ptx.Shared, probe.AccessLoad, f.Src64(instr.B)[lane])
		if !ok {
			return
		}
		to, ok := w.mapAt(h, instr, lane, ptx.Global, probe.AccessStore, f.Src64(instr.A)[lane])
		if !ok {
			return
		}
		copy(to, from)
		w.cta.changed = true
	}
}

// mapAt is the bytes of a tensor map, or traps.
func (w *warp) mapAt(h int, instr *code.Instr, lane int, space ptx.Space, kind probe.AccessKind, addr uint64) ([]byte, bool) {
	_, b, fault := w.cta.region(space, kind, addr, tensormap.Size, tensormap.Align)
	if fault != nil {
		t := w.fail(w.sourceOf(instr), 1<<(32*h+lane), fault.Kind, "%s", fault.Msg)
		t.Addr, t.Bytes, t.Nearby = addr, tensormap.Size, fault.Near
		return nil, false
	}
	return b, true
}
