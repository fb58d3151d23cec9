// Package systems has systems of papers as parts of a machine: the Locality Descriptor and XMem (Vijaykumar, "Enhancing Programmability,
// Portability, and Performance with Rich Cross-Layer Abstractions", 2019, chapters 3 and 2), and the descriptions of data that a user
// gives them.
package systems

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strings"

	"gemu/machine/locality"
	"gemu/machine/stream"
	"gemu/machine/xmem"
	"gemu/probe"
	"gemu/ptx"
)

// Schema is the schema of files with descriptors.
const Schema = "gemu-descriptors/1"

// File is the descriptors of data. docs/json.md has its fields.
type File struct {
	Schema   string     `json:"schema"`   // "gemu-descriptors/1"
	Locality []Locality `json:"locality"` // Locality Descriptors
	Atoms    []Atom     `json:"atoms"`    // atoms of XMem
}

// Data is a buffer, or a part of it.
type Data struct {
	Buffer string `json:"buffer,omitempty"` // name as in messages; it has no effect with base
	Base   uint64 `json:"base,omitempty"`   // first address; without it the buffer is found by its name
	Bytes  uint64 `json:"bytes,omitempty"`  // size from base on; 0: the whole buffer
}

// is reports whether the data are, or are in, a buffer.
func (d *Data) is(b stream.Buffer) bool {
	if d.Base == 0 {
		return d.Buffer == b.Name
	}
	return d.Base-b.Base < b.Bytes
}

// Triple is three numbers: those of x, y and z.
type Triple [3]int

// UnmarshalJSON implements json.Unmarshaler. It takes exactly three numbers, where an array of Go would ignore further ones.
func (t *Triple) UnmarshalJSON(text []byte) error {
	var list []int
	if err := json.Unmarshal(text, &list); err != nil {
		return err
	}
	if len(list) != len(t) {
		return &json.UnmarshalTypeError{Value: fmt.Sprintf("list of %d numbers", len(list)), Type: reflect.TypeFor[Triple]()}
	}
	*t = Triple(list)
	return nil
}

// Locality is a Locality Descriptor.
type Locality struct {
	Kernel string `json:"kernel,omitempty"` // kernel of the descriptor; "": all
	Grid   Triple `json:"grid,omitzero"`    // grid of its launches; absent: all
	Data
	Type     locality.Type    `json:"type"`              // INTRA_THREAD, INTER_THREAD or NO_REUSE
	Sharing  locality.Sharing `json:"sharing,omitempty"` // COACCESSED or NEARBY, of INTER_THREAD
	Regular  bool             `json:"regular"`           // the accesses have a stride
	Element  int              `json:"element,omitempty"` // bytes of an element
	Stride   int64            `json:"stride,omitempty"`  // elements from a row of the D-tile to the next
	DTile    Triple           `json:"dtile,omitzero"`    // elements of the D-tile
	CTile    Triple           `json:"ctile,omitzero"`    // CTAs of the C-tile; absent: one
	Map      Triple           `json:"map,omitzero"`      // ranks of x, y and z in the order of C-tiles along the data; 0: not traversed
	Priority int              `json:"priority"`          // a descriptor with a greater number precedes others
}

// Limits of the numbers of a Locality Descriptor, so that the size of a D-tile, and that of the tiles of a multiprocessor, fit in 63 bits.
const (
	maxElement = 1 << 16 // bytes of an element
	maxCount   = 1 << 40 // elements of a D-tile; CTAs of a C-tile or a grid
)

