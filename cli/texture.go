package cli

// This file makes textures, surfaces and samplers of what the command line says.

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"gemu/internal/hostmem"
	"gemu/interp"
	"gemu/ptx"
)

// makeObject makes what interp.ObjectText describes, with texels from a file or made as those
// of buffers are. Options change what the sampler given says.
func makeObject(ctx context.Context, m *interp.Module, name, text string, sampler interp.Sampler, normalized bool) (*binding, error) {
	t, err := interp.ParseObject(text, sampler, normalized)
	if err != nil {
		return nil, err
	}
	var arr *array
	var data []byte
	if t.Type != ptx.SamplerRef {
		if arr, err = texels(ctx, t); err != nil {
			return nil, err
		}
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

// texels makes the texels: those of a file, which says what they are where there are no
// extents, or what "=iota" and the like behind the extents ask for.
func texels(ctx context.Context, t *interp.ObjectText) (*array, error) {
	var arr *array
	typ := elementTypes[t.Image.Format.Channel()] // where there are extents
	if name, ok := strings.CutPrefix(t.Init, "@"); ok {
		var err error
		if arr, err = readArray(ctx, name); err != nil {
			return nil, err
		}
		if described := t.Image.Width > 0; !described {
			err = t.Describe(imageOf(arr))
		} else if len(arr.data) != t.Bytes() {
			err = fmt.Errorf("%s: %d bytes for texels of %d", name, len(arr.data), t.Bytes())
		} else {
			arr = &array{typ: typ, data: arr.data}
		}
		if err != nil {
			return nil, err
		}
	}
	if size := t.Image.Size(); size > maxMadeBytes {
		return nil, fmt.Errorf("texels in %d bytes are too many: at most %d bytes are made", size, maxMadeBytes)
	}
	if arr != nil {
		return arr, nil
	}
	return makeArray(fmt.Sprintf("%s[%d]%s", t.Image.Format.Channel(), t.Bytes()/typ.Size(), t.Init), hostmem.Make)
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
func bindReference(ctx context.Context, m *interp.Module, name, text string) (*binding, error) {
	sampler, normalized, err := m.SamplerOf(name)
	if err != nil {
		return nil, err
	}
	if !interp.IsObjectText(text) {
		return nil, errors.New("want tex.GEOMETRY(…), surf.GEOMETRY(…) or sampler(…)")
	}
	b, err := makeObject(ctx, m, name, text, sampler, normalized)
	if err != nil {
		return nil, err
	}
	return b, m.Bind(name, b.object)
}
