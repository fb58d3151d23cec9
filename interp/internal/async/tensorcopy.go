package async

// This file executes copies between tensors and shared memory (manual 5.5, 9.7.9.25.5), which are bulk operations.

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
	"gemu/interp/internal/machine"
	"gemu/interp/internal/mem"
	"gemu/probe"
	"gemu/ptx"
	"gemu/regfile"
)

// AsyncTensor executes cp.async.bulk.tensor and cp.reduce.async.bulk.tensor.
func AsyncTensor(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	op, args := code.TensorOf(instr.Imm), w.CTA.Code.Calls[instr.Side].Args
	for ; m != 0 && w.Err == nil; m &= m - 1 {
		lane := bits.TrailingZeros32(m) & 31
		rest := args
		next := func() uint32 {
			v := f.Src32(rest[0].Row)[lane]
			rest = rest[1:]
			return v
		}
		t := newObject(&w.CTA.Cluster.FreeTensors)
		*t = machine.TensorCopy{MapAddress: f.Src64(instr.B)[lane], MapSpace: op.Map, Reduce: op.Op}
		t.Copy = tensormap.Copy{Mode: op.Mode, Dims: op.Dims, Rows: op.Rows, Store: op.Store, Reset: op.Shape}
		for i := range op.Coordinates() {
			t.Copy.Position[i] = int32(next())
		}
		for i := range t.Copy.Offsets {
			t.Copy.Offsets[i] = uint16(next())
		}
		e := newEffect(w, h, instr, lane, code.Async{Bulk: true, NotifiesMbarrier: !op.Store, Reduces: op.Reduces, ReportPattern: op.Report, To: op.Shared, From: ptx.Global})
		if e.Tensor, e.To = t, f.Src64(instr.A)[lane]; op.Store {
			e.From, e.To = e.To, 0
			e.Op.From, e.Op.To = e.Op.To, e.Op.From
		}
		mask := uint32(0)
		if op.Multicast {
			mask = next()
		}
		if op.Override {
			t.Override = &tensormap.Override{Address: f.Src64(rest[0].Row)[lane]}
			rest = rest[1:]
		}
		if op.Shape {
			t.Override.Dims = op.Dims
			for i := range op.Dims {
				t.Override.Dim[i] = uint16(next())
			}
			for i := range op.Dims - 1 {
				t.Override.Low[i] = next()
			}
			if op.Dims > 1 {
				t.Override.High = uint16(next())
			}
		}
		issueTensor(w, h, instr, e, op, f.Src64(instr.C)[lane], mask)
	}
}

// issueTensor checks a copy and its mbarrier, and issues the copy; with .multicast::cluster it issues a copy for each CTA
// of the mask.
func issueTensor(w *machine.Warp, h int, instr *code.Instr, e *machine.AsyncEffect, op code.Tensor, barrier uint64, mask uint32) {
	m, err := tensorMapOf(e)
	if err != nil {
		w.Err = err
		return
	}
	if e.Bytes = m.Bytes(&e.Tensor.Copy); e.Op.NotifiesMbarrier && !findMbarrier(w, h, instr, e, op.MbarrierSpace, barrier, false) {
		return
	}
	list := []*machine.AsyncEffect{e}
	if op.Multicast {
		list = multicastEffect(w, e, mask)
	}
	for _, e := range list {
		if b := mbarrierOf(w.CTA, e.Mbarrier); e.Op.NotifiesMbarrier && !b.valid() {
			failMbarrier(w, h, instr, e.Lane&31, e.Mbarrier, notAnMbarrier)
			return
		}
		if op.Report != code.NoReport && !requireReportLayout(w, h, instr, e) {
			return
		}
		if w.Err = resolvePlaces(e, m); w.Err != nil {
			return
		}
		if issueEffect(w, e); w.Err != nil {
			return
		}
	}
}

// sharedAddressOf returns the address of a copy's box in shared memory.
func sharedAddressOf(e *machine.AsyncEffect) uint64 {
	if e.Tensor.Copy.Store {
		return e.From
	}
	return e.To
}

// tensorTrap makes the trap for an invalid copy.
func tensorTrap(e *machine.AsyncEffect, kind error, format string, args ...any) *probe.Trap {
	t := e.Tensor
	args = append([]any{kind, t.Copy.String(), machine.HexAddr(t.MapAddress)}, args...)
	return effectTrap(e, kind, "%v: the box at %s by the tensor map at %s: "+format, args...)
}