// check returns an error that names the field.
func (l *Locality) check() error {
	switch {
	case !slices.Contains([]locality.Type{locality.IntraThread, locality.InterThread, locality.NoReuse}, l.Type):
		return fmt.Errorf("type %q: want %s, %s or %s", l.Type, locality.InterThread, locality.IntraThread, locality.NoReuse)
	case l.Type == locality.InterThread && l.Sharing != locality.CoAccessed && l.Sharing != locality.Nearby:
		return fmt.Errorf("sharing %q: want %s or %s with type %s", l.Sharing, locality.CoAccessed, locality.Nearby, l.Type)
	case l.Type != locality.InterThread && l.Sharing != "":
		return fmt.Errorf("sharing %q: want none with type %s", l.Sharing, l.Type)
	case l.Element < 0 || l.Element > maxElement:
		return fmt.Errorf("element %d: want a number of bytes, at most %d", l.Element, maxElement)
	}
	for _, extents := range []struct {
		name string
		list [3]int
	}{{"grid", l.Grid}, {"dtile", l.DTile}, {"ctile", l.CTile}} {
		if extents.list != [3]int{} && slices.Min(extents.list[:]) < 1 {
			return fmt.Errorf("%s %v: want three numbers from 1 on", extents.name, extents.list)
		}
		if x, y, z := extents.list[0], extents.list[1], extents.list[2]; x > 0 && (x > maxCount || y > maxCount/x || z > maxCount/x/y) {
			return fmt.Errorf("%s %v: want three numbers whose product is at most %d", extents.name, extents.list, maxCount)
		}
	}
	if slices.Min(l.Map[:]) < 0 || slices.Max(l.Map[:]) > 3 {
		return fmt.Errorf("map %v: want three ranks from 0 to 3", l.Map)
	}
	return l.Data.check()
}

func (d *Data) check() error {
	switch {
	case d.Base == 0 && d.Buffer == "":
		return errors.New("no data: want buffer (a name as in messages) or base (an address)")
	case d.Base == 0 && d.Bytes != 0:
		return errors.New("bytes without base: a buffer that is found by its name is described as a whole")
	case d.Bytes > math.MaxUint64-d.Base:
		return fmt.Errorf("bytes %d: the data end beyond the last address", d.Bytes)
	}
	return nil
}

// Pattern is how a program accesses an atom.
type Pattern string

// The patterns of XMem.
const (
	Regular          Pattern = "REGULAR"
	Irregular        Pattern = "IRREGULAR"
	NonDeterministic Pattern = "NON_DET"
)

// Atom is an atom of XMem: attributes of data.
type Atom struct {
	Name       string   `json:"name,omitempty"`       // name for messages
	Kernels    []string `json:"kernels,omitempty"`    // kernels during which the atom is active; absent: all
	Map        []Range  `json:"map"`                  // its data; of overlapping ranges the later one holds
	Pattern    Pattern  `json:"pattern"`              // REGULAR, IRREGULAR or NON_DET
	Stride     int64    `json:"stride,omitempty"`     // bytes from an access to the next, of REGULAR
	Access     string   `json:"access"`               // READ_ONLY, READ_WRITE or WRITE_ONLY
	Intensity  int      `json:"intensity,omitempty"`  // 0 to 255, relative to other atoms; 0 is the fewest accesses
	Reuse      int      `json:"reuse,omitempty"`      // 0 to 255, relative to other atoms; 0 is none
	Type       string   `json:"type,omitempty"`       // type of the elements, such as FLOAT32
	Properties []string `json:"properties,omitempty"` // such as SPARSE, APPROXIMABLE, POINTER, INDEX
}

// Range is data of an atom: a range, or rows of it.
type Range struct {
	Data
	Offset uint64 `json:"offset,omitempty"` // bytes from the first address of the data to the range
	Width  uint64 `json:"width,omitempty"`  // bytes of a row; 0: all data from offset on
	Length uint64 `json:"length,omitempty"` // bytes from a row to the next
	Height uint64 `json:"height,omitempty"` // number of rows
}

// maxRows is the maximum number of rows of a range, and of all ranges of a file.
const maxRows = 1 << 20

func (r *Range) check() error {
	if err := r.Data.check(); err != nil {
		return err
	}
	switch {
	case r.Width == 0 && (r.Length != 0 || r.Height != 0):
		return errors.New("length or height without width: want the bytes of a row")
	case r.Width > 0 && (r.Height == 0 || r.Height > maxRows || r.Length < r.Width):
		return fmt.Errorf("%d rows of %d bytes, %d bytes apart: want 1 to %d rows that do not overlap", r.Height, r.Width, r.Length, maxRows)
	case r.Width > 0 && r.Length > math.MaxUint64/2/r.Height:
		return errors.New("length: the rows end beyond the last address")
	case r.Offset > math.MaxUint64/2 || r.Base > math.MaxUint64-r.Offset-r.Length*r.Height:
		return fmt.Errorf("offset %d: the range ends beyond the last address", r.Offset)
	}
	return nil
}

