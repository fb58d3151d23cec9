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
		p := boxes(grid, shape)
		list := make([]int, 0, grid.Count())
		for group := range p.groups {
			for i := range p.size(group) {
				list = append(list, p.at(group, i))
			}
		}
		return list
	}
}

// GroupCount returns the number of groups of a shape: see Group.
func GroupCount(grid, shape ptx.Dim3) int { return boxes(grid, shape).groups }

// partition is the CTAs of a grid in groups. It takes no memory for a CTA.
type partition struct {
	groups int                    // number of groups
	size   func(group int) int    // number of CTAs of a group
	at     func(group, i int) int // linear index of CTA i of a group
}

// boxes divides a grid into groups: see Group.
func boxes(grid, shape ptx.Dim3) partition {
	count := func(n, of int) int { return n/of + min(n%of, 1) }
	all := ptx.Dim3{X: count(grid.X, shape.X), Y: count(grid.Y, shape.Y), Z: count(grid.Z, shape.Z)}
	box := func(group int) (first, extent ptx.Dim3) {
		at := all.At(group)
		first = ptx.Dim3{X: at.X * shape.X, Y: at.Y * shape.Y, Z: at.Z * shape.Z}
		return first, ptx.Dim3{X: min(shape.X, grid.X-first.X), Y: min(shape.Y, grid.Y-first.Y), Z: min(shape.Z, grid.Z-first.Z)}
	}
	return partition{
		groups: all.Count(),
		size: func(group int) int {
			_, extent := box(group)
			return extent.Count()
		},
		at: func(group, i int) int {
			first, extent := box(group)
			at := extent.At(i)
			return grid.Linear(ptx.Dim3{X: first.X + at.X, Y: first.Y + at.Y, Z: first.Z + at.Z})
		},
	}
}

// Syntax describes the orders of Parse.
var Syntax = []string{
	"linear: ascending indices, as without an order",
	"reverse: descending indices",
	"shuffle:SEED: a random order, which the number SEED selects",
	"cluster:XxYxZ: groups of X×Y×Z CTAs, one group after another",
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
	return nil, fmt.Errorf("order %s: want linear, reverse, shuffle:SEED, or cluster:XxYxZ", text)
}

// maxShape is the maximum extent of a group.
const maxShape = 1<<31 - 1

// ParseShape reads XxYxZ, or X,Y,Z: numbers from 1 on. Missing numbers are 1.
func ParseShape(text string) (ptx.Dim3, error) {
	shape := ptx.Dim(1)
	separator := ","
	if strings.Contains(text, "x") {
		separator = "x"
	}
	fields := strings.Split(text, separator)
	for i, f := range fields {
		n, err := strconv.Atoi(f)
		if err != nil || n < 1 || n > maxShape || i > 2 {
			return shape, fmt.Errorf("shape %s: want X, XxY or XxYxZ, numbers from 1 to 2^31-1", text)
		}
		*[]*int{&shape.X, &shape.Y, &shape.Z}[i] = n
	}
	return shape, nil
}
