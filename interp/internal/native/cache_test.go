package native

import (
	"reflect"
	"slices"
	"sync"
	"testing"
	"unsafe"

	"gemu/interp/internal/code"
	"gemu/interp/internal/matrix"
	"gemu/interp/internal/mem"
	"gemu/probe"
	"gemu/ptx"
	"gemu/regfile"
)

// fields calls f for each field that a struct has, and the structs in it, with its name. Of pointers and lists there are
// none.
func fields(v reflect.Value, name string, f func(name string, field reflect.Value)) {
	for i := range v.NumField() {
		field, name := v.Field(i), name+"."+v.Type().Field(i).Name
		switch field.Kind() {
		case reflect.Struct:
			fields(field, name, f)
		case reflect.Pointer, reflect.Slice:
		default:
			f(name, field)
		}
	}
}

// TestChecksumOfPrograms checks that the cache distinguishes programs: the checksum changes with every field that machine code may
// depend on. A new field must be part of the checksum, or be listed here as one that machine code does not depend on.
func TestChecksumOfPrograms(t *testing.T) {
	unread := []string{
		"Instr.Src", "Block.Index", "Block.Func", "Block.MayWait", "Block.Order", "Access.SingleLane", "Access.SpareBytes", "Atom.Shared", "Barrier.Aligned", "Barrier.Neg",
	}
	at := &mem.Allocation{Allocation: probe.Allocation{Base: probe.FirstAddress, Size: 4096, Data: make([]byte, 4096)}}
	elems := func() []code.Elem { return []code.Elem{{Slot: code.R, Row: 1}, {Slot: code.Q, Row: 2}} }
	p := &code.Program{Instrs: make([]code.Instr, 2), Blocks: []code.Block{{Sources: code.Range{End: 4}}}}
	access := func(a code.Access) { p.Access = append(p.Access, a) }
	access(code.Access{Space: ptx.Global, Addr: code.Q, Offset: 8, Size: 4, Bytes: 8, Elems: elems(), Atom: &code.Atom{B: elems(), C: elems()}})
	access(code.Access{Space: ptx.Global, Offset: at.Base + 8, Size: 4, Bytes: 4, Fixed: at, Elems: elems()})
	p.Barriers = make([]code.BarrierOp, 1)
	multiply := (&matrix.Mma{SM: 80, M: 16, N: 8, K: 16, D: ptx.F32, A: ptx.F16, B: ptx.F16, C: ptx.F32}).Multiply()
	p.Fragments = []code.Fragments{{Multiply: multiply, D: elems(), A: elems(), B: elems(), C: elems(), E: elems()}}
	instr, ref := p.Instrs[0], p.Instrs[1]
	pair := func() []Pair { return []Pair{{code.Row{Slot: code.R, Row: 1}, code.Row{Slot: code.R, Row: 3}}} }
	s := &Step{Instr: &instr, Ref: &ref, Reads: pair(), Writes: pair(), ComparedFirst: pair(), Copied: pair(), UniformResults: pair()}
	sum := func() [32]byte {
		d := new(digest)
		d.addProgram(p)
		d.addStep(s)
		return d.sum()
	}
	was, seen := sum(), map[string]bool{}
	changes := func(name string, field reflect.Value, v reflect.Value) {
		old := reflect.New(field.Type()).Elem()
		old.Set(field)
		field.Set(v)
		if same := sum() == was; same != slices.Contains(unread, name) {
			t.Errorf("%s is another: the sum is the same: %v", name, same)
		}
		field.Set(old)
		seen[name] = true
	}
	each := func(name string, of any) {
		fields(reflect.ValueOf(of).Elem(), name, func(name string, field reflect.Value) {
			v := reflect.New(field.Type()).Elem()
			switch field.Kind() {
			case reflect.Bool:
				v.SetBool(!field.Bool())
			case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
				v.SetInt(field.Int() + 1)
			case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
				v.SetUint(field.Uint() + 1)
			default:
				t.Fatalf("%s is a %v", name, field.Kind())
			}
			changes(name, field, v)
		})
	}
	a, fixed := &p.Access[0], &p.Access[1]
	each("Instr", &p.Instrs[0])
	each("Instr", &p.Instrs[1])
	p.Instrs[0].Op = code.AsyncCopy // the only instruction whose code contains its place in the text
	before := sum()
	if p.Instrs[0].Src++; sum() == before {
		t.Error("cp.async at another place in the text: the sum is the same")
	}
	p.Instrs[0] = code.Instr{}
	each("Block", &p.Blocks[0])
	each("Barrier", &p.Barriers[0])
	each("Access", a)
	each("Access", fixed)
	each("Atom", a.Atom)
	for _, list := range [][]code.Elem{a.Elems, fixed.Elems, a.Atom.B, a.Atom.C} {
		for i := range list {
			each("Access.Elem", &list[i])
		}
	}
	each("Step", s)
	each("Instr", s.Instr)
	each("Instr", s.Ref)
	for _, pairs := range [][]Pair{s.Reads, s.Writes, s.ComparedFirst, s.Copied, s.UniformResults} {
		each("Pair", &pairs[0])
	}
	set := func(name string, field, v any) { changes(name, reflect.ValueOf(field).Elem(), reflect.ValueOf(v)) }
	// The base of an allocation does not matter, but the alignment of an offset in it does.
	other := &mem.Allocation{Allocation: probe.Allocation{Base: at.Base + 16, Size: at.Size, Data: at.Data}}
	for offset, want := range map[uint64]bool{0: true, 1: false} {
		other.Base = at.Base + 16 + offset
		fixed.Fixed, fixed.Offset = other, other.Base+8
		if same := sum() == was; same != want {
			t.Errorf("with an allocation %d bytes on the sum is the same: %v", other.Base-at.Base, same)
		}
	}
	fixed.Fixed, fixed.Offset = at, at.Base+8
	set("Instrs", &p.Instrs, append(p.Instrs[:2:2], code.Instr{}))
	set("Blocks", &p.Blocks, append(p.Blocks[:1:1], code.Block{}))
	set("Barriers", &p.Barriers, []code.BarrierOp(nil))
	set("Access", &p.Access, p.Access[:1])
	set("Access.Elems", &a.Elems, a.Elems[:1])
	set("Access.Fixed", &fixed.Fixed, (*mem.Allocation)(nil))
	set("Access.Move", &a.Strided, new(mem.Strided))
	set("Access.Atom", &a.Atom, (*code.Atom)(nil))
	set("Access.Tile", &a.Tile, new(matrix.Tile))
	set("Fragments", &p.Fragments, append(p.Fragments, p.Fragments[0]))
	frags := &p.Fragments[0]
	for _, list := range []*[]code.Elem{&frags.D, &frags.A, &frags.B, &frags.C} {
		for i := range *list {
			each("Fragments.Elem", &(*list)[i])
		}
	}
	of := func(m matrix.Mma) *matrix.Multiply { return m.Multiply() }
	for _, other := range []matrix.Mma{
		{SM: 90, M: 16, N: 8, K: 16, D: ptx.F32, A: ptx.F16, B: ptx.F16, C: ptx.F32}, {SM: 80, M: 16, N: 8, K: 8, D: ptx.F32, A: ptx.F16, B: ptx.F16, C: ptx.F32},
		{SM: 80, M: 16, N: 8, K: 16, D: ptx.F32, A: ptx.BF16, B: ptx.BF16, C: ptx.F32}, {SM: 80, M: 16, N: 8, K: 16, D: ptx.F16, A: ptx.F16, B: ptx.F16, C: ptx.F16},
	} {
		set("Fragments.Multiply", &frags.Multiply, of(other))
	}
	narrow := func(sm int, a, b, sum ptx.Type) *matrix.Multiply {
		return of(matrix.Mma{SM: sm, M: 16, N: 8, K: 32, D: sum, A: a, B: b, C: sum})
	}
	integers := func(saturate bool) *matrix.Multiply {
		m := narrow(80, ptx.S8, ptx.S8, ptx.S32)
		m.Saturate = saturate
		return m
	}
	wmma := func(m, n int) *matrix.Multiply {
		return (&matrix.Wmma{SM: 80, M: m, N: n, K: 16}).Multiply(ptx.F32, ptx.F16, ptx.F16, ptx.F32)
	}
	for _, others := range [][2]*matrix.Multiply{
		{narrow(89, ptx.E4M3, ptx.E4M3, ptx.F32), narrow(90, ptx.E4M3, ptx.E4M3, ptx.F32)}, {narrow(89, ptx.E4M3, ptx.E4M3, ptx.F32), narrow(89, ptx.E4M3, ptx.E5M2, ptx.F32)},
		{narrow(89, ptx.E4M3, ptx.E4M3, ptx.F32), narrow(89, ptx.E4M3, ptx.E4M3, ptx.F16)}, {integers(false), integers(true)}, {wmma(16, 16), wmma(32, 8)}, {wmma(8, 32), wmma(32, 8)},
	} {
		frags.Multiply = others[0]
		first := sum()
		frags.Multiply = others[1]
		if sum() == first {
			t.Errorf("%+v and %+v have the same sum", others[0], others[1])
		}
	}
	frags.Multiply = multiply
	set("Atom.C", &a.Atom.C, []code.Elem(nil))
	set("Step.In", &s.Instr, (*code.Instr)(nil))
	set("Step.Reads", &s.Reads, []Pair(nil))
	set("Step.Reads of two", &s.Reads, append(s.Reads, s.Reads[0]))
	p.Consts.Add32(0)
	if sum() == was {
		t.Error("one constant more: the sum is the same")
	}
	for _, name := range unread {
		if !seen[name] {
			t.Errorf("there is no %s", name)
		}
	}

	// The address of an allocation does not matter.
	was = sum()
	moved := *at
	moved.Base += 1 << 20
	fixed.Fixed, fixed.Offset = &moved, fixed.Offset+1<<20
	if sum() != was {
		t.Error("an allocation is elsewhere: the sum is another")
	}
}

