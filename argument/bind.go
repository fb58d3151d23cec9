package argument

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"gemu/internal/hostmem"
	"gemu/internal/tensormap"
	"gemu/interp"
	"gemu/ptx"
)

// List contains the arguments of a launch, made on the device of the kernel's module. It is not safe for concurrent use.
type List struct {
	// Values are the arguments for interp.Launch.Args, in the order of the parameters.
	Values []any

	// Bindings are the memory and the samplers of the arguments, by the number of the argument ("0", "1", …), and of the
	// variables that Set has set to an array or bound to an object, by the variable's name.
	Bindings map[string]*Binding

	module *interp.Module
}

// Binding is the device memory of an argument or a variable, or a sampler.
type Binding struct {
	Buffer *interp.Buffer // nil for an Object
	Object *interp.Object // a texture, surface or sampler; nil for a Buffer
	Type   ptx.Type       // type of the elements; NoType for a sampler
	Shape  []int          // elements of each dimension, the slowest first; nil for a sampler
}

// Bytes returns the memory itself, not a copy; nil for a sampler. It must not be used while a launch runs.
func (b *Binding) Bytes() []byte {
	if b.Object != nil {
		return b.Object.Bytes()
	}
	return b.Buffer.Bytes()
}

// Array returns the present elements of the memory, without a copy. For a sampler the array is empty.
func (b *Binding) Array() *Array {
	if b.IsSampler() {
		return &Array{Type: ptx.U8, Shape: []int{0}}
	}
	return &Array{b.Type, b.Shape, b.Bytes()}
}

// IsSampler reports whether the binding is a sampler, which has no memory.
func (b *Binding) IsSampler() bool { return b.Type == ptx.NoType }

// value returns the binding as an element of List.Values.
func (b *Binding) value() any {
	if b.Object != nil {
		return b.Object
	}
	return b.Buffer
}

// Bind reads the arguments of a kernel, a text for each parameter, and makes them on the device of the module. Traps name
// the buffers "of argument 0" and so on. The end of ctx ends the reading of a pipe. The error is an *Error or a *CountError.
func Bind(ctx context.Context, m *interp.Module, kernel *ptx.Func, texts []string) (*List, error) {
	if len(texts) != len(kernel.Params) {
		return nil, &CountError{kernel, len(texts)}
	}
	l := &List{Values: make([]any, len(texts)), Bindings: map[string]*Binding{}, module: m}
	values := make([]Value, len(texts))
	fail := func(i int, err error) (*List, error) {
		e := locate(texts[i], err).(*Error)
		e.Index, e.Param = i, kernel.Params[i]
		return nil, e
	}
	for i, text := range texts {
		var err error
		if values[i], err = parse(text); err != nil {
			return fail(i, err)
		}
	}
	for _, tensorMaps := range []bool{false, true} { // tensor maps come last: they may be over buffers of later arguments
		for i, v := range values {
			if _, isMap := v.(TensorMap); isMap != tensorMaps {
				continue
			}
			value, binding, err := l.make(ctx, kernel.Params[i], i, v)
			if err != nil {
				return fail(i, err)
			}
			l.Values[i] = value
			if binding != nil {
				l.Bindings[strconv.Itoa(i)] = binding
			}
		}
	}
	return l, nil
}

// make makes the value of argument i and its binding, which is nil for an argument without memory.
func (l *List) make(ctx context.Context, p *ptx.Var, i int, v Value) (any, *Binding, error) {
	_, isReference := v.(Reference)
	_, isObject := v.(Object)
	if p.Type.Kind() == ptx.Opaque && !isReference && !isObject {
		return nil, nil, errWantObject
	}
	switch v := v.(type) {
	case Reference:
		return l.reference(i, v)
	case Object:
		return l.object(ctx, p, i, v)
	case TensorMap:
		return l.tensorMap(ctx, p, i, v)
	case Bytes:
		if len(v) != p.Size() {
			return nil, nil, fmt.Errorf("%d bytes given for a parameter of %d bytes", len(v), p.Size())
		}
		return []byte(v), nil, nil
	case Number:
		b, err := numberBytes(p, v)
		return b, nil, err
	}
	if p.Type.Bits() < l.module.AddressSize || p.Type.IsFloat() || len(p.Dims) > 0 {
		return nil, nil, errors.New("the address of a buffer does not fit in this parameter")
	}
	b, err := l.buffer(ctx, i, v)
	if err != nil {
		return nil, nil, err
	}
	return b.Buffer, b, nil
}

