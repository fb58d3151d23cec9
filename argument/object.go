package argument

import (
	"context"
	"fmt"
	"strings"

	"gemu/interp"
	"gemu/ptx"
	"gemu/texture"
)

// maxTexels is the limit of the texels of a new image, in bytes. They exist twice: they are copied to the device.
const maxTexels = 4 << 30

// Object is a texture, surface or sampler.
type Object struct {
	*interp.ObjectText
	File *File // contents of the texels; nil if Fill gives them
	Fill Fill  // rule for the channels of the texels, in the order of memory; see File
}

// parseObject parses a texture, surface or sampler. Its options change the given sampler; normalized says whether
// coordinates are normalised without an option.
func parseObject(text string, sampler texture.Sampler, normalized bool) (Value, error) {
	description, err := interp.ParseObject(text, sampler, normalized)
	if err != nil {
		return nil, err
	}
	o := Object{ObjectText: description}
	if o.Type == ptx.SamplerRef {
		return o, nil
	}
	contents := strings.Index(text, o.Init)
	if name, ok := strings.CutPrefix(o.Init, "@"); ok {
		file, err := parseFile(name)
		if err != nil {
			return nil, at(contents+len("@"), err)
		}
		o.File = &file
		return o, nil
	}
	if o.Fill, err = parseFill(o.Init, o.elementType()); err != nil {
		return nil, at(strings.IndexByte(text, ']')+len("]"), err)
	}
	return o, nil
}

// elementType returns the type of a channel; NoType if the text has no texel type.
func (o *Object) elementType() ptx.Type { return elementTypes[o.Image.Format.Channel()] }

// make makes the object on the device of m, with a name for messages.
func (o Object) make(ctx context.Context, m *interp.Module, name string) (*Binding, error) {
	if o.Type == ptx.SamplerRef {
		object, err := o.ObjectText.Make(m.Device(), name, nil)
		return &Binding{Object: object}, err
	}
	texels, err := o.texels(ctx)
	if err != nil {
		return nil, err
	}
	object, err := o.ObjectText.Make(m.Device(), name, texels.Data)
	if err != nil {
		return nil, err
	}
	b := &Binding{Object: object, Type: texels.Type, Shape: o.Image.Extents()}
	if n := o.Image.Format.Channels; n > 1 {
		b.Shape = append(b.Shape, n)
	}
	if o.Image.Levels > 1 || o.Image.Pitch != 0 || o.Image.Samples > 1 {
		b.Shape = []int{len(object.Bytes()) / b.Type.Size()}
	}
	return b, nil
}

// texels returns the texels. If the text has no extents, the image gets the extents of its file.
func (o *Object) texels(ctx context.Context) (*Array, error) {
	var a *Array
	if o.File != nil {
		var err error
		if a, err = o.readTexels(ctx); err != nil {
			return nil, err
		}
	}
	if size := o.Image.Size(); size > maxTexels {
		return nil, fmt.Errorf("the image has %d bytes of texels; at most %d bytes are allowed", size, maxTexels)
	}
	if a != nil {
		return a, nil
	}
	typ := o.elementType()
	return Filled{typ, []int{o.Bytes() / typ.Size()}, o.Fill}.Make()
}

// readTexels returns the texels in the object's file.
func (o *Object) readTexels(ctx context.Context) (*Array, error) {
	a, err := o.File.Read(ctx)
	switch described := o.Image.Width > 0; {
	case err != nil:
		return nil, err
	case !described:
		return a, o.Describe(imageFormat(a), a.Shape)
	case len(a.Data) != o.Bytes():
		return nil, fmt.Errorf("%s has %d bytes, but the texels need %d", o.File.Name, len(a.Data), o.Bytes())
	}
	return &Array{Type: o.elementType(), Data: a.Data}, nil
}

// imageFormat returns the format of an image with one channel, whose texels are the elements of an array.
func imageFormat(a *Array) texture.Format {
	f := texture.Format{Channels: 1, Bits: a.Type.Bits()}
	switch {
	case a.Type.IsFloat():
		f.Kind = texture.Float
	case a.Type.IsSigned():
		f.Kind = texture.Signed
	}
	return f
}