// TestChecksumInCheckMode is TestChecksumOfPrograms for check mode, whose code also depends on the accesses of the reference.
func TestChecksumInCheckMode(t *testing.T) {
	load := code.LoadOp(4, false, code.Q, code.R)
	program := func(row int32) *code.Program {
		p := &code.Program{
			Width: regfile.Lanes, Instrs: []code.Instr{{Op: load, A: 1, D: code.NoRow, F: code.NoRow}, {Op: code.Exit}}, Blocks: []code.Block{{Last: 1}},
			Tables: code.Tables{Access: []code.Access{{Space: ptx.Shared, Addr: code.Q, Size: 4, Bytes: 4, Elems: []code.Elem{{Slot: code.R, Row: row}}}}},
		}
		p.Consts.Layout()
		p.Link()
		return p
	}
	sum := func(row int32) [32]byte {
		p, ref := program(0), program(row)
		steps := [][]Step{{{Instr: &p.Instrs[0], Ref: &ref.Instrs[0], Exec: Memory}, {IsEnd: true, Ref: &ref.Instrs[1]}}}
		return NewCheck(New(p), ref, regfile.Size{R: 3, Q: 3}, steps, Counts{}).checkBodies.contentSum()
	}
	one, same, other := sum(1), sum(1), sum(2)
	if one != same || one == other {
		t.Errorf("of one reference, the same, and another the sums are %x, %x and %x", one, same, other)
	}
}

