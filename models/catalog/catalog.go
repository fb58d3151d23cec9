// Package catalog lists the models of register files by name. A new model is a line of Known.
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

// Entry is a model that can be chosen by name.
type Entry struct {
	Name, Doc string              // unique name without spaces and commas, and a line about the model
	New       func() models.Model // makes a model for one device; must not return nil
	Warp      int                 // required number of lanes in a warp; 0: any
	Default   bool                // chosen if the user names no models
}

// Known are the models: first the models of papers, then the other policies of package affinetrack.
var Known = known()

func known() []Entry {
	kim := policyEntry("kim")
	kim.Default = true
	list := []Entry{
		kim,
		{Name: "avc", Doc: "Collange and Kouyoumdjian 2011: a cache of private-memory vectors with base and stride", New: func() models.Model { return &cache{} }, Warp: avc.Lanes, Default: true},
		{Name: "gscalar", Doc: "Liu et al. 2017: registers compressed byte by byte", New: func() models.Model { return &gscalar.Model{Verify: true} }, Default: true},
		{Name: "combined", Doc: "tags for base and stride, then the compression of gscalar; not from a paper", New: func() models.Model { return &gscalar.Model{Verify: true, File: gscalar.Affine} }},
	}
	for _, p := range affinetrack.Policies {
		if p.Name != "kim" {
			list = append(list, policyEntry(p.Name))
		}
	}
	return list
}

// policyEntry returns the model of a policy.
func policyEntry(name string) Entry {
	p := affinetrack.PolicyByName(name)
	return Entry{Name: name, Doc: p.Doc, New: func() models.Model { return tags.New(p) }}
}

// All returns the models, Known and further ones.
func All(further ...Entry) []Entry { return slices.Concat(Known, further) }

// Names returns the names of all models, Known and further ones, separated by commas and spaces.
func Names(further ...Entry) string { return joinNames(All(further...), ", ") }

// DefaultNames returns the names of the default models, separated by commas.
func DefaultNames(further ...Entry) string {
	return joinNames(slices.DeleteFunc(All(further...), func(e Entry) bool { return !e.Default }), ",")
}

func joinNames(entries []Entry, separator string) string {
	var list []string
	for _, e := range entries {
		list = append(list, e.Name)
	}
	return strings.Join(list, separator)
}

// maxModels is the largest number of models in a comparison, which counts by sets of models.
const maxModels = 8

// Parse returns the models of a list of names with commas between them, of Known and further ones.
func Parse(list string, further ...Entry) (entries []Entry, err error) {
	known := All(further...)
	seen := map[string]bool{}
	for _, name := range strings.Split(list, ",") {
		name = strings.TrimSpace(name)
		i := slices.IndexFunc(known, func(e Entry) bool { return e.Name == name })
		switch {
		case i < 0:
			return nil, fmt.Errorf("unknown model %q: want some of %s", name, Names(further...))
		case seen[name]:
			return nil, fmt.Errorf("model %s is given twice", name)
		case len(entries) == maxModels:
			return nil, fmt.Errorf("at most %d models at a time", maxModels)
		}
		seen[name] = true
		entries = append(entries, known[i])
	}
	return entries, nil
}

// Default returns the default models, of Known and further ones, for warps of the given number of lanes.
func Default(lanes int, further ...Entry) (entries []Entry) {
	for _, e := range All(further...) {
		if e.Default && e.fits(lanes) {
			entries = append(entries, e)
		}
	}
	return entries
}

// Select returns the models of a list of names, of Known and further ones, or the default models if the list is empty. A model
// that does not fit warps of the given number of lanes is an error.
func Select(list string, lanes int, further ...Entry) ([]Entry, error) {
	if list == "" {
		return Default(lanes, further...), nil
	}
	entries, err := Parse(list, further...)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if !e.fits(lanes) {
			return nil, fmt.Errorf("model %s supports warps of %d lanes, not of %d: leave it out", e.Name, e.Warp, lanes)
		}
	}
	return entries, nil
}

func (e *Entry) fits(lanes int) bool { return e.Warp == 0 || e.Warp == lanes }

// Watch makes models and returns a probe through which they watch the same launches. It panics if a function New returns nil.
func Watch(entries []Entry) *models.Comparison {
	var list []models.Model
	for _, e := range entries {
		m := e.New()
		if m == nil {
			panic(fmt.Sprintf("catalog: New of model %s has returned nil", e.Name))
		}
		list = append(list, m)
	}
	return models.Watch(list...)
}