// tensorFaultTrap makes the trap for a memory fault at addr, an address of the given number of bytes.
func tensorFaultTrap(e *machine.AsyncEffect, fault *mem.Fault, addr uint64, bytes int) *probe.Trap {
	t := effectTrap(e, fault.Kind, "%s: one of %d bytes of the box at %s by the tensor map at %s", fault.Msg, bytes, e.Tensor.Copy.String(), machine.HexAddr(e.Tensor.MapAddress))
	t.Addr, t.Bytes, t.Nearby = addr, bytes, fault.Near
	return t
}

// readTensorMap reads the tensor map, unless it has been read already.
func readTensorMap(e *machine.AsyncEffect) error {
	if e.Tensor.Map != nil {
		return nil
	}
	m, err := tensorMapOf(e)
	e.Tensor.Map = m
	return err
}

// tensorMapOf decodes the tensor map of a copy. The error is a trap if the map is not valid for the copy.
//
//go:norace
func tensorMapOf(e *machine.AsyncEffect) (*tensormap.Map, error) {
	t, c := e.Tensor, e.CTA
	view := mem.View{Map: c.Grid.Device.Memory, Shared: c.SharedMem}
	place, fault := view.Resolve(&mem.Access{Request: probe.Request{Space: t.MapSpace, Bytes: tensormap.Align, Kind: probe.AccessLoad}}, t.MapAddress)
	switch {
	case fault == nil && (place.Alloc == nil || place.Alloc.Kind == probe.SharedMemory):
		return nil, tensorTrap(e, probe.ErrWrongSpace, "the tensor map is in shared or local memory")
	case fault == nil && place.Alloc.Size-place.Offset < tensormap.Size:
		return nil, tensorTrap(e, probe.ErrOutOfBounds, "the tensor map does not fit its allocation: only %d of its %d bytes do", place.Alloc.Size-place.Offset, tensormap.Size)
	case fault != nil:
		return nil, tensorFaultTrap(e, fault, t.MapAddress, tensormap.Size)
	}
	m, err := decodeMap(&c.Cluster.LastMap, unsafe.Slice((*byte)(unsafe.Add(place.Alloc.Ptr, place.Offset)), tensormap.Size), t.Override)
	if err == nil {
		err = m.Fits(&t.Copy)
	}
	if err == nil && e.Op.Reduces && !slices.Contains(reductions[m.Type].ops, t.Reduce) {
		return nil, tensorTrap(e, probe.ErrAsync, "this reduction is not defined for elements of .%s", m.Type)
	}
	if err != nil {
		return nil, tensorTrap(e, probe.ErrAsync, "%v", err)
	}
	return m, nil
}

// decodeMap decodes a tensor map. Copies often use the map of the copy before, which last has.
//
//go:norace
func decodeMap(last *machine.DecodedMap, b []byte, o *tensormap.Override) (*tensormap.Map, error) {
	encoded := [tensormap.Size]byte(b)
	if o == nil && last.Map != nil && encoded == last.Encoded {
		return last.Map, nil
	}
	m, err := tensormap.DecodeWith(encoded[:], o)
	if o == nil && err == nil {
		*last = machine.DecodedMap{Encoded: encoded, Map: m}
	}
	return m, err
}

// reductions has the permitted reductions of elements (manual 9.7.9.25.5.3), by the type in the tensor map.
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

// memoryView finds the memory of a tensor, segment by segment. It first tries the allocation of the previous segment.
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
				return nil, &mem.Fault{Kind: probe.ErrOutOfBounds, Msg: "the tensor is not inside a single allocation"}
			}
			r.alloc = place.Alloc
		}
	}
	return unsafe.Slice((*byte)(unsafe.Add(r.alloc.Ptr, p.Global-r.alloc.Base)), n), nil
}

func sharedView(c *machine.CTA, kind probe.AccessKind) memoryView {
	return memoryView{view: mem.View{Map: c.Grid.Device.Memory, Shared: c.SharedMem}, kind: kind}
}

// tensorBox returns the shared memory of a copy's box.
func tensorBox(e *machine.AsyncEffect, m *tensormap.Map) ([]byte, error) {
	kind := probe.AccessStore
	if e.Tensor.Copy.Store {
		kind = probe.AccessLoad
	}
	space, addr := e.Op.To, sharedAddressOf(e)
	if e.Tensor.Copy.Store {
		space = e.Op.From
	}
	n := m.Span(&e.Tensor.Copy)
	alloc, b, fault := e.CTA.RegionOf(space, kind, addr, n, tensormap.SharedAlign)
	if fault == nil && e.Op.NotifiesMbarrier && alloc != e.CTA.CTAAt(e.Mbarrier).SharedMem {
		fault = &mem.Fault{Kind: probe.ErrWrongSpace, Msg: fmt.Sprintf("the box at %s must be in the shared memory of cta %s, like the mbarrier that counts its bytes", machine.HexAddr(addr), e.CTA.CTAAt(e.Mbarrier).ID)}
	}
	if fault != nil {
		return nil, tensorFaultTrap(e, fault, addr, int(n))
	}
	return b, nil
}

