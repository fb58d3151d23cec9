// Package dispatch has the order in which the CTAs of a launch begin, and the dispatchers of a machine model, which choose the
// multiprocessor of each CTA.
package dispatch

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"gemu/ptx"
)

// Order is an order in which the CTAs of a launch begin. Its function returns, for a grid of n CTAs, a permutation of the linear
// indices 0 to n-1: the CTAs in the order in which they begin. In a launch with clusters the grid is that of the clusters. An Order is
// a value for interp.Launch.Dispatch.
type Order func(grid ptx.Dim3) []int

// Linear begins CTAs in the order of their indices.
func Linear(grid ptx.Dim3) []int {
	list := make([]int, grid.Count())
	for i := range list {
		list[i] = i
	}
	return list
}

// Reverse begins CTAs in the opposite order of their indices.
func Reverse(grid ptx.Dim3) []int {
	list := make([]int, grid.Count())
	for i := range list {
		list[i] = len(list) - 1 - i
	}
	return list
}

// Shuffle begins CTAs in a random order. The same seed gives the same order.
func Shuffle(seed uint64) Order {
	return func(grid ptx.Dim3) []int {
		list := Linear(grid)
		r := rand.New(rand.NewPCG(seed, 0))
		r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		return list
	}
}

// Group begins one group of CTAs after another. The groups divide the grid into boxes of shape.X × shape.Y × shape.Z CTAs, which are
// smaller at its far edges. Groups, and the CTAs of a group, follow each other with X fastest, then Y. The extents of shape must be at
// least 1.
func Group(shape ptx.Dim3) Order {
	return func(grid ptx.Dim3) []int {
		list := make([]int, 0, grid.Count())
		for _, g := range Groups(grid, shape) {
			list = append(list, g...)
		}
		return list
	}
}

// Groups divides a grid into groups: see Group. It returns the linear indices of each group's CTAs, in their order.
func Groups(grid, shape ptx.Dim3) [][]int {
	var groups [][]int
	for z := 0; z < grid.Z; z += shape.Z {
		for y := 0; y < grid.Y; y += shape.Y {
			for x := 0; x < grid.X; x += shape.X {
				box := ptx.Dim3{X: min(shape.X, grid.X-x), Y: min(shape.Y, grid.Y-y), Z: min(shape.Z, grid.Z-z)}
				group := make([]int, box.Count())
				for i := range group {
					at := box.At(i)
					group[i] = grid.Linear(ptx.Dim3{X: x + at.X, Y: y + at.Y, Z: z + at.Z})
				}
				groups = append(groups, group)
			}
		}
	}
	return groups
}

// Syntax describes the orders of Parse.
var Syntax = []string{
	"linear: ascending indices, as without an order",
	"reverse: descending indices",
	"shuffle:SEED: a random order, which the number SEED selects",
	"cluster:X,Y,Z: groups of X×Y×Z CTAs, one group after another",
}

// Parse reads an order, as Syntax describes it. A missing Y or Z of cluster is 1.
func Parse(text string) (Order, error) {
	name, value, hasValue := strings.Cut(text, ":")
	switch {
	case name == "linear" && !hasValue:
		return Linear, nil
	case name == "reverse" && !hasValue:
		return Reverse, nil
	case name == "shuffle" && hasValue:
		seed, err := strconv.ParseUint(value, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("order %s: want shuffle:SEED with a number from 0 to 2^64-1", text)
		}
		return Shuffle(seed), nil
	case name == "cluster" && hasValue:
		shape, err := ParseShape(value)
		if err != nil {
			return nil, fmt.Errorf("order %s: %w", text, err)
		}
		return Group(shape), nil
	}
	return nil, fmt.Errorf("order %s: want linear, reverse, shuffle:SEED, or cluster:X,Y,Z", text)
}

// maxShape is the maximum extent of a group.
const maxShape = 1<<31 - 1

// ParseShape reads X[,Y[,Z]], numbers from 1 on. Missing numbers are 1.
func ParseShape(text string) (ptx.Dim3, error) {
	shape := ptx.Dim(1)
	fields := strings.Split(text, ",")
	for i, f := range fields {
		n, err := strconv.Atoi(f)
		if err != nil || n < 1 || n > maxShape || i > 2 {
			return shape, fmt.Errorf("shape %s: want X[,Y[,Z]], numbers from 1 to 2^31-1", text)
		}
		*[]*int{&shape.X, &shape.Y, &shape.Z}[i] = n
	}
	return shape, nil
}
