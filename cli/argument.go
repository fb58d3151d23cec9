package cli

// This file makes kernel arguments and module variables of what the command line
// says.

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"gemu/internal/hostmem"
	"gemu/internal/tensormap"
	"gemu/interp"
	"gemu/ptx"
)

// signature lists a kernel's parameters, for messages.
func signature(k *ptx.Func) string {
	if len(k.Params) == 0 {
		return ""
	}
	var p []string
	for i, v := range k.Params {
		s := fmt.Sprintf("%d: %s %s", i, v.Type, v.Name)
		if len(v.Dims) > 0 {
			s += fmt.Sprintf("[%d]", v.Size()/v.ElemSize())
		}
		p = append(p, s)
	}
	return "\n   " + strings.Join(p, "\n   ")
}

// argument makes the value of one argument, and the buffer behind it if it has
// one.
func argument(ctx context.Context, m *interp.Module, p *ptx.Var, i int, text string, bindings map[string]*binding) (any, *binding, error) {
	if ref, ok := strings.CutPrefix(text, "&"); ok {
		n, err := strconv.Atoi(ref)
		if err != nil || n < 0 || n >= i {
			return nil, nil, fmt.Errorf("& wants the number of an argument before this one")
		}
		b := bindings[ref]
		if b == nil {
			return nil, nil, fmt.Errorf("argument %d is no buffer", n)
		}
		return b.value(), b, nil
	}
	if interp.IsObjectText(text) {
		if p.Size() != 8 || p.Type.IsFloat() || len(p.Dims) > 0 {
			return nil, nil, fmt.Errorf("a handle does not fit in this parameter")
		}
		b, err := makeObject(ctx, m, fmt.Sprintf("of argument %d", i), text, interp.DefaultSampler, false)
		if err != nil {
			return nil, nil, err
		}
		if p.Type.Kind() == ptx.Opaque && p.Type != b.object.Type() {
			return nil, nil, fmt.Errorf("a %s for a %s", b.object.Type(), p.Type)
		}
		return b.object, b, nil
	}
	if p.Type.Kind() == ptx.Opaque {
		return nil, nil, fmt.Errorf("want tex.GEOMETRY(…), surf.GEOMETRY(…) or sampler(…)")
	}
	if strings.HasPrefix(text, "tma(") {
		return tensorMap(ctx, m, p, i, text, bindings)
	}
	if digits, ok := strings.CutPrefix(text, "bytes:"); ok {
		b, err := hex.DecodeString(digits)
		if err != nil {
			return nil, nil, errors.New("bytes: wants two hexadecimal digits for each byte")
		}
		if len(b) != p.Size() {
			return nil, nil, fmt.Errorf("%d bytes for a parameter of %d", len(b), p.Size())
		}
		return b, nil, nil
	}
	if strings.HasPrefix(text, "@") || strings.Contains(text, "[") {
		if p.Type.Bits() < m.AddressSize || p.Type.IsFloat() || len(p.Dims) > 0 {
			return nil, nil, fmt.Errorf("the address of a buffer does not fit in this parameter")
		}
		b, err := bufferOf(ctx, m, i, text)
		if err != nil {
			return nil, nil, err
		}
		return b.buf, b, nil
	}
	if len(p.Dims) > 0 || p.Vec > 1 {
		return nil, nil, fmt.Errorf("an aggregate of %d bytes is written bytes:HEX", p.Size())
	}
	bits, err := parseNumber(text, numberType(p.Type, text))
	if err != nil {
		return nil, nil, err
	}
	b := make([]byte, p.Size())
	for j := range b {
		b[j] = byte(bits >> (8 * j))
	}
	return b, nil, nil
}

// bufferOf makes the buffer of an argument, of an array.
func bufferOf(ctx context.Context, m *interp.Module, i int, text string) (*binding, error) {
	var buf *interp.Buffer
	allocate := func(n uint64) (_ []byte, err error) {
		if buf, err = m.Device().AllocNamed(fmt.Sprintf("of argument %d", i), int(n)); err != nil {
			return nil, err
		}
		return buf.Bytes(), nil
	}
	if !strings.HasPrefix(text, "@") && strings.Contains(text, "[") { // it is made where it is wanted
		arr, err := makeArray(text, allocate)
		if err != nil {
			return nil, err
		}
		m.Device().HostWrite(buf.Addr(), buf.Size(), nil)
		return &binding{buf: buf, arr: arr}, nil
	}
	arr, err := arrayOf(ctx, text)
	if err != nil {
		return nil, err
	}
	if _, err := allocate(uint64(len(arr.data))); err != nil {
		return nil, err
	}
	buf.Write(0, arr.data)
	arr.data = buf.Bytes()
	return &binding{buf: buf, arr: arr}, nil
}

