// Package document has the documents about launches that the command and libgemu write as JSON: their types, and functions that
// make them from the results of launches. docs/json.md has their fields.
package document

import (
	"fmt"
	"iter"
	"slices"

	"gemu/interp"
	"gemu/ptx"
	"gemu/sanitize/finding"
)

// Launch is the common part of all reports. For several launches, kernel and extents
// are from the last launch.
type Launch struct {
	File       string `json:"file"`             // name of the PTX file or workload, as on the command line
	Kernel     string `json:"kernel"`           // kernel of the last launch
	Grid       [3]int `json:"grid"`             // numbers of CTAs in x, y and z
	Block      [3]int `json:"block"`            // threads of a CTA in x, y and z
	Cluster    [3]int `json:"cluster,omitzero"` // CTAs of a cluster in x, y and z; missing without clusters
	Warp       int    `json:"warp"`             // number of lanes of a warp
	Mode       string `json:"mode"`             // "check", "affine" or "vector"; "" for a recording
	Reconverge string `json:"reconverge"`       // the reconvergence policy
	Policy     string `json:"policy,omitempty"` // value policy, if value structure was counted
	Launches   int    `json:"launches"`         // number of finished launches
}

// Dims returns extents, or an index, as an array.
func Dims(d ptx.Dim3) [3]int { return [3]int{d.X, d.Y, d.Z} }

// LaunchOf describes launches that have ended, of which there must be at least one. file is their name for the reader.
func LaunchOf(file string, results []*interp.Result) Launch {
	r := results[len(results)-1]
	f := Launch{File: file, Kernel: r.Kernel, Grid: Dims(r.Grid), Block: Dims(r.Block), Cluster: Dims(r.Cluster), Warp: r.WarpSize, Mode: r.Mode.String(), Reconverge: r.Reconverge.Name(), Launches: len(results)}
	if r.Structure != nil {
		f.Policy = r.Structure.Policy.Name
	}
	return f
}

// Group is the launches with the same kernel and extent.
type Group struct {
	Kernel string `json:"kernel"` // name of the kernel
	Grid   [3]int `json:"grid"`   // numbers of CTAs in x, y and z
	Block  [3]int `json:"block"`  // threads of a CTA in x, y and z
	Count  int    `json:"count"`  // number of launches
}

// Groups groups launches.
func Groups(results []*interp.Result) []Group {
	return GroupsOf(slices.Values(results), func(l *interp.Result) Group {
		return Group{l.Kernel, Dims(l.Grid), Dims(l.Block), 0}
	})
}

// GroupsOf groups launches. group returns the group of a launch.
func GroupsOf[L any](launches iter.Seq[L], group func(L) Group) (list []Group) {
	for l := range launches {
		g := group(l)
		i := slices.IndexFunc(list, func(o Group) bool { o.Count = 0; return o == g })
		if i < 0 {
			i = len(list)
			list = append(list, g)
		}
		list[i].Count++
	}
	return list
}

// String returns the kernel with its extents, and the number of launches if there are several.
func (g Group) String() string {
	s := fmt.Sprintf("%s, grid (%d,%d,%d) of blocks (%d,%d,%d)", finding.Name(g.Kernel), g.Grid[0], g.Grid[1], g.Grid[2], g.Block[0], g.Block[1], g.Block[2])
	if g.Count > 1 {
		s += fmt.Sprintf(", %d times", g.Count)
	}
	return s
}