// reference returns the value and the binding of an earlier argument; i is the number of this argument.
func (l *List) reference(i int, r Reference) (any, *Binding, error) {
	if int(r) >= i {
		return nil, nil, errors.New("& must be followed by the number of an earlier argument")
	}
	b := l.Bindings[strconv.Itoa(int(r))]
	if b == nil {
		return nil, nil, fmt.Errorf("argument %d is not a buffer", r)
	}
	return b.value(), b, nil
}

// object makes a texture, surface or sampler as argument i.
func (l *List) object(ctx context.Context, p *ptx.Var, i int, o Object) (any, *Binding, error) {
	if p.Size() != 8 || p.Type.IsFloat() || len(p.Dims) > 0 {
		return nil, nil, errors.New("a handle does not fit in this parameter")
	}
	if p.Type.Kind() == ptx.Opaque && p.Type != o.Type {
		return nil, nil, fmt.Errorf("a %s is given for a parameter of type %s", o.Type, p.Type)
	}
	b, err := o.make(ctx, l.module, fmt.Sprintf("of argument %d", i))
	if err != nil {
		return nil, nil, err
	}
	return b.Object, b, nil
}

// numberBytes returns the bytes of a number in the memory of the parameter.
func numberBytes(p *ptx.Var, n Number) ([]byte, error) {
	if len(p.Dims) > 0 || p.Vec > 1 {
		return nil, fmt.Errorf("a parameter of %d bytes with several elements must be given as bytes:HEX", p.Size())
	}
	bits, err := n.Bits(p.Type)
	if err != nil {
		return nil, err
	}
	b := make([]byte, p.Size())
	for i := range b {
		b[i] = byte(bits >> (8 * i))
	}
	return b, nil
}

// buffer makes a buffer for argument i, with the elements of v, a Filled or a File.
func (l *List) buffer(ctx context.Context, i int, v Value) (*Binding, error) {
	d, name := l.module.Device(), fmt.Sprintf("of argument %d", i)
	if f, ok := v.(Filled); ok { // filled in place, without a copy
		buf, err := d.AllocNamed(name, f.size())
		if err != nil {
			return nil, err
		}
		f.makeIn(buf.Bytes())
		d.HostWrite(buf.Addr(), buf.Size(), nil)
		return &Binding{Buffer: buf, Type: f.Type, Shape: f.Shape}, nil
	}
	a, err := v.(File).Read(ctx)
	if err != nil {
		return nil, err
	}
	buf, err := d.AllocNamed(name, len(a.Data))
	if err != nil {
		return nil, err
	}
	buf.Write(0, a.Data)
	return &Binding{Buffer: buf, Type: a.Type, Shape: a.Shape}, nil
}

// tensorMap makes a tensor map over the buffer of another argument, or over a new buffer, which becomes the binding of
// argument i.
func (l *List) tensorMap(ctx context.Context, p *ptx.Var, i int, t TensorMap) (any, *Binding, error) {
	if p.Size() != tensormap.Size {
		return nil, nil, fmt.Errorf("a tensor map has %d bytes, but the parameter has %d", tensormap.Size, p.Size())
	}
	if r, ok := t.Buffer.(Reference); ok {
		b := l.Bindings[strconv.Itoa(int(r))]
		if b == nil || b.Buffer == nil {
			return nil, nil, fmt.Errorf("argument %d is not a buffer", r)
		}
		data, err := b.Buffer.TensorMap(t.Map)
		return data, nil, t.place(t.Map, err)
	}
	b, err := l.buffer(ctx, i, t.Buffer)
	if err != nil {
		return nil, nil, err
	}
	text := t.textOver(b.Type, b.Shape)
	data, err := b.Buffer.TensorMap(text)
	return data, b, t.place(text, err)
}

