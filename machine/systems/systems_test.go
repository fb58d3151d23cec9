package systems

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gemu/internal/part"
	"gemu/machine"
	"gemu/machine/cache"
	"gemu/machine/dram"
	"gemu/machine/stream"
	"gemu/machine/xmem"
	"gemu/probe"
	"gemu/ptx"
)

// TestReadErrors: an error of a file names the line and says what to do.
func TestReadErrors(t *testing.T) {
	const locality = `{"schema": "gemu-descriptors/1", "locality": [
	{"buffer": "a", "type": "NO_REUSE", "regular": true, "priority": 1},
	`
	const atom = `{"schema": "gemu-descriptors/1",
	"atoms": [
	{"pattern": "REGULAR", "access": "READ_ONLY", `
	for _, c := range []struct{ text, want string }{
		{``, `f:1: the text ends too early`},
		{"[]", `f:1: want an object, from { on`},
		{`{"locality": []}`, `f:1: no schema: want "schema": "gemu-descriptors/1"`},
		{"{\n\"schema\": \"gemu-machine/1\"}", `f:2: schema "gemu-machine/1": want "gemu-descriptors/1"`},
		{"{\n\"schema\": \"gemu-descriptors/1\",\n\n\"tiles\": []}", `f:4: unknown field "tiles": want schema, locality or atoms`},
		{"{\"schema\": \"gemu-descriptors/1\",\n\"locality\": {}}", `f:2: want a list, from [ on`},
		{"{\"schema\": \"gemu-descriptors/1\"}\n{}", `f:2: text after the end of the object`},
		{locality + `{"buffer": "a", "type": "NONE"}]}`, `f:3: locality: type "NONE": want INTER_THREAD, INTRA_THREAD or NO_REUSE`},
		{locality + `{"buffer": "a", "type": "INTER_THREAD"}]}`, `f:3: locality: sharing "": want COACCESSED or NEARBY with type INTER_THREAD`},
		{locality + `{"buffer": "a", "type": "NO_REUSE", "sharing": "NEARBY"}]}`, `f:3: locality: sharing "NEARBY": want none with type NO_REUSE`},
		{locality + `{"buffer": "a", "type": "NO_REUSE", "ctile": [1, 0, 1]}]}`, `f:3: locality: ctile [1 0 1]: want three numbers from 1 on`},
		{locality + `{"buffer": "a", "type": "NO_REUSE", "ctile": [4294967296, 4294967296, 1]}]}`, `f:3: locality: ctile [4294967296 4294967296 1]: want three numbers whose product is at most 1099511627776`},
		{locality + `{"buffer": "a", "type": "NO_REUSE", "dtile": [1, 2, 9223372036854775807]}]}`, `f:3: locality: dtile [1 2 9223372036854775807]: want three numbers whose product is at most 1099511627776`},
		{locality + `{"buffer": "a", "type": "NO_REUSE", "element": 4611686018427387904, "dtile": [4, 1, 1]}]}`, `f:3: locality: element 4611686018427387904: want a number of bytes, at most 65536`},
		{locality + `{"buffer": "a", "type": "NO_REUSE", "map": [4, 0, 1]}]}`, `f:3: locality: map [4 0 1]: want three ranks from 0 to 3`},
		{locality + `{"buffer": "a", "type": "NO_REUSE", "map": [1, 2]}]}`, `f:3: locality: map: the value is a JSON list of 2 numbers: want a list of three numbers`},
		{locality + `{"buffer": "a", "type": "NO_REUSE", "dtile": [1, 1, 1, 1]}]}`, `f:3: locality: dtile: the value is a JSON list of 4 numbers: want a list of three numbers`},
		{locality + `{"buffer": "a", "type": "NO_REUSE", "grid": 1}]}`, `f:3: locality: grid: the value is a JSON number: want a list`},
		{locality + `{"buffer": "a", "type": "NO_REUSE", "tile": 1}]}`, `f:3: locality: json: unknown field "tile"`},
		{locality + `{"buffer": "a", "type": "NO_REUSE", "priority": "1"}]}`, `f:3: locality: priority: the value is a JSON string: want a number without fraction in the range of the field`},
		{locality + `{"buffer": 1, "type": "NO_REUSE"}]}`, `f:3: locality: buffer: the value is a JSON number: want a string`},
		{locality + `[1]]}`, `f:3: locality: the value is a JSON array: want an object`},
		{`{"schema": 1}`, `f:1: the value is a JSON number: want a string`},
		{locality + `{"buffer": "a" "type": "NO_REUSE"}]}`, `f:3: locality: invalid character '"' after object key:value pair`},
		{locality + `{"type": "NO_REUSE"}]}`, `f:3: locality: no data: want buffer (a name as in messages) or base (an address)`},
		{locality + `{"buffer": "a", "bytes": 4, "type": "NO_REUSE"}]}`, `f:3: locality: bytes without base: a buffer that is found by its name is described as a whole`},
		{locality + `{"base": 18446744073709551615, "bytes": 4, "type": "NO_REUSE"}]}`, `f:3: locality: bytes 4: the data end beyond the last address`},
		{locality + `{"buffer": "a"`, `f:3: the text ends too early`},
		{atom + `"map": []}]}`, `f:3: atoms: map: an atom needs data`},
		{atom + `"reuse": 256, "map": [{"buffer": "a"}]}]}`, `f:3: atoms: reuse 256 and intensity 0: want numbers from 0 to 255`},
		{atom + `"map": [{"buffer": "a"}, {"buffer": "b", "width": 8, "length": 4, "height": 2}]}]}`, `f:3: atoms: map[1]: 2 rows of 8 bytes, 4 bytes apart: want 1 to 1048576 rows that do not overlap`},
		{atom + `"map": [{"base": 4096, "bytes": 4096, "offset": 18446744073709551615}]}]}`, `f:3: atoms: map[0]: offset 18446744073709551615: the range ends beyond the last address`},
		{atom + `"map": [{"base": 18446744073709500000, "bytes": 8, "width": 8, "length": 65536, "height": 2}]}]}`, `f:3: atoms: map[0]: offset 0: the range ends beyond the last address`},
		{atom + `"map": [{"buffer": "a", "width": 1, "length": 1, "height": 1048576}, {"buffer": "b", "width": 1, "length": 1, "height": 1}]}]}`, `f:3: atoms: 1048577 rows with those of the atoms before it: want at most 1048576`},
		{atom + `"map": [{"buffer": "a", "height": 2}]}]}`, `f:3: atoms: map[0]: length or height without width: want the bytes of a row`},
	} {
		if _, err := Read("f", []byte(c.text)); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s:\n%v\nwant %s", c.text, err, c.want)
		}
	}
	f, err := Read("f", []byte(locality+`{"base": 4096, "type": "INTER_THREAD", "sharing": "COACCESSED", "ctile": [1, 4, 1]}], "atoms": []}`))
	if err != nil || len(f.Locality) != 2 || f.Locality[1].CTile != [3]int{1, 4, 1} || f.Locality[1].Base != 4096 {
		t.Errorf("%+v, %v", f, err)
	}
}