// TestCacheOfBodies checks that equal programs are assembled once, also by concurrent callers, that different programs are assembled
// separately, and that the least recently used body is dropped when the cache is full.
func TestCacheOfBodies(t *testing.T) {
	if !Supported() {
		t.Skip("this host executes no machine code of ours")
	}
	program := func(reg int32) *code.Program {
		p := &code.Program{Width: regfile.Lanes, Instrs: []code.Instr{{Op: code.Activemask, D: reg, F: code.NoRow}, {Op: code.Exit}}, Blocks: []code.Block{{Last: 1}}}
		p.Consts.Layout()
		p.Link()
		return p
	}
	l := HostLevel().Library()
	made := func(reg int32, mask uint32) *body { return l.New(program(reg)).bodyFor(&Context{Mask: mask}) }
	one := made(0, regfile.Full)
	if made(0, regfile.Full) == one {
		t.Error("a library that has no room keeps code")
	}
	if one.text.memory == nil {
		t.Skip("this host gives no memory for machine code")
	}
	l.cache.capacity = 7 * one.size() / 2
	bodies := make([]*body, 8)
	var all sync.WaitGroup
	for i := range bodies {
		all.Go(func() { bodies[i] = made(0, regfile.Full) })
	}
	all.Wait()
	first := made(0, regfile.Full)
	if first != made(0, regfile.Full) || !slices.Contains(bodies, first) {
		t.Error("code that is kept is made again")
	}
	if made(0, 1) == first || made(1, regfile.Full) == first {
		t.Error("other code is the same")
	}
	made(0, regfile.Full)
	made(2, regfile.Full) // the fourth body: the oldest is dropped
	if l.cache.used > l.cache.capacity || len(l.cache.byContent) != 3 || l.cache.lru.Len() != 3 {
		t.Errorf("it has %d bytes of %d, in %d of %d", l.cache.used, l.cache.capacity, len(l.cache.byContent), l.cache.lru.Len())
	}
	if made(0, regfile.Full) != first {
		t.Error("what was wanted last has gone")
	}
	if l.ClearCache(); made(0, regfile.Full) == first || l.cache.used != one.size() {
		t.Error("what is forgotten is kept")
	}
	l.cache.capacity = 1
	if made(5, regfile.Full); len(l.cache.byContent) != 1 {
		t.Error("code is kept that there is no room for")
	}
}