// ranges returns the addresses of the range in the data from base on.
func (r *Range) ranges(base, size uint64) []xmem.Range {
	if r.Width == 0 {
		return []xmem.Range{{Start: base + r.Offset, Bytes: size - min(r.Offset, size)}}
	}
	return xmem.Map2D(base+r.Offset, r.Length, r.Width, r.Height)
}

// maxAtoms is the maximum number of atoms: an atom has a number of 8 bits (section 2.4.2).
const maxAtoms = 256

func (a *Atom) check() error {
	switch {
	case len(a.Map) == 0:
		return errors.New("map: an atom needs data")
	case a.Pattern != Regular && a.Pattern != Irregular && a.Pattern != NonDeterministic:
		return fmt.Errorf("pattern %q: want %s, %s or %s", a.Pattern, Regular, Irregular, NonDeterministic)
	case a.Access != "READ_ONLY" && a.Access != "READ_WRITE" && a.Access != "WRITE_ONLY":
		return fmt.Errorf("access %q: want READ_ONLY, READ_WRITE or WRITE_ONLY", a.Access)
	case a.Reuse < 0 || a.Reuse > 255 || a.Intensity < 0 || a.Intensity > 255:
		return fmt.Errorf("reuse %d and intensity %d: want numbers from 0 to 255", a.Reuse, a.Intensity)
	}
	for i := range a.Map {
		if err := a.Map[i].check(); err != nil {
			return fmt.Errorf("map[%d]: %w", i, err)
		}
	}
	return nil
}

// Read reads descriptors. An error has the name of the file and the line.
func Read(name string, text []byte) (*File, error) {
	f := &File{Locality: []Locality{}, Atoms: []Atom{}}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	at := func(offset int64, err error) error {
		for offset < int64(len(text)) && bytes.IndexByte([]byte(" \t\r\n,:"), text[offset]) >= 0 {
			offset++
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			offset, err = int64(len(text)), errors.New("the text ends too early")
		}
		return fmt.Errorf("%s:%d: %w", name, 1+bytes.Count(text[:min(offset, int64(len(text)))], []byte("\n")), err)
	}
	open := func(want json.Delim, what string) error {
		offset := d.InputOffset()
		switch t, err := d.Token(); {
		case err != nil:
			return at(offset, err)
		case t != want:
			return at(offset, fmt.Errorf("want %s, from %c on", what, want))
		}
		return nil
	}
	if err := open('{', "an object"); err != nil {
		return nil, err
	}
	rows := uint64(0) // of all atoms
	for d.More() {
		offset := d.InputOffset()
		key, err := d.Token()
		if err != nil {
			return nil, at(offset, err)
		}
		switch key {
		case "schema":
			if err := valueError(d.Decode(&f.Schema)); err != nil {
				return nil, at(offset, err)
			}
			if f.Schema != Schema {
				return nil, at(offset, fmt.Errorf("schema %q: want %q", f.Schema, Schema))
			}
		case "locality", "atoms":
			if err := open('[', "a list"); err != nil {
				return nil, err
			}
			for d.More() {
				offset := d.InputOffset()
				var check func() error
				if key == "locality" {
					f.Locality = append(f.Locality, Locality{})
					l := &f.Locality[len(f.Locality)-1]
					err, check = d.Decode(l), l.check
				} else {
					f.Atoms = append(f.Atoms, Atom{})
					a := &f.Atoms[len(f.Atoms)-1]
					err, check = d.Decode(a), a.check
				}
				if err = valueError(err); err == nil {
					err = check()
				}
				if err == nil && key == "atoms" {
					for i := range f.Atoms[len(f.Atoms)-1].Map {
						rows += f.Atoms[len(f.Atoms)-1].Map[i].Height
					}
					if rows > maxRows {
						err = fmt.Errorf("%d rows with those of the atoms before it: want at most %d", rows, maxRows)
					}
				}
				if err != nil {
					return nil, at(offset, fmt.Errorf("%s: %w", key, err))
				}
			}
			if _, err := d.Token(); err != nil {
				return nil, at(d.InputOffset(), err)
			}
		default:
			return nil, at(offset, fmt.Errorf("unknown field %q: want schema, locality or atoms", key))
		}
	}
	if _, err := d.Token(); err != nil {
		return nil, at(d.InputOffset(), err)
	}
	switch offset := d.InputOffset(); {
	case f.Schema == "":
		return nil, at(0, fmt.Errorf("no schema: want \"schema\": %q", Schema))
	case len(f.Atoms) > maxAtoms:
		return nil, at(0, fmt.Errorf("%d atoms: want at most %d", len(f.Atoms), maxAtoms))
	case len(bytes.TrimSpace(text[offset:])) > 0:
		return nil, at(offset, errors.New("text after the end of the object"))
	}
	return f, nil
}