// TestConflict: two systems that replace the same part are refused; two that replace different parts are not.
func TestConflict(t *testing.T) {
	a, b, x := LocalityDescriptors("ldesc=a", nil), LocalityDescriptors("ldesc=b", nil), Atoms("xmem=a", nil)
	if _, err := machine.CombineParts([]*machine.System{a, x, b}); err == nil || err.Error() != "ldesc=a and ldesc=b both replace the dispatcher: leave one of them out" {
		t.Errorf("%v", err)
	}
	if p, err := machine.CombineParts([]*machine.System{a, x}); err != nil || p.Dispatcher == nil || p.L1 == nil || p.L2 == nil || p.Pages == nil {
		t.Errorf("%+v, %v", p, err)
	}
}

// runOf returns a launch of kernel k that accesses buffers of 1 MB from 1 MB, 2 MB, … on, with the names a to e.
func runOf(k string) *machine.Run {
	l := &stream.Launch{LaunchInfo: &probe.LaunchInfo{Kernel: &ptx.Func{Name: k}, Grid: ptx.Dim3{X: 8, Y: 4, Z: 1}}}
	for i := range 5 {
		l.Buffers = append(l.Buffers, bufferOf(i))
	}
	return &machine.Run{Launch: l, SMs: 4}
}

func bufferOf(i int) stream.Buffer {
	return stream.Buffer{Name: string(rune('a' + i)), Base: uint64(i+1) << 20, Bytes: 1 << 20}
}