// TestCacheSize checks that a body takes its size in bytes, and that one body may fill the cache.
func TestCacheSize(t *testing.T) {
	b := &body{
		text: &text{memory: make([]byte, 7)}, blocks: make([]int32, 1), afterCaution: make([]int32, 2), instrs: make([]int32, 4),
		steps: make([]int32, 8), ends: make([]int32, 16), addresses: make([]uintptr, 32),
	}
	size := 7 + int(unsafe.Sizeof(b.blocks[0]))*(1+2+4+8+16) + int(unsafe.Sizeof(b.addresses[0]))*32
	for room, kept := range map[int]bool{size - 1: false, size: true, size + 1: true, 2*size - 1: true} {
		k := bodyCache{capacity: room}
		k.add(content{masked: true}, &body{text: &text{}})
		k.add(content{}, b)
		if kept {
			k.add(content{}, &body{text: &text{}}) // cached already
		}
		if found := k.get(content{}); (found == b) != kept || !kept && found != nil {
			t.Errorf("of %d bytes %v is kept where there is room for %d", size, found, room)
		}
		if !kept && k.get(content{masked: true}) == nil {
			t.Errorf("what has been kept goes for %d bytes that there is no room for in %d", size, room)
		}
		if kept && k.used != size {
			t.Errorf("it takes %d bytes, want %d", k.used, size)
		}
	}
	k := bodyCache{capacity: 2*size - 1}
	k.add(content{}, b)
	k.add(content{masked: true}, b)
	if k.get(content{}) != nil || k.get(content{masked: true}) != b || k.used != size {
		t.Errorf("two of %d bytes are kept in %d: they take %d", size, k.capacity, k.used)
	}
}
