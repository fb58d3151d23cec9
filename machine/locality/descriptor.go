package locality

import (
	"cmp"
	"fmt"
	"slices"

	"gemu/machine/stream"
	"gemu/ptx"
)

// Type is the locality of a buffer, which selects the mechanisms that use it.
type Type string

// The types of the thesis.
const (
	IntraThread Type = "INTRA_THREAD" // a thread accesses its data again
	InterThread Type = "INTER_THREAD" // threads share data
	NoReuse     Type = "NO_REUSE"     // data are accessed once
)

// Sharing is how threads share data.
type Sharing string

// The kinds of sharing.
const (
	CoAccessed Sharing = "COACCESSED" // all threads of a C-tile access the whole D-tile
	Nearby     Sharing = "NEARBY"     // neighbours access the data of neighbours
)

// Descriptor is a Locality Descriptor of a buffer: which part of the grid (C-tile) accesses which part of the data (D-tile).
type Descriptor struct {
	Buffer  stream.Buffer // the data structure
	Element int           // bytes of an element: of a thread's access
	Type    Type          // locality
	Sharing Sharing       // "" unless Type is InterThread
	Regular bool          // the addresses are affine
	Stride  int64         // elements from a row of the D-tile to the next; 0: the D-tile is contiguous, or irregular
	DTile   ptx.Dim3      // elements of a D-tile
	CTile   ptx.Dim3      // CTAs of a C-tile
	// Map has the ranks of x, y and z in the order in which C-tiles follow the D-tiles in memory, from 1 on; 0: C-tiles that differ in the
	// dimension access the same D-tile.
	Map      [3]int
	Accesses int64 // transactions, which determine the priority

	forms []Form
	form  Form // that of the D-tile, if Regular
}

// String describes the descriptor in the order of the thesis.
func (d *Descriptor) String() string {
	text := string(d.Type)
	if d.Sharing != "" {
		text += " " + string(d.Sharing)
	}
	if !d.Regular {
		return text + " IRREGULAR"
	}
	text += fmt.Sprintf(" REGULAR, D-tile %s of %d bytes", d.DTile, d.Element)
	if d.Stride != 0 {
		text += fmt.Sprintf(", stride %d", d.Stride)
	}
	return text + fmt.Sprintf(", C-tile %s, map (%d,%d,%d)", d.CTile, d.Map[0], d.Map[1], d.Map[2])
}

// Infer returns descriptors of each buffer that a launch accesses, most accesses first, from the forms of its instructions. It needs the
// lines of all CTAs. A buffer whose instructions share data along different dimensions of the grid has a descriptor for each set of
// dimensions.
func Infer(l *Launch, forms []Form) (list []Descriptor) {
	for i, b := range l.Buffers {
		if i >= len(l.Uses) || l.Uses[i].Lines == 0 {
			continue
		}
		d := Descriptor{Buffer: b, Accesses: l.Uses[i].Transactions, Regular: true, CTile: ptx.Dim(1), DTile: ptx.Dim(1)}
		for _, f := range forms {
			switch {
			case f.Buffer == nil: // may access any buffer
				d.Regular = false
			case f.Buffer.Base == b.Base && f.Buffer.Span == b.Bytes:
				d.Regular = d.Regular && f.Affine
				d.forms = append(d.forms, f)
			}
		}
		d.Regular = d.Regular && len(d.forms) > 0
		for _, part := range d.divide(&l.Uses[i], l.Grid) {
			part.classify(&l.Uses[i], l.Grid)
			list = append(list, part)
		}
	}
	slices.SortStableFunc(list, func(a, b Descriptor) int {
		return cmp.Or(cmp.Compare(b.Accesses, a.Accesses), cmp.Compare(a.Buffer.Base, b.Buffer.Base))
	})
	return list
}

// spans returns the dimensions in which CTAs that differ access the same data.
func (f *Form) spans(grid ptx.Dim3) (spans [3]bool) {
	for k, n := range grid.Dims() {
		spans[k] = n > 1 && f.CTA[k] == 0
	}
	return spans
}

