// Package models knows the models of register files by name. A further one is a line of Known.
package models

import (
	"fmt"
	"slices"
	"strings"

	"gemu/affinetrack"
	"gemu/regfile/avc"
	"gemu/regfile/gscalar"
	"gemu/regfile/model"
	"gemu/regfile/tags"
)

// Entry is a model that can be asked for.
type Entry struct {
	Name, Doc string
	New       func() model.Model
	Warp      int // lanes of the warps that it is for; 0: any
}

// Known are the models, those of papers first, then the other policies of package affinetrack.
var Known = known()

func known() []Entry {
	list := []Entry{
		policy("kim"),
		{"avc", "Collange and Kouyoumdjian 2011: vectors of private memory in a cache of bases and strides", func() model.Model { return &cache{} }, avc.Lanes},
		{"gscalar", "Liu et al. 2017: registers compressed byte by byte", func() model.Model { return &gscalar.Model{Verify: true} }, 0},
		{"combined", "that behind tags for base and stride; not of a paper", func() model.Model { return &gscalar.Model{Verify: true, File: gscalar.Affine} }, 0},
	}
	for _, p := range affinetrack.Policies {
		if p.Name != "kim" {
			list = append(list, policy(p.Name))
		}
	}
	return list
}

// policy is the model of a policy.
func policy(name string) Entry {
	p := affinetrack.PolicyByName(name)
	return Entry{name, p.Doc, func() model.Model { return tags.New(p) }, 0}
}

// Names lists the models.
func Names() string {
	var names []string
	for _, e := range Known {
		names = append(names, e.Name)
	}
	return strings.Join(names, ", ")
}

// most is how many models stand beside each other: what is kept by which is counted by sets.
const most = 8

// Parse finds the models of a list of names with commas between.
func Parse(list string) (of []Entry, err error) {
	seen := map[string]bool{}
	for _, name := range strings.Split(list, ",") {
		name = strings.TrimSpace(name)
		i := slices.IndexFunc(Known, func(e Entry) bool { return e.Name == name })
		switch {
		case i < 0:
			return nil, fmt.Errorf("no model %q: there are %s", name, Names())
		case seen[name]:
			return nil, fmt.Errorf("model %s is there twice", name)
		case len(of) == most:
			return nil, fmt.Errorf("at most %d models at a time", most)
		}
		seen[name] = true
		of = append(of, Known[i])
	}
	return of, nil
}

// Fit gives an error if one of the models is not for warps of so many lanes.
func Fit(of []Entry, lanes int) error {
	for _, e := range of {
		if e.Warp != 0 && e.Warp != lanes {
			return fmt.Errorf("model %s is for warps of %d lanes, not of %d: leave it out", e.Name, e.Warp, lanes)
		}
	}
	return nil
}

// Beside makes models that watch the same launches.
func Beside(of []Entry) *model.Side {
	var list []model.Model
	for _, e := range of {
		list = append(list, e.New())
	}
	return model.Beside(list...)
}
