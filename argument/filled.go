package argument

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"gemu/internal/hostmem"
	"gemu/ptx"
)

// maxArray is the limit of an array in bytes, more than any device has.
const maxArray = 1 << 46

// Filled describes a new array whose elements follow a rule, such as f32[4x8]=rand:1.
type Filled struct {
	Type  ptx.Type // type of an element: see Array.Type
	Shape []int    // elements of each dimension, the slowest first
	Fill  Fill     // rule for the elements
}

// Fill is the rule for the elements of a new array.
type Fill struct {
	Kind FillKind // Zero, Iota, Constant or Random
	Bits uint64   // the element of Constant; the seed of Random
}

// FillKind is a kind of rule.
type FillKind uint8

// The kinds of rule.
const (
	Zero     FillKind = iota // every element is 0
	Iota                     // element i is i
	Constant                 // every element is the same number
	Random                   // integers uniform over their type, floats uniform from 0 to 1
)

// parseFilled parses TYPE[SHAPE], with or without a fill.
func parseFilled(text string) (Value, error) {
	name, after, _ := strings.Cut(text, "[")
	f := Filled{Type: elementTypes[name]}
	shape, fill, closed := strings.Cut(after, "]")
	if !closed || f.Type == ptx.NoType {
		return nil, errors.New("want TYPE[N]{=iota|=VALUE|=rand:SEED}, with TYPE one of u8 s8 u16 s16 f16 bf16 u32 s32 f32 u64 s64 f64")
	}
	var err error
	if f.Shape, err = parseShape(shape); err != nil {
		return nil, at(len(name)+len("["), err)
	}
	if err := checkSize(f.Type, f.Shape); err != nil {
		return nil, at(len(name)+len("["), err)
	}
	if f.Fill, err = parseFill(fill, f.Type); err != nil {
		return nil, at(len(text)-len(fill), err)
	}
	return f, nil
}

// parseShape parses decimal numbers of elements, separated by "x" or ",".
func parseShape(text string) (shape []int, err error) {
	if strings.HasPrefix(text, "0x") {
		return nil, fmt.Errorf("bad size %q: sizes are decimal", text)
	}
	for s := range strings.SplitSeq(strings.ReplaceAll(text, ",", "x"), "x") {
		n, err := strconv.Atoi(strings.TrimSpace(s))
		if err != nil || n < 0 {
			return nil, fmt.Errorf("bad size %q", text)
		}
		shape = append(shape, n)
	}
	return shape, nil
}

// checkSize returns an error if an array of the type and shape is larger than maxArray.
func checkSize(typ ptx.Type, shape []int) error {
	n := typ.Size()
	for _, d := range shape {
		if d > 0 && n > maxArray/d {
			return fmt.Errorf("the buffer is too large: at most %d bytes", maxArray)
		}
		n *= d
	}
	return nil
}

// parseFill parses "=iota", "=VALUE", "=rand:SEED" or "".
func parseFill(text string, typ ptx.Type) (Fill, error) {
	if text == "" {
		return Fill{}, nil
	}
	rule, ok := strings.CutPrefix(text, "=")
	if !ok {
		return Fill{}, fmt.Errorf("unexpected %q after the size", text)
	}
	if rule == "iota" {
		return Fill{Kind: Iota}, nil
	}
	if seed, ok := strings.CutPrefix(rule, "rand:"); ok {
		n, err := strconv.ParseUint(seed, 0, 64)
		if err != nil {
			return Fill{}, at(len("=rand:"), fmt.Errorf("bad seed %q", seed))
		}
		return Fill{Random, n}, nil
	}
	bits, err := Number(rule).Bits(typ)
	if err != nil {
		return Fill{}, at(len("="), err)
	}
	return Fill{Constant, bits}, nil
}

// size returns the size of the array in bytes.
func (f Filled) size() int {
	n := f.Type.Size()
	for _, d := range f.Shape {
		n *= d
	}
	return n
}

// Make makes the array in new memory of the host.
func (f Filled) Make() (*Array, error) {
	data, err := hostmem.Make(uint64(f.size()))
	if err != nil {
		return nil, err
	}
	return f.makeIn(data), nil
}

// makeIn makes the array in data, which must be zero.
func (f Filled) makeIn(data []byte) *Array {
	a := &Array{f.Type, f.Shape, data}
	a.fill(f.Fill)
	return a
}

// fill sets the elements of an array, which must be zero.
func (a *Array) fill(f Fill) {
	switch f.Kind {
	case Iota:
		for i := range a.Len() {
			if a.Type.IsFloat() {
				a.SetFloat(i, float64(i))
			} else {
				a.SetBits(i, uint64(i))
			}
		}
	case Constant:
		for i := range a.Len() {
			a.SetBits(i, f.Bits)
		}
	case Random:
		r := rand.New(rand.NewPCG(f.Bits, 0))
		for i := range a.Len() {
			if a.Type.IsFloat() {
				a.SetFloat(i, r.Float64())
			} else {
				a.SetBits(i, r.Uint64())
			}
		}
	}
}