// TestNames: a plus sign is between systems, or is a part of a value.
func TestNames(t *testing.T) {
	var names []string
	named := func(name string) Maker {
		return Maker{Name: name, New: func(value string) (*machine.System, error) {
			names = append(names, name+"="+value)
			return &machine.System{Name: name, New: func() machine.Parts { return machine.Parts{} }}, nil
		}}
	}
	more := []Maker{named("a"), named("b.c")}
	for text, want := range map[string][]string{
		"a":                        {"a="},
		"a+b.c=1":                  {"a=", "b.c=1"},
		"a=/c++/x+y.json":          {"a=/c++/x+y.json"},
		"a=c++/x=1+b.c=../+/z+a":   {"a=c++/x=1", "b.c=../+/z", "a="},
		`a=C:\+\x+b.c=x+.json+a=y`: {`a=C:\+\x`, "b.c=x+.json", "a=y"},
	} {
		names = nil
		if _, err := Find(text, more); err != nil || !slices.Equal(names, want) {
			t.Errorf("%s: %q, %v; want %q", text, names, err, want)
		}
	}
	for text, want := range map[string]string{"a=x+d=1": `unknown system "d"`, "+a": `unknown system ""`, "x.json+a": `unknown system "x.json"`} {
		if _, err := Find(text, more); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %s", text, err, want)
		}
	}
}

// TestLocalityParts: the descriptor with the greatest priority decides about the lines of a buffer (figure 17), and those of the kernel alone
// count.
func TestLocalityParts(t *testing.T) {
	list := []Locality{
		{Data: Data{Buffer: "a"}, Type: "INTRA_THREAD", Priority: 1},
		{Data: Data{Buffer: "a"}, Type: "NO_REUSE", Priority: 2},
		{Data: Data{Base: 2 << 20}, Type: "INTRA_THREAD"},
		{Data: Data{Base: 3<<20 + 128}, Type: "INTER_THREAD", Sharing: "COACCESSED"},
		{Data: Data{Buffer: "d"}, Type: "INTER_THREAD", Sharing: "COACCESSED", Regular: true, CTile: [3]int{1, 4, 1}},
		{Kernel: "other", Data: Data{Buffer: "e"}, Type: "NO_REUSE"},
		{Grid: [3]int{1, 1, 1}, Data: Data{Buffer: "e"}, Type: "NO_REUSE"},
	}
	p := LocalityDescriptors("x", list).New()
	r := runOf("k")
	p.Begin(r)
	// 32 tiles of one CTA, then (1,4,1) of 8 tiles: each of 4 multiprocessors has some.
	if d := p.Dispatcher(r); d == nil || d.Name != "cluster:1x4x1" {
		t.Errorf("dispatcher %v", d)
	}
	// The set has four ways. Buffer a bypasses; b is pinned hard, c softly, d and e are not pinned: they leave in the order e, d, c, b.
	lines := cache.New[int](cache.Shape{Sets: 1, Ways: 4}, func(s cache.Shape) cache.Policy { return p.L1(r, s) })
	access := func(buffer int, line uint64) (left uint64) {
		a := &cache.Access{Line: uint64(buffer+1)<<13 + line} // 1 MB has 1<<13 lines
		if lines.Access(a) == nil {
			lines.Insert(a, func(line uint64, _ *int) { left = line % (1 << 13) })
		}
		return left
	}
	for _, buffer := range []int{1, 2, 4, 3, 0} {
		access(buffer, uint64(10+buffer))
	}
	var order []uint64
	for i := range uint64(4) {
		order = append(order, access(1, 20+i))
	}
	if want := []uint64{14, 13, 12, 11}; !slices.Equal(order, want) { // 11 is in way 0
		t.Errorf("lines leave in the order %v, want %v", order, want)
	}
	q := runOf("other")
	p.Begin(q)
	other := p.L1(q, cache.Shape{Sets: 1, Ways: 1}).(cache.Admitter)
	if other.Admits(&cache.Access{Line: 5 << 13}) {
		t.Error("the descriptor of the other kernel has no effect")
	}
}