// resolvePlaces returns a trap if the memory of a copy is invalid.
func resolvePlaces(e *machine.AsyncEffect, m *tensormap.Map) (err error) {
	if _, err = tensorBox(e, m); err != nil {
		return err
	}
	kind := probe.AccessLoad
	if e.Tensor.Copy.Store {
		kind = probe.AccessStore
	}
	r := sharedView(e.CTA, kind)
	if n, ok := m.Extent(); ok { // usually the whole tensor is in one allocation
		if _, fault := r.bytes(&tensormap.Segment{Global: m.Address, Bytes: int(n)}); fault == nil {
			return nil
		}
		r = sharedView(e.CTA, kind)
	}
	check := func(p tensormap.Segment) bool {
		if p.Inside {
			if _, fault := r.bytes(&p); fault != nil {
				err = tensorFaultTrap(e, fault, p.Global, p.Bytes)
			}
		}
		return err == nil
	}
	rows := *m
	if !m.Type.Padded() {
		rows.Swizzle = tensormap.Swizzle{} // the order of shared memory does not matter
	}
	if rows.WalkRows(&e.Tensor.Copy, sharedAddressOf(e), check); err != nil { // the trap names the first segment that faults
		err = nil
		m.Walk(&e.Tensor.Copy, sharedAddressOf(e), check)
	}
	return err
}

// readTensor reads the tensor map and the source of a copy, segment after segment, into Data. Elements outside the tensor
// get the fill value.
//
//go:norace
func readTensor(e *machine.AsyncEffect) (err error) {
	if err := readTensorMap(e); err != nil {
		return err
	}
	m, t := e.Tensor.Map, e.Tensor
	from, err := tensorBox(e, m)
	if err != nil {
		return err
	}
	data := make([]byte, 0, m.Bytes(&t.Copy))
	if !t.Copy.Store {
		source := tensorSource{sharedView(e.CTA, probe.AccessLoad), fillOf(m)}
		m.Walk(&t.Copy, sharedAddressOf(e), func(p tensormap.Segment) bool {
			begin := len(data)
			data = slices.Grow(data, p.Bytes)[:begin+p.Bytes]
			if fault := source.read(&p, data[begin:]); fault != nil {
				data, err = data[:begin], tensorFaultTrap(e, fault, p.Global, p.Bytes)
				return false
			}
			e.PatternFound = e.PatternFound || p.Inside && segmentHasPattern(e.Op.ReportPattern, &p, data[begin:])
			return true
		})
		convert(m.Type, data)
		keepEffectData(e, data)
		return err
	}
	m.Walk(&t.Copy, sharedAddressOf(e), func(p tensormap.Segment) bool {
		b := from[p.Shared-sharedAddressOf(e):]
		if m.Type == tensormap.B6x16P32 {
			data = append(data, pack6((*[16]byte)(b))...)
		} else {
			data = append(data, b[:p.Bytes]...)
		}
		return true
	})
	keepEffectData(e, data)
	return nil
}

// isPlainTensorCopy reports whether an effect copies elements between a tensor and shared memory, and does nothing else,
// except that it may notify an mbarrier and convert loaded elements.
func isPlainTensorCopy(e *machine.AsyncEffect) bool {
	return e.Tensor != nil && e.Data == nil && !e.Op.Reduces && e.Op.ReportPattern == code.NoReport
}

