package main

// This file makes kernel arguments and module variables of what the command line
// says.

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

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
func argument(m *interp.Module, p *ptx.Var, i int, text string, bindings map[string]*binding) (any, *binding, error) {
	if ref, ok := strings.CutPrefix(text, "&"); ok {
		n, err := strconv.Atoi(ref)
		if err != nil || n < 0 || n >= i {
			return nil, nil, fmt.Errorf("& wants the number of an argument before this one")
		}
		b := bindings[ref]
		if b == nil {
			return nil, nil, fmt.Errorf("argument %d is no buffer", n)
		}
		return b.buf, b, nil
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
		arr, err := arrayOf(text)
		if err != nil {
			return nil, nil, err
		}
		buf, err := m.Device().AllocNamed(fmt.Sprintf("of argument %d", i), len(arr.data))
		if err != nil {
			return nil, nil, err
		}
		buf.Write(0, arr.data)
		return buf, &binding{buf, arr}, nil
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
func arrayOf(text string) (*array, error) {
	if name, ok := strings.CutPrefix(text, "@"); ok {
		if name == "" {
			return nil, errors.New("@ wants the name of a file")
		}
		return readArray(name)
	}
	if strings.Contains(text, "[") {
		return makeArray(text)
	}
	return readArray(text)
}

// setVariable sets a module variable from NAME=ARG.
func setVariable(m *interp.Module, text string, bindings map[string]*binding) error {
	name, value, ok := strings.Cut(text, "=")
	if !ok {
		return errors.New("want NAME=ARG")
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
		b.arr.data = make([]byte, b.buf.Size())
		b.arr.setBits(0, bits)
		b.buf.Write(0, b.arr.data)
		return nil
	}
	arr, err := arrayOf(value)
	if err != nil {
		return err
	}
	if len(arr.data) > b.buf.Size() {
		return fmt.Errorf("%d bytes for a variable of %d", len(arr.data), b.buf.Size())
	}
	b.buf.Write(0, arr.data)
	bindings[name] = &binding{b.buf, &array{arr.typ, []int{b.buf.Size() / arr.typ.Size()}, nil}}
	return nil
}

// variable finds a module variable, typed as declared.
func variable(m *interp.Module, name string) (*binding, error) {
	buf := m.Var(name)
	if buf == nil {
		return nil, fmt.Errorf("%s has no .global or .const variable %s", m.Name, name)
	}
	v := m.Lookup(name).(*ptx.Var)
	t := v.Type
	if t.Kind() == ptx.Bits || t.Kind() == ptx.Opaque {
		t = map[int]ptx.Type{1: ptx.U8, 2: ptx.U16, 4: ptx.U32}[t.Size()]
		if t == ptx.NoType {
			t = ptx.U64
		}
	}
	return &binding{buf, &array{typ: t, shape: []int{buf.Size() / t.Size()}}}, nil
}
