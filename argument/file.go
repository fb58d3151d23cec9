package argument

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"gemu/internal/input"
	"gemu/ptx"
)

// maxFile is the limit of a file that is read, in bytes: the memory of a device.
const maxFile = 16 << 30

// File is an array in a file.
type File struct {
	Name string // path
	View string // element type of a raw file; gray or rgba for a picture; "" for the default
}

// parseFile parses NAME[:VIEW].
func parseFile(text string) (File, error) {
	if text == "" {
		return File{}, errors.New("@ must be followed by the name of a file")
	}
	if i := strings.LastIndexByte(text, ':'); i > 0 {
		if view := text[i+1:]; elementTypes[view] != ptx.NoType || view == "gray" || view == "rgba" {
			return File{text[:i], view}, nil
		}
	}
	return File{Name: text}, nil
}

// Read reads the array. If the file is a pipe, it waits for data until ctx ends.
func (f File) Read(ctx context.Context) (*Array, error) {
	b, err := input.ReadFile(ctx, f.Name, maxFile)
	if err != nil {
		return nil, input.FileError("read", f.Name, err)
	}
	var a *Array
	picture := f.View == "gray" || f.View == "rgba"
	switch kind := strings.ToLower(filepath.Ext(f.Name)); {
	case kind == ".npy" && f.View != "":
		err = fmt.Errorf(":%s does not apply: a .npy file contains its element type", f.View)
	case kind == ".npy":
		a, err = DecodeNPY(b)
	case kind == ".png" && f.View != "" && !picture:
		err = fmt.Errorf(":%s does not apply to a picture; use :gray or :rgba", f.View)
	case kind == ".png":
		a, err = DecodePNG(b, f.View)
	case picture:
		err = fmt.Errorf(":%s applies to pictures (.png) only; other files take an element type, such as :f32", f.View)
	default:
		a, err = rawArray(b, f.View)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name, err)
	}
	return a, nil
}

// rawArray returns the bytes as an array with elements of the type in view; u8 if view is "".
func rawArray(b []byte, view string) (*Array, error) {
	typ := ptx.U8
	if t := elementTypes[view]; t != ptx.NoType {
		typ = t
	}
	if len(b)%typ.Size() != 0 {
		return nil, fmt.Errorf("the size of %d bytes is not a multiple of the element size (%s)", len(b), typ)
	}
	return &Array{typ, []int{len(b) / typ.Size()}, b}, nil
}

// ReadArray returns the array of a text: a new array such as f32[16]=iota, or the contents of a file such as @x.npy or x.npy.
func ReadArray(ctx context.Context, text string) (*Array, error) {
	var a *Array
	v, err := parseContents(text)
	switch v := v.(type) {
	case File:
		a, err = v.Read(ctx)
	case Filled:
		a, err = v.Make()
	}
	if err != nil {
		return nil, locate(text, err)
	}
	return a, nil
}

// parseContents parses an array, or a file with or without "@".
func parseContents(text string) (Value, error) {
	if name, ok := strings.CutPrefix(text, "@"); ok {
		f, err := parseFile(name)
		return f, at(len("@"), err)
	}
	if strings.Contains(text, "[") {
		return parseFilled(text)
	}
	return parseFile(text)
}