// TestAtoms: three quarters of an L2 of 4 KB, 3072 bytes, are for the atoms with the greatest reuse: all of b (2 KB), half of c, nothing of a. Atoms
// of other kernels are not kept.
func TestAtoms(t *testing.T) {
	list := []Atom{
		{Map: []Range{{Data: Data{Base: 1 << 20, Bytes: 2 << 10}}}, Reuse: 1},
		{Map: []Range{{Data: Data{Base: 2 << 20}, Width: 1 << 10, Length: 4 << 10, Height: 2}}, Reuse: 9},
		{Map: []Range{{Data: Data{Buffer: "c"}, Offset: 1<<20 - 2<<10}}, Reuse: 5},
		{Map: []Range{{Data: Data{Base: 4 << 20, Bytes: 1 << 10}}}, Reuse: 200, Kernels: []string{"other"}},
	}
	parts := Atoms("x", list).New()
	policy := parts.L2(cache.Shape{Sets: 8, Ways: 4})
	r := runOf("k")
	parts.Begin(r)
	kept := func(addr uint64) bool {
		policy.Fill(0, 0, &cache.Access{Line: addr / stream.LineBytes})
		return policy.(*cache.Reserved).Keeps(0, 0)
	}
	kept(3 << 20) // the first access to c maps it
	half := 0
	for i := range uint64(16) {
		if kept(4<<20 - 2<<10 + 128*i) {
			half++
		}
	}
	if kept(1<<20) || !kept(2<<20) || !kept(2<<20+4<<10+1023) || kept(2<<20+1<<10) || kept(4<<20) {
		t.Error("wrong atoms are kept")
	}
	if half < 4 || half > 12 { // of 16 lines by a hash
		t.Errorf("%d of 16 lines are kept, want about 8", half)
	}
	parts.Begin(runOf("other"))
	if !kept(4<<20) || !kept(2<<20) {
		t.Error("the active atoms of the other kernel are not kept")
	}
}

// TestReusedAddresses: a buffer at the addresses of a freed buffer of an atom is not of the atom, and the lines of the freed buffer leave.
func TestReusedAddresses(t *testing.T) {
	parts := Atoms("x", []Atom{{Map: []Range{{Data: Data{Buffer: "weights"}}}, Reuse: 1}}).New()
	policy := parts.L2(cache.Shape{Sets: 8, Ways: 4}).(*cache.Reserved)
	begin := func(name string) {
		r := runOf("k")
		r.Buffers = []stream.Buffer{{Name: name, Base: 1 << 20, Bytes: 1 << 10}}
		parts.Begin(r)
	}
	kept := func() bool {
		policy.Fill(0, 0, &cache.Access{Line: 1 << 20 / stream.LineBytes})
		return policy.Keeps(0, 0)
	}
	for range 2 {
		if begin("weights"); !kept() {
			t.Error("the buffer of the atom is not kept")
		}
		if begin("other"); policy.Keeps(0, 0) {
			t.Error("a line of the launch before is kept")
		}
		if kept() {
			t.Error("a buffer at the addresses of a freed one is kept")
		}
	}
}

// TestLargestTiles: the largest numbers that a file may have give a distance, or none, on a multiprocessor with any number of CTAs.
func TestLargestTiles(t *testing.T) {
	for _, c := range []struct {
		l  Locality
		l1 int
	}{
		{Locality{Element: maxElement, Stride: 1 << 62, DTile: [3]int{maxCount, 1, 1}, CTile: [3]int{1, 1, 1}}, 1 << 30},
		{Locality{Element: 128, Stride: 1<<60 + 1, DTile: [3]int{1, 1, 1}, CTile: [3]int{1, maxCount, 1}}, 1 << 10}, // 8 rows of 2⁶⁷ + 128 bytes
	} {
		l := c.l
		l.Data, l.Type, l.Sharing, l.Regular = Data{Base: 1 << 20}, "INTER_THREAD", "COACCESSED", true
		if err := l.check(); err != nil {
			t.Fatal(err)
		}
		r := runOf("k")
		p := LocalityDescriptors("x", []Locality{l}).New()
		p.Begin(r)
		if next, ok := p.Prefetch(r, c.l1, 64)(1 << 13); ok {
			t.Errorf("%+v: prefetch of line %d", l, next)
		}
		p.Dispatcher(r)
	}
}