// copyTensor executes a plain copy between a tensor and shared memory: it copies segment after segment.
//
//go:norace
func copyTensor(e *machine.AsyncEffect) (err error) {
	if err := readTensorMap(e); err != nil {
		return err
	}
	m, addr, store := e.Tensor.Map, sharedAddressOf(e), e.Tensor.Copy.Store
	box, err := tensorBox(e, m)
	if err != nil {
		return err
	}
	kind := probe.AccessLoad
	if store {
		kind = probe.AccessStore
	}
	tensor := tensorSource{sharedView(e.CTA, kind), fillOf(m)}
	transfer := func(p tensormap.Segment) bool {
		part, fault := box[p.Shared-addr:], (*mem.Fault)(nil)
		switch {
		case !store:
			if fault = tensor.read(&p, part[:p.Bytes]); fault == nil {
				convert(m.Type, part[:p.Bytes])
			}
		case p.Inside:
			var to []byte
			if to, fault = tensor.memory.bytes(&p); fault != nil {
				break
			}
			if m.Type == tensormap.B6x16P32 {
				copy(to, pack6((*[16]byte)(part)))
			} else {
				copy(to, part)
			}
		}
		if fault != nil {
			err = tensorFaultTrap(e, fault, p.Global, p.Bytes)
		}
		return fault == nil
	}
	if m.WalkRows(&e.Tensor.Copy, addr, transfer); err != nil { // the segments before the fault are copied
		err = nil
		m.Walk(&e.Tensor.Copy, addr, transfer)
	}
	return err
}

// A tensorSource reads segments of a tensor.
type tensorSource struct {
	memory memoryView
	fill   []byte // value of an element outside the tensor
}

// read copies a segment to target, which has its size. Elements outside the tensor get the fill value. After a fault target
// is unchanged.
//
//go:norace
func (s *tensorSource) read(p *tensormap.Segment, target []byte) *mem.Fault {
	if !p.Inside {
		for n := 0; n < len(target); {
			n += copy(target[n:], s.fill)
		}
		return nil
	}
	b, fault := s.memory.bytes(p)
	if fault == nil {
		copy(target, b)
	}
	return fault
}

// segmentHasPattern reports whether a segment of a tensor has the pattern that a copy searches for. It compares the first
// copied element in each 16 bytes of global memory.
func segmentHasPattern(v code.PatternCheck, p *tensormap.Segment, b []byte) bool {
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

// keepEffectData stores the data read by an effect in the effect.
func keepEffectData(e *machine.AsyncEffect, data []byte) {
	if e.Data = data; !e.Done {
		chargeEffect(e, uint64(len(data)))
	}
}

// writeTensor writes the data that readTensor has read.
//
//go:norace
func writeTensor(e *machine.AsyncEffect) (err error) {
	m, t, data := e.Tensor.Map, e.Tensor, e.Data
	e.Data = nil
	if !t.Copy.Store {
		to, err := tensorBox(e, m)
		if err != nil {
			return err
		}
		m.Walk(&t.Copy, sharedAddressOf(e), func(p tensormap.Segment) bool {
			copy(to[p.Shared-sharedAddressOf(e):], data[:p.Bytes])
			data = data[p.Bytes:]
			return true
		})
		return nil
	}
	var reduction code.Reduction
	if e.Op.Reduces {
		reduction = code.ReductionOn(t.Reduce, reductions[m.Type].typ, ptx.Global)
	}
	r := sharedView(e.CTA, probe.AccessStore)
	m.Walk(&t.Copy, sharedAddressOf(e), func(p tensormap.Segment) bool {
		if p.Inside {
			to, fault := r.bytes(&p)
			switch {
			case fault != nil:
				err = tensorFaultTrap(e, fault, p.Global, p.Bytes)
				return false
			case e.Op.Reduces:
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

// zeroFill is the fill value without NaN.
var zeroFill [256]byte

// fillOf returns the bytes of the fill value of elements outside a tensor. The NaN of half precision is the NaN of fma.oob.
// No source documents the NaN of other types.
func fillOf(m *tensormap.Map) []byte {
	if !m.NaN {
		return zeroFill[:]
	}
	switch m.Type {
	case tensormap.F16, tensormap.BF16:
		return []byte{0xf7, 0x7f}
	case tensormap.F64:
		return binary.LittleEndian.AppendUint64(nil, 0x7ff8<<48)
	}
	return binary.LittleEndian.AppendUint32(nil, math.Float32bits(fp.Canon32(float32(math.NaN()))))
}

// convert converts data from global memory to elements, for the types that differ in memory: an .f32.ftz has no subnormal
// numbers, and a .tf32 is an .f32 rounded to nearest (manual 5.5.1).
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

// pack6 packs the low six bits of 16 bytes.
func pack6(b *[16]byte) []byte {
	out := make([]byte, 0, 12)
	for i := 0; i < len(b); i += 4 {
		v := uint32(b[i]&63) | uint32(b[i+1]&63)<<6 | uint32(b[i+2]&63)<<12 | uint32(b[i+3]&63)<<18
		out = append(out, byte(v), byte(v>>8), byte(v>>16))
	}
	return out
}
