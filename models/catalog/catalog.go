// Package catalog knows the models of register files by name. A further one is a line of Known.
package catalog

import (
	"fmt"
	"slices"
	"strings"

	"gemu/affinetrack"
	"gemu/models"
	"gemu/models/avc"
	"gemu/models/gscalar"
	"gemu/models/tags"
)

// Entry is a model that can be asked for.
type Entry struct {
	Name, Doc string
	New       func() models.Model
	Warp      int  // lanes of the warps that it is for; 0: any
	Default   bool // it is among those that are taken where none is asked for
}

// Known are the models, those of papers first, then the other policies of package affinetrack.
var Known = known()

func known() []Entry {
	kim := policyEntry("kim")
	kim.Default = true
	list := []Entry{
		kim,
		{Name: "avc", Doc: "Collange and Kouyoumdjian 2011: vectors of private memory in a cache of bases and strides", New: func() models.Model { return &cache{} }, Warp: avc.Lanes, Default: true},
		{Name: "gscalar", Doc: "Liu et al. 2017: registers compressed byte by byte", New: func() models.Model { return &gscalar.Model{Verify: true} }, Default: true},
		{Name: "combined", Doc: "that behind tags for base and stride; not of a paper", New: func() models.Model { return &gscalar.Model{Verify: true, File: gscalar.Affine} }},
	}
	for _, p := range affinetrack.Policies {
		if p.Name != "kim" {
			list = append(list, policyEntry(p.Name))
		}
	}
	return list
}

// policyEntry is the model of a policy.
func policyEntry(name string) Entry {
	p := affinetrack.PolicyByName(name)
	return Entry{Name: name, Doc: p.Doc, New: func() models.Model { return tags.New(p) }}
}

// Names lists the models.
func Names() string { return joinNames(Known, ", ") }

// DefaultNames lists those that are taken where none is asked for, with commas between.
func DefaultNames() string {
	return joinNames(slices.DeleteFunc(slices.Clone(Known), func(e Entry) bool { return !e.Default }), ",")
}

func joinNames(entries []Entry, separator string) string {
	var list []string
	for _, e := range entries {
		list = append(list, e.Name)
	}
	return strings.Join(list, separator)
}

// maxModels is how many models stand beside each other: what is kept by which is counted by sets.
const maxModels = 8

// Parse finds the models of a list of names with commas between.
func Parse(list string) (entries []Entry, err error) {
	seen := map[string]bool{}
	for _, name := range strings.Split(list, ",") {
		name = strings.TrimSpace(name)
		i := slices.IndexFunc(Known, func(e Entry) bool { return e.Name == name })
		switch {
		case i < 0:
			return nil, fmt.Errorf("no model %q: there are %s", name, Names())
		case seen[name]:
			return nil, fmt.Errorf("model %s is there twice", name)
		case len(entries) == maxModels:
			return nil, fmt.Errorf("at most %d models at a time", maxModels)
		}
		seen[name] = true
		entries = append(entries, Known[i])
	}
	return entries, nil
}

// Default are the models of the papers that are compared, those of them that are for warps of so many lanes.
func Default(lanes int) (entries []Entry) {
	for _, e := range Known {
		if e.Default && e.fits(lanes) {
			entries = append(entries, e)
		}
	}
	return entries
}

// Select is the models of a list, as Parse has it, or the default ones of an empty list, for warps of so
// many lanes. The error says which is not.
func Select(list string, lanes int) ([]Entry, error) {
	if list == "" {
		return Default(lanes), nil
	}
	entries, err := Parse(list)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if !e.fits(lanes) {
			return nil, fmt.Errorf("model %s is for warps of %d lanes, not of %d: leave it out", e.Name, e.Warp, lanes)
		}
	}
	return entries, nil
}

func (e *Entry) fits(lanes int) bool { return e.Warp == 0 || e.Warp == lanes }

// Watch makes models that watch the same launches.
func Watch(entries []Entry) *models.Comparison {
	var list []models.Model
	for _, e := range entries {
		list = append(list, e.New())
	}
	return models.Watch(list...)
}