// tensorMap makes a tensor map over the buffer of another argument, or over one of its own,
// which is the argument's then: what the tensor is like may be left out in that case.
func tensorMap(ctx context.Context, m *interp.Module, p *ptx.Var, i int, text string, bindings map[string]*binding) (any, *binding, error) {
	of, rest, ok := tensormap.Cut(text)
	if !ok {
		return nil, nil, fmt.Errorf("want %s", tensormap.Notation)
	}
	if p.Size() != tensormap.Size {
		return nil, nil, fmt.Errorf("a tensor map has %d bytes, the parameter %d", tensormap.Size, p.Size())
	}
	b, own := bindings[of], (*binding)(nil)
	switch _, err := strconv.Atoi(of); {
	case err == nil && b == nil:
		return nil, nil, fmt.Errorf("argument %s is no buffer", of)
	case err != nil:
		if b, err = bufferOf(ctx, m, i, of); err != nil {
			return nil, nil, err
		}
		if own = b; !strings.Contains(strings.SplitN(rest, ",", 2)[0], "[") {
			rest = tensorOf(b.arr) + "," + rest
		}
	}
	data, err := b.buf.TensorMap(rest)
	return data, own, err
}

// tensorOf is an array as a tensor map has it, which knows no signed integers of 8 and 16 bits.
func tensorOf(a *array) string {
	name := a.typ.String()[1:]
	if a.typ == ptx.S8 || a.typ == ptx.S16 {
		name = "u" + name[1:]
	}
	var shape []string
	for _, n := range a.shape {
		shape = append(shape, strconv.Itoa(n))
	}
	return fmt.Sprintf("%s[%s]", name, strings.Join(shape, "x"))
}

// numberType is the type a number is read as: .bN parameters take integers, and
// floats where one is written.
func numberType(t ptx.Type, text string) ptx.Type {
	byBits := map[int][2]ptx.Type{8: {ptx.U8, ptx.U8}, 16: {ptx.U16, ptx.F16}, 32: {ptx.U32, ptx.F32}, 64: {ptx.U64, ptx.F64}}
	if t.Kind() != ptx.Bits {
		return t
	}
	pair := byBits[t.Bits()]
	if _, err := strconv.ParseInt(text, 0, 64); err == nil {
		return pair[0]
	}
	if _, err := strconv.ParseUint(text, 0, 64); err == nil {
		return pair[0]
	}
	return pair[1]
}

// arrayOf makes the array that an argument describes.
func arrayOf(ctx context.Context, text string) (*array, error) {
	if name, ok := strings.CutPrefix(text, "@"); ok {
		if name == "" {
			return nil, errors.New("@ wants the name of a file")
		}
		return readArray(ctx, name)
	}
	if strings.Contains(text, "[") {
		return makeArray(text, hostmem.Make)
	}
	return readArray(ctx, text)
}

// setVariable sets a module variable from NAME=ARG.
func setVariable(ctx context.Context, m *interp.Module, text string, bindings map[string]*binding) error {
	name, value, ok := strings.Cut(text, "=")
	if !ok {
		return errors.New("want NAME=ARG")
	}
	if v, ok := m.Lookup(name).(*ptx.Var); ok && v.Type.Kind() == ptx.Opaque {
		b, err := bindReference(ctx, m, name, value)
		if err == nil {
			bindings[name] = b
		}
		return err
	}
	b, err := variable(m, name)
	if err != nil {
		return err
	}
	if !strings.HasPrefix(value, "@") && !strings.Contains(value, "[") {
		bits, err := parseNumber(value, numberType(b.arr.typ, value))
		if err != nil {
			return err
		}
		one := array{typ: b.arr.typ, data: make([]byte, b.arr.typ.Size())}
		one.setBits(0, bits)
		hostmem.ZeroTouched(b.buf.Bytes()[copy(b.buf.Bytes(), one.data):])
		m.Device().HostWrite(b.buf.Addr(), b.buf.Size(), nil)
		return nil
	}
	arr, err := arrayOf(ctx, value)
	if err != nil {
		return err
	}
	if len(arr.data) > b.buf.Size() {
		return fmt.Errorf("%d bytes for a variable of %d", len(arr.data), b.buf.Size())
	}
	b.buf.Write(0, arr.data)
	bindings[name] = &binding{buf: b.buf, arr: &array{arr.typ, []int{b.buf.Size() / arr.typ.Size()}, nil}}
	return nil
}

// variable finds a module variable, typed as declared.
func variable(m *interp.Module, name string) (*binding, error) {
	if v, ok := m.Lookup(name).(*ptx.Var); ok && v.Type.Kind() == ptx.Opaque {
		return nil, fmt.Errorf("%s is a %s that --set binds to nothing", name, v.Type)
	}
	buf := m.Var(name)
	if buf == nil {
		return nil, fmt.Errorf("%s has no .global or .const variable %s", m.Name, name)
	}
	v := m.Lookup(name).(*ptx.Var)
	t := v.Type
	if t.Kind() == ptx.Bits {
		t = map[int]ptx.Type{1: ptx.U8, 2: ptx.U16, 4: ptx.U32}[t.Size()]
		if t == ptx.NoType {
			t = ptx.U64
		}
	}
	return &binding{buf: buf, arr: &array{typ: t, shape: []int{buf.Size() / t.Size()}}}, nil
}
