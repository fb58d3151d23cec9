package trace

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"google.golang.org/protobuf/encoding/protowire"

	"gemu/affinetrack"
)

// TestVarints compares appendVarints with package protowire: numbers of every length in bits, alone and between others.
func TestVarints(t *testing.T) {
	var list []uint64
	for n := range 65 {
		low := uint64(1)<<n - 1 // n bits, all set
		list = append(list, low, low+1, low&0xa5a5_a5a5_a5a5_a5a5)
	}
	want := []byte{7}
	for i, v := range list {
		one := protowire.AppendVarint(nil, v)
		if got := appendVarints(nil, list[i:i+1]); !bytes.Equal(got, one) {
			t.Errorf("%#x: %x, want %x", v, got, one)
		}
		want = append(want, one...)
	}
	if got := appendVarints([]byte{7}, list); !bytes.Equal(got, want) {
		t.Errorf("the list: %x, want %x", got, want)
	}
}

// TestRecordsAreEncodedCanonically encodes random records, in which each field has a value at times. The field tables read them back, fields are in ascending order without
// zeros, and lengths and numbers take no more bytes than necessary, as the encoders of protocol buffers write them.
func TestRecordsAreEncodedCanonically(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	number := func() uint64 { return r.Uint64() >> r.IntN(64) * uint64(r.IntN(2)) }
	list := func() (l []uint64) {
		shift := r.IntN(64)
		for range []int{0, 1, 12, 13, 25, 32, 64}[r.IntN(7)] {
			l = append(l, r.Uint64()>>min(63, shift+r.IntN(9)))
		}
		return l
	}
	texts := []string{"", "", "%r1", "global", string(bytes.Repeat([]byte("x"), 200))}
	text := func() string { return texts[r.IntN(len(texts))] }
	value := func(bits uint64) Value {
		return Value{Name: text(), Bits: bits, Structure: Structure(r.IntN(4)), Base: number(), High: number(), Stride: int64(number()), List: list(), ListHigh: list()}
	}
	values := func(bits uint64) (l []Value) {
		for range r.IntN(3) {
			l = append(l, value(bits))
		}
		return l
	}
	code := &Code{Writes: []Register{{Name: "%r1", Bits: 32}, {Name: "%r1", Bits: 64}}}
	used := map[string]bool{}
	for range 3000 {
		x := &Record{Kind: Kind(r.IntN(int(kinds))), CTA: number(), Warp: number(), Seq: number(), Code: number(), Line: number(), Name: text(), Lanes: number(), Depth: number(), Results: values(32), Note: text()}
		if x.Active = x.Lanes; r.IntN(2) == 0 {
			x.Active = number() | 1
		}
		if r.IntN(4) == 0 {
			v := value(0)
			v.Name = ""
			x.Numbers = &v
		}
		for range r.IntN(3) {
			x.Accesses = append(x.Accesses, Access{Kind: AccessKind(r.IntN(4)), Space: text(), Bytes: number(), Lanes: number(), Addr: value(0), Store: values(0), Compare: values(0), Data: bytes.Repeat([]byte{3}, r.IntN(300))})
		}
		noteUsed(used, x)
		from := code
		if r.IntN(2) == 0 {
			from = nil
		} else {
			x.Line, x.Name = 0, ""
		}
		b := encodeRecord([]byte{7}, x, from)
		content, n := protowire.ConsumeBytes(b[1:])
		if b[0] != 7 || n != len(b)-1 {
			t.Fatalf("%+v: the length of the entry is wrong: %x", x, b)
		}
		checkCanonical(t, content, "Entry")
		e, err := protobuf{}.parse(content)
		if err != nil {
			t.Fatal(err)
		}
		got := e.(*Record)
		if x.Active == x.Lanes { // omitted, and set by the reader
			x.Active = 0
		}
		for i := range got.Results {
			if v := &got.Results[i]; v.Name == "" && v.Bits == 0 && from != nil {
				v.Name, v.Bits = code.Writes[i].Name, code.Writes[i].Bits
			}
		}
		if reflect.DeepEqual(x, got) {
			continue
		}
		if d := cmp.Diff(x, got, cmpopts.IgnoreUnexported(Record{}), cmpopts.EquateEmpty()); d != "" {
			t.Fatalf("(-record +read):\n%s", d)
		}
	}
	for name, isUsed := range used {
		if !isUsed {
			t.Errorf("no record has a value in %s", name)
		}
	}
}

