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

// Infer returns a descriptor of each buffer that a launch accesses, most accesses first, from the forms of its instructions. It needs the
// lines of all CTAs.
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
		d.classify(&l.Uses[i], l.Grid)
		list = append(list, d)
	}
	slices.SortStableFunc(list, func(a, b Descriptor) int {
		return cmp.Or(cmp.Compare(b.Accesses, a.Accesses), cmp.Compare(a.Buffer.Base, b.Buffer.Base))
	})
	return list
}

// classify sets the locality and the tiles.
func (d *Descriptor) classify(u *Use, grid ptx.Dim3) {
	spans, extents := [3]bool{}, grid.Dims()
	shared := false
	if d.Regular {
		for k := range 3 {
			spans[k] = extents[k] > 1 && !slices.ContainsFunc(d.forms, func(f Form) bool { return f.CTA[k] != 0 })
			shared = shared || spans[k]
		}
	}
	switch {
	case shared:
		d.Type, d.Sharing = InterThread, CoAccessed
	case u.Shared > 0 && (d.Regular || u.Nearby == u.Shared):
		d.Type, d.Sharing = InterThread, Nearby
		most := 0
		for k := range 3 {
			if u.Along[k] > u.Along[most] {
				most = k
			}
		}
		spans[most] = true
	case u.Shared > 0:
		d.Type, d.Sharing = InterThread, CoAccessed
		spans = [3]bool{true, true, true} // one tile for an irregular structure
	case u.Warps > 0:
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

// axis is a number of equal distances in the addresses of a tile.
type axis struct{ stride, n int64 }

// axes returns the axes of the addresses of a CTA; ok is false if the steps have no regular distances.
func (f *Form) axes() (list []axis, ok bool) {
	for d := range 3 {
		if n := f.High[d] - f.Low[d] + 1; n > 1 && f.Thread[d] != 0 {
			list = append(list, axis{abs(f.Thread[d]), int64(n)})
		}
	}
	steps := f.Steps
	if len(steps) < 2 {
		return list, true
	}
	inner := len(steps) // period of the inner loop
	for k := 1; k < len(steps); k++ {
		if steps[k]-steps[k-1] != steps[1] {
			inner = k
			break
		}
	}
	list = append(list, axis{abs(steps[1]), int64(inner)})
	if inner == len(steps) {
		return list, true
	}
	for k, step := range steps {
		if step != int64(k%inner)*steps[1]+int64(k/inner)*steps[inner] {
			return nil, false
		}
	}
	return append(list, axis{abs(steps[inner]), int64((len(steps) + inner - 1) / inner)}), true
}

func abs(n int64) int64 {
	if n < 0 {
		return -n
	}
	return n
}

// tiles sets the D-tile of the instruction with the largest, its stride, and the map.
func (d *Descriptor) tiles(extents [3]int) {
	largest := int64(0)
	for i := range d.forms {
		f := &d.forms[i]
		list, ok := f.axes()
		if !ok {
			continue
		}
		slices.SortFunc(list, func(a, b axis) int { return cmp.Compare(a.stride, b.stride) })
		width, dims, stride, end := int64(f.Bytes), []int64{}, int64(0), int64(0)
		for _, a := range list {
			switch {
			case a.stride == 0:
			case len(dims) == 0 && a.stride <= width: // contiguous, or overlapping
				width += a.stride * (a.n - 1)
			case len(dims) > 0 && a.stride == end: // continues the rows before
				dims[len(dims)-1] *= a.n
				end *= a.n
			default:
				if len(dims) == 0 {
					stride = a.stride
				}
				dims, end = append(dims, a.n), a.stride*a.n
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