// divide returns a descriptor for each set of dimensions along which instructions share data. Instructions that share none are left out,
// if others do.
func (d *Descriptor) divide(u *Use, grid ptx.Dim3) (parts []Descriptor) {
	if !d.Regular {
		return []Descriptor{*d}
	}
	var sets [][3]bool
	for i := range d.forms {
		if s := d.forms[i].spans(grid); s != [3]bool{} && !slices.Contains(sets, s) {
			sets = append(sets, s)
		}
	}
	if len(sets) == 0 {
		return []Descriptor{*d}
	}
	for _, s := range sets {
		part := *d
		part.forms, part.Accesses = nil, 0
		for i := range d.forms {
			if d.forms[i].spans(grid) == s {
				part.forms = append(part.forms, d.forms[i])
				part.Accesses += u.ByInstr[int32(d.forms[i].Instr)]
			}
		}
		parts = append(parts, part)
	}
	return parts
}

// classify sets the locality and the tiles.
func (d *Descriptor) classify(u *Use, grid ptx.Dim3) {
	spans, extents := [3]bool{}, grid.Dims()
	shared := false
	if d.Regular {
		spans = d.forms[0].spans(grid) // divide has made them equal
		shared = spans != [3]bool{}
	}
	switch {
	case shared:
		d.Type, d.Sharing = InterThread, CoAccessed
	case u.Shared > 0 && (d.Regular && d.shareAlong([3]bool{true, true, true}, extents) || !d.Regular && u.Nearby == u.Shared):
		d.Type, d.Sharing = InterThread, Nearby
		spans[d.mostShared(u, extents)] = true
	case u.Shared > 0 && !d.Regular:
		d.Type, d.Sharing = InterThread, CoAccessed
		spans = [3]bool{true, true, true} // one tile for an irregular structure
	case u.Warps > 0 && (!d.Regular || d.shareInCTA(extents)):
		d.Type, d.Sharing = InterThread, CoAccessed
	case u.Again > 0:
		d.Type = IntraThread
	default:
		d.Type = NoReuse
	}
	for k, p := range []*int{&d.CTile.X, &d.CTile.Y, &d.CTile.Z} {
		if spans[k] {
			*p = extents[k]
		}
	}
	if d.Regular {
		d.tiles(extents)
	}
}

// mostShared returns the dimension in which most lines are shared, of those in which CTAs share data, if there are any.
func (d *Descriptor) mostShared(u *Use, extents [3]int) int {
	most, lines := 0, int64(-1)
	for k := range 3 {
		n := u.Along[k]
		if only := ([3]bool{k == 0, k == 1, k == 2}); d.Regular && extents[k] > 1 && !d.shareAlong(only, extents) {
			n = 0 // lines, but no bytes
		}
		if n > lines {
			most, lines = k, n
		}
	}
	return most
}

// axis is a number of equal distances in the addresses of a tile.
type axis struct{ stride, n int64 }

// axes returns the axes of the addresses of a CTA; ok is false if the steps have no regular distances.
func (f *Form) axes() (list []axis, ok bool) {
	for d := range 3 {
		if n := f.High[d] - f.Low[d] + 1; n > 1 && f.Thread[d] != 0 {
			list = append(list, axis{abs(f.Thread[d]), int64(n)})
		}
	}
	steps, ok := axesOf(f.Steps)
	return append(list, steps...), ok
}

// axesOf returns the axes of offsets, of which the first is 0: none for a single offset, one for equal distances, two for the offsets of
// two nested loops. ok is false for others.
func axesOf(offsets []int64) (list []axis, ok bool) {
	if len(offsets) < 2 {
		return nil, true
	}
	inner := len(offsets) // period of the inner loop
	for k := 1; k < len(offsets); k++ {
		if offsets[k]-offsets[k-1] != offsets[1] {
			inner = k
			break
		}
	}
	list = append(list, axis{abs(offsets[1]), int64(inner)})
	if inner == len(offsets) {
		return list, true
	}
	for k, offset := range offsets {
		if offset != int64(k%inner)*offsets[1]+int64(k/inner)*offsets[inner] {
			return nil, false
		}
	}
	return append(list, axis{abs(offsets[inner]), int64((len(offsets) + inner - 1) / inner)}), true
}

// isSibling reports whether two forms differ in their first addresses only, as the copies of an instruction in an unrolled loop and the
// accesses of a stencil do.
func (f *Form) isSibling(o *Form) bool {
	return f.Bytes == o.Bytes && f.CTA == o.CTA && f.Thread == o.Thread && slices.Equal(f.Steps, o.Steps)
}