// noteUsed adds the exported fields of a record, and of the values and accesses in it, to used: true for a field that is not zero.
func noteUsed(used map[string]bool, x *Record) {
	note := func(x any) {
		v := reflect.ValueOf(x)
		for _, f := range reflect.VisibleFields(v.Type()) {
			if name := v.Type().Name() + "." + f.Name; f.IsExported() {
				used[name] = used[name] || !v.FieldByIndex(f.Index).IsZero()
			}
		}
	}
	note(*x)
	for _, v := range x.Results {
		note(v)
	}
	for _, a := range x.Accesses {
		note(a)
	}
}

// messageFields has the type of each field with a message, by message and field.
var messageFields = map[string]map[protowire.Number]string{
	"Entry": {5: "Record"}, "Record": {10: "Value", 12: "Value", 13: "Access"}, "Access": {5: "Value", 6: "Value", 7: "Value"},
}

// checkCanonical checks the encoding of a message and of the messages in it.
func checkCanonical(t *testing.T, b []byte, message string) {
	t.Helper()
	last := protowire.Number(0)
	for len(b) > 0 {
		number, wire, n := protowire.ConsumeTag(b)
		if n < 0 || number < last {
			t.Fatalf("%s: field %d after field %d in %x", message, number, last, b)
		}
		last, b = number, b[n:]
		m := protowire.ConsumeFieldValue(number, wire, b)
		if m < 0 {
			t.Fatalf("%s: field %d is broken: %x", message, number, b)
		}
		var again []byte
		switch wire {
		case protowire.VarintType:
			v, _ := protowire.ConsumeVarint(b)
			if again = protowire.AppendVarint(nil, v); v == 0 {
				t.Fatalf("%s: field %d is 0", message, number)
			}
		case protowire.BytesType:
			content, _ := protowire.ConsumeBytes(b)
			again = protowire.AppendBytes(nil, content)
			if inner := messageFields[message][number]; inner != "" {
				checkCanonical(t, content, inner)
			} else if len(content) == 0 {
				t.Fatalf("%s: field %d is empty", message, number)
			}
		default:
			again = b[:m]
		}
		if !bytes.Equal(again, b[:m]) {
			t.Fatalf("%s: field %d is %x, want %x", message, number, b[:m], again)
		}
		b = b[m:]
	}
}

// TestRunsAreDescribedAsByAffinetrack compares the description of neighbouring lanes with affinetrack.Describe, for values that
// are affine in all lanes, or in all lanes but one.
func TestRunsAreDescribedAsByAffinetrack(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	var affine, generic int
	for range 5000 {
		n := []uint64{8, 16, 32, 64}[r.IntN(4)]
		first := r.IntN(31)
		lanes := (uint64(1)<<(2+r.IntN(31-first)) - 1) << first
		base, stride := r.Uint64(), r.Uint64()>>r.IntN(64)
		list := make([]uint64, 64)
		for i := range list {
			list[i] = width(base+uint64(i)*stride, n)
		}
		if r.IntN(3) == 0 {
			list[r.IntN(32)] ^= 1
		}
		want, compact := affinetrack.Describe(uint32(lanes), int(n), func(i int) uint64 { return list[i] })
		got, ok := describedRun(lanes, int(n), list)
		if got != want || ok != compact {
			t.Fatalf("%d bits, lanes %#x of %#x: %+v %t, want %+v %t", n, lanes, list[:32], got, ok, want, compact)
		}
		if ok {
			affine++
		} else {
			generic++
		}
	}
	if affine < 1000 || generic < 300 {
		t.Errorf("%d values are affine, %d generic", affine, generic)
	}
}
