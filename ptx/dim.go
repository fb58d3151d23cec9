package ptx

import "fmt"

// Dim3 is the extent of a grid, cluster or block in three dimensions, or an index into one (%ntid and %tid).
type Dim3 struct {
	X, Y, Z int // extents from 1, or indices from 0; consecutive elements differ in X
}

// Dim returns the extent with the given dimensions, X first; missing dimensions are 1.
func Dim(n ...int) Dim3 {
	d := Dim3{1, 1, 1}
	for i, p := range []*int{&d.X, &d.Y, &d.Z} {
		if i < len(n) {
			*p = n[i]
		}
	}
	return d
}

// Count is the number of elements of an extent.
func (d Dim3) Count() int { return d.X * d.Y * d.Z }

// At returns the index of element i of the extent, counted with X fastest.
func (d Dim3) At(i int) Dim3 { return Dim3{i % d.X, i / d.X % d.Y, i / (d.X * d.Y)} }

// Linear returns the number of the element at an index of the extent, counted with X fastest.
func (d Dim3) Linear(index Dim3) int { return index.X + d.X*(index.Y+d.Y*index.Z) }

// Dims returns the three dimensions.
func (d Dim3) Dims() [3]int { return [3]int{d.X, d.Y, d.Z} }

// String returns the dimensions as "(X,Y,Z)".
func (d Dim3) String() string { return fmt.Sprintf("(%d,%d,%d)", d.X, d.Y, d.Z) }