// valueError describes a value of a wrong type without Go's names.
func valueError(err error) error {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return err
	}
	want := "a number without fraction in the range of the field"
	switch wrong.Type.Kind() {
	case reflect.String:
		want = "a string"
	case reflect.Bool:
		want = "true or false"
	case reflect.Slice:
		want = "a list"
	case reflect.Array:
		want = "a list of three numbers"
	case reflect.Struct:
		want = "an object"
	}
	field := wrong.Field[strings.LastIndexByte(wrong.Field, '.')+1:] // without the names of Go's embedded types
	if field != "" {
		field += ": "
	}
	return fmt.Errorf("%sthe value is a JSON %s: want %s", field, wrong.Value, want)
}

// Inferred returns the inferred descriptors of a launch in the order of their priority, for a file or for LocalityDescriptors.
func Inferred(l *locality.Launch, forms []locality.Form) []Locality {
	list := locality.Infer(l, forms)
	out := make([]Locality, len(list))
	for i := range list {
		d := &list[i]
		out[i] = Locality{Kernel: l.Kernel.Name, Grid: l.Grid.Dims(), Data: Data{d.Buffer.Name, d.Buffer.Base, d.Buffer.Bytes}, Type: d.Type, Sharing: d.Sharing, Regular: d.Regular, CTile: d.CTile.Dims(), Priority: len(list) - i}
		if d.Regular {
			out[i].Element, out[i].Stride, out[i].DTile, out[i].Map = d.Element, d.Stride, d.DTile.Dims(), d.Map
		}
	}
	return out
}

// tile returns a shape; that of one CTA if it is absent.
func tile(list [3]int) ptx.Dim3 {
	if list == [3]int{} {
		return ptx.Dim(1)
	}
	return ptx.Dim3{X: list[0], Y: list[1], Z: list[2]}
}

// AddAtoms adds an atom for each buffer that a launch accesses and no atom has, with attributes from its accesses: an edited file can be the
// input of Atoms. The reuse of an atom is the mean number of accesses to its lines, and the intensity its share of all accesses of the launch.
func AddAtoms(list []Atom, l *locality.Launch, forms []locality.Form) []Atom {
	total := int64(0)
	for i := range l.Uses {
		total += l.Uses[i].Transactions
	}
	for i, b := range l.Buffers {
		if i >= len(l.Uses) || l.Uses[i].Lines == 0 || len(list) == maxAtoms || slices.ContainsFunc(list, func(a Atom) bool { return a.Map[0].is(b) }) {
			continue
		}
		u := &l.Uses[i]
		a := Atom{Name: b.Name, Map: []Range{{Data: Data{b.Name, b.Base, b.Bytes}}}, Pattern: Irregular, Intensity: int(255 * u.Transactions / total), Reuse: int(min(255, u.Transactions/u.Lines-1))}
		reads, writes, regular, stride := false, false, true, int64(0)
		for _, f := range forms {
			if f.Buffer != nil && f.Buffer.Base != b.Base {
				continue
			}
			reads, writes = reads || f.Kind != probe.AccessStore, writes || f.Kind != probe.AccessLoad
			regular = regular && f.Affine
			stride = max(stride, f.Thread[0], -f.Thread[0])
		}
		if regular {
			a.Pattern, a.Stride = Regular, stride
		}
		switch {
		case !writes:
			a.Access = "READ_ONLY"
		case !reads:
			a.Access = "WRITE_ONLY"
		default:
			a.Access = "READ_WRITE"
		}
		list = append(list, a)
	}
	return list
}