// siblings returns the form with the lowest address among the siblings of form i, and the distinct offsets of their addresses from it, in
// ascending order.
func (d *Descriptor) siblings(i int) (lowest *Form, offsets []int64) {
	lowest = &d.forms[i]
	for k := range d.forms {
		if f := &d.forms[k]; f.isSibling(&d.forms[i]) {
			if f.Base < lowest.Base {
				lowest = f
			}
			offsets = append(offsets, f.Base)
		}
	}
	slices.Sort(offsets)
	offsets = slices.Compact(offsets)
	for k := range offsets {
		offsets[k] -= lowest.Base
	}
	return lowest, offsets
}

func abs(n int64) int64 {
	if n < 0 {
		return -n
	}
	return n
}

// tiles sets the D-tile of the instruction with the largest, together with its siblings, its stride, and the map.
func (d *Descriptor) tiles(extents [3]int) {
	largest := int64(0)
	for i := range d.forms {
		f, offsets := d.siblings(i)
		list, ok := f.axes()
		if !ok {
			continue
		}
		if more, ok := axesOf(offsets); ok {
			list = append(list, more...)
		}
		slices.SortFunc(list, func(a, b axis) int { return cmp.Compare(a.stride, b.stride) })
		width, dims, stride, last := int64(f.Bytes), []int64{}, int64(0), int64(0)
		for _, a := range list {
			switch {
			case a.stride == 0:
			case len(dims) == 0 && a.stride <= width: // contiguous, or overlapping
				width += a.stride * (a.n - 1)
			case len(dims) > 0 && a.stride%last == 0 && a.stride <= last*dims[len(dims)-1]: // continues the rows before, or overlaps them
				dims[len(dims)-1] += a.stride / last * (a.n - 1)
			default:
				if len(dims) == 0 {
					stride = a.stride
				}
				dims, last = append(dims, a.n), a.stride
			}
		}
		size := width
		for _, n := range dims {
			size *= n
		}
		if size <= largest {
			continue
		}
		largest = size
		element := int64(f.Bytes)
		d.Element, d.Stride, d.form = f.Bytes, stride/element, *f
		d.DTile = ptx.Dim3{X: int((width + element - 1) / element), Y: 1, Z: 1}
		for k, n := range dims {
			if k == 0 {
				d.DTile.Y = int(n)
			} else {
				d.DTile.Z *= int(n)
			}
		}
		var order []int
		for k := range 3 {
			if d.Map[k] = 0; extents[k] > 1 && f.CTA[k] != 0 {
				order = append(order, k)
			}
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(abs(f.CTA[a]), abs(f.CTA[b])) })
		for rank, k := range order {
			d.Map[k] = rank + 1
		}
	}
	d.Regular = largest > 0
}

// Clusters returns the shape of the groups of CTAs for descriptors in the order of their priority (algorithm 1): the C-tiles of the first
// descriptor with shared data, halved until there is a tile for each multiprocessor, and merged with those of further descriptors.
func Clusters(grid ptx.Dim3, list []Descriptor, sms int) ptx.Dim3 {
	var tiles []ptx.Dim3
	for i := range list {
		if list[i].Type != InterThread {
			continue
		}
		tile := list[i].CTile
		for tilesOf(grid, tile) < sms && tile != ptx.Dim(1) {
			largest := &tile.X
			for _, p := range []*int{&tile.Y, &tile.Z} {
				if *p > *largest {
					largest = p
				}
			}
			*largest = (*largest + 1) / 2
		}
		tiles = append(tiles, tile)
	}
	if len(tiles) == 0 {
		return ptx.Dim(1)
	}
	shape := tiles[0]
	for _, t := range tiles[1:] {
		merged := ptx.Dim3{X: shape.X * max(t.X/shape.X, 1), Y: shape.Y * max(t.Y/shape.Y, 1), Z: shape.Z * max(t.Z/shape.Z, 1)}
		if tilesOf(grid, merged) >= sms {
			shape = merged
		}
	}
	return shape
}

// tilesOf returns the number of tiles of a grid.
func tilesOf(grid, tile ptx.Dim3) int {
	return (grid.X + tile.X - 1) / tile.X * ((grid.Y + tile.Y - 1) / tile.Y) * ((grid.Z + tile.Z - 1) / tile.Z)
}
