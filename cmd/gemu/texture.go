package main

// This file makes textures, surfaces and samplers of what the command line says.

import (
	"errors"
	"fmt"
	"strings"

	"gemu/interp"
	"gemu/ptx"
)

// makeObject makes what interp.ObjectText describes, with texels from a file or made as those
// of buffers are. Options change what the sampler given says.
func makeObject(m *interp.Module, name, text string, sampler interp.Sampler, normalized bool) (*binding, error) {
	t, err := interp.ParseObject(text, sampler, normalized)
	if err != nil {
		return nil, err
	}
	var arr *array
	switch made := t.Image.Width > 0; { // it has extents
	case t.Type == ptx.SamplerRef:
	case made:
		arr, err = texels(t)
	default:
		if arr, err = readArray(strings.TrimPrefix(t.Init, "@")); err == nil {
			err = t.Describe(imageOf(arr))
		}
	}
	if err != nil {
		return nil, err
	}
	var data []byte
	if arr != nil {
		data = arr.data
	}
	o, err := t.Make(m.Device(), name, data)
	if err != nil || arr == nil {
		return &binding{object: o}, err
	}
	shape := t.Image.Extents()
	if n := t.Image.Format.Channels; n > 1 {
		shape = append(shape, n)
	}
	if arr.shape = shape; t.Image.Levels > 1 || t.Image.Pitch != 0 || t.Image.Samples > 1 {
		arr.shape = []int{len(o.Bytes()) / arr.typ.Size()}
	}
	return &binding{object: o, arr: arr}, nil
}

// typeOf is the type of a channel.
func typeOf(f interp.Format) ptx.Type { return elementTypes[fmt.Sprintf("%s%d", f.Kind, f.Bits)] }

// texels makes the texels that follow the extents: "=iota" and the like, or a file of as many
// bytes.
func texels(t *interp.ObjectText) (*array, error) {
	typ := typeOf(t.Image.Format)
	if name, ok := strings.CutPrefix(t.Init, "@"); ok {
		arr, err := readArray(name)
		if err == nil && len(arr.data) != t.Bytes() {
			err = fmt.Errorf("%s: %d bytes for texels of %d", name, len(arr.data), t.Bytes())
		}
		if err != nil {
			return nil, err
		}
		return &array{typ: typ, data: arr.data}, nil
	}
	return makeArray(fmt.Sprintf("%s%d[%d]%s", t.Image.Format.Kind, t.Image.Format.Bits, t.Bytes()/typ.Size(), t.Init))
}

// imageOf is an array as the texels of an image: the last dimension is the channels if there
// is one more than the geometry has.
func imageOf(a *array) (f interp.Format, shape []int) {
	f = interp.Format{Channels: 1, Bits: a.typ.Bits()}
	switch {
	case a.typ.IsFloat():
		f.Kind = interp.Float
	case a.typ.IsSigned():
		f.Kind = interp.Signed
	}
	return f, a.shape
}

// bindReference binds a .texref, .samplerref or .surfref variable.
func bindReference(m *interp.Module, name, text string) (*binding, error) {
	sampler, normalized, err := m.SamplerOf(name)
	if err != nil {
		return nil, err
	}
	if !interp.IsObjectText(text) {
		return nil, errors.New("want tex.GEOMETRY(…), surf.GEOMETRY(…) or sampler(…)")
	}
	b, err := makeObject(m, name, text, sampler, normalized)
	if err != nil {
		return nil, err
	}
	return b, m.Bind(name, b.object)
}