// Set sets a variable of the module by a text NAME=ARGUMENT. An array or a file gives the variable's elements from the first
// on. A number gives the first element; the remaining elements become 0. A texture, surface or sampler is bound to a
// .texref, .surfref or .samplerref. The end of ctx ends the reading of a pipe. An error of the argument is an *Error.
func (l *List) Set(ctx context.Context, text string) error {
	name, value, ok := strings.Cut(text, "=")
	if !ok {
		return errors.New("want NAME=ARG")
	}
	if v, ok := l.module.Lookup(name).(*ptx.Var); ok && v.Type.Kind() == ptx.Opaque {
		return locate(value, l.bindReference(ctx, name, value))
	}
	b, err := l.variable(name)
	if err != nil {
		return err
	}
	return locate(value, l.setVariable(ctx, name, value, b))
}

// setVariable sets a variable of .global or .const memory, whose whole memory is b.
func (l *List) setVariable(ctx context.Context, name, text string, b *Binding) error {
	if !strings.HasPrefix(text, "@") && !strings.Contains(text, "[") {
		bits, err := Number(text).Bits(b.Type)
		if err != nil {
			return err
		}
		one := Array{Type: b.Type, Data: make([]byte, b.Type.Size())}
		one.SetBits(0, bits)
		hostmem.ZeroTouched(b.Bytes()[copy(b.Bytes(), one.Data):])
		l.module.Device().HostWrite(b.Buffer.Addr(), b.Buffer.Size(), nil)
		return nil
	}
	a, err := ReadArray(ctx, text)
	if err != nil {
		return err
	}
	if len(a.Data) > b.Buffer.Size() {
		return fmt.Errorf("%d bytes given for a variable of %d bytes", len(a.Data), b.Buffer.Size())
	}
	b.Buffer.Write(0, a.Data)
	l.Bindings[name] = &Binding{Buffer: b.Buffer, Type: a.Type, Shape: []int{b.Buffer.Size() / a.Type.Size()}}
	return nil
}

// bindReference binds a texture, surface or sampler to a .texref, .surfref or .samplerref variable. The properties in the
// variable's initialiser describe a sampler; the options of the text change it.
func (l *List) bindReference(ctx context.Context, name, text string) error {
	sampler, normalized, err := l.module.SamplerOf(name)
	if err != nil {
		return err
	}
	if !interp.IsObjectText(text) {
		return errWantObject
	}
	o, err := parseObject(text, sampler, normalized)
	if err != nil {
		return err
	}
	b, err := o.(Object).make(ctx, l.module, name)
	if err != nil {
		return err
	}
	if err := l.module.Bind(name, b.Object); err != nil {
		return err
	}
	l.Bindings[name] = b
	return nil
}

// Lookup returns the memory or sampler of an argument, by its number, or of a variable of the module, by its name. The error
// says why there is none.
func (l *List) Lookup(name string) (*Binding, error) {
	if b := l.Bindings[name]; b != nil {
		return b, nil
	}
	if i, err := strconv.Atoi(name); err == nil {
		return nil, fmt.Errorf("argument %d is not a buffer; arguments count from 0", i)
	}
	return l.variable(name)
}

// variable returns the memory of a .global or .const variable. Elements of an untyped type, such as b32, become unsigned
// integers.
func (l *List) variable(name string) (*Binding, error) {
	m := l.module
	if v, ok := m.Lookup(name).(*ptx.Var); ok && v.Type.Kind() == ptx.Opaque {
		return nil, fmt.Errorf("the %[2]s variable %[1]s is not bound: bind it with --set", name, v.Type)
	}
	buf := m.Var(name)
	if buf == nil {
		return nil, fmt.Errorf("%s has no .global or .const variable %s", m.Name, name)
	}
	t := m.Lookup(name).(*ptx.Var).Type
	if t.Kind() == ptx.Bits {
		if t = map[int]ptx.Type{1: ptx.U8, 2: ptx.U16, 4: ptx.U32}[t.Size()]; t == ptx.NoType {
			t = ptx.U64
		}
	}
	return &Binding{Buffer: buf, Type: t, Shape: []int{buf.Size() / t.Size()}}, nil
}