// TestManyAtoms: the last of 256 atoms is kept, as is an atom of more units than fit in memory; an atom that is mapped later has its part
// of it.
func TestManyAtoms(t *testing.T) {
	list := make([]Atom, maxAtoms)
	for i := range list {
		list[i] = Atom{Map: []Range{{Data: Data{Base: 64<<20 + uint64(i)*512, Bytes: 512}}}}
	}
	list[0] = Atom{Map: []Range{{Data: Data{Base: 4096, Bytes: 1e15}}}}
	list[maxAtoms-1].Reuse = 1
	parts := Atoms("x", list).New()
	policy := parts.L2(cache.Shape{Sets: 8, Ways: 4})
	parts.Begin(runOf("k"))
	for i := range uint64(maxAtoms + 1) {
		addr := 64<<20 + i*512
		policy.Fill(0, 0, &cache.Access{Line: addr / stream.LineBytes})
		if got, want := policy.(*cache.Reserved).Keeps(0, 0), i == maxAtoms-1; got != want {
			t.Errorf("unit %d is kept: %t, want %t", i, got, want)
		}
	}
}

// TestSpans: random maps of ranges and rows have the atoms, and the sizes, of a table of units.
func TestSpans(t *testing.T) {
	rng := rand.New(rand.NewPCG(part.Seed(t), 5))
	const units = 64
	for range 200 {
		p := &atomParts{bytes: make([]uint64, 4), active: []bool{true, true, true, true}}
		want := [units + 1]int{}
		for i := range want {
			want[i] = -1
		}
		for range 8 {
			atom, width, height := rng.IntN(4), 1+rng.Uint64N(2000), 1+rng.Uint64N(4)
			length := width + rng.Uint64N(2000)
			ranges := xmem.Map2D(rng.Uint64N(16*512), length, width, height)
			p.add(atom, ranges)
			for _, u := range xmem.Fine.Units(ranges) {
				want[u] = atom
			}
		}
		sizes := make([]uint64, 4)
		for u, atom := range want {
			if atom >= 0 {
				sizes[atom] += 512
			}
			if got := p.of(uint64(u)*512 + 511); got != atom {
				t.Fatalf("unit %d is of atom %d, want %d: %+v", u, got, atom, p.spans)
			}
		}
		if !slices.Equal(sizes, p.bytes) {
			t.Fatalf("sizes %v, want %v", p.bytes, sizes)
		}
	}
}

// TestPages: pages of a regular atom have frames in banks of their own, in a map that keeps a page in a bank; the frames of another map do not
// change.
func TestPages(t *testing.T) {
	list := []Atom{
		{Map: []Range{{Data: Data{Base: 1 << 20, Bytes: 1 << 20}}}, Pattern: Regular, Stride: 4, Intensity: 100},
		{Map: []Range{{Data: Data{Buffer: "b"}}}, Pattern: Irregular},
		{Map: []Range{{Data: Data{Base: 3 << 20, Bytes: 1 << 20}}}, Pattern: Regular, Stride: 1 << 20},
	}
	for _, c := range []struct {
		name  string
		keeps bool
	}{{"scheme4", true}, {"scheme7", false}} {
		spec := dram.Default
		spec.Map = c.name
		spec.Policy = Atoms("x", list).New().Pages
		pages := dram.NewPages(spec)
		var of stream.Buffer
		pages.Structure = func(uint64) dram.Structure { return dram.Structure(of) }
		owners, same := map[[2]int]int{}, true
		for page := range uint64(256) {
			for buffer := range 3 {
				of = bufferOf(buffer)
				addr := of.Base + page*4096
				same = same && pages.Physical(addr) == addr
				p := pages.Place(addr)
				bank, owner := [2]int{p.Channel, p.Bank}, min(buffer, 1)
				if before, ok := owners[bank]; ok && before != owner && c.keeps {
					t.Fatalf("%s: bank %v has data of the atom and others", c.name, bank)
				}
				owners[bank] = owner
			}
		}
		if err := pages.Err(); err != nil || same == c.keeps {
			t.Errorf("%s: %v, all pages have their own frames: %t", c.name, err, same)
		}
	}
}
