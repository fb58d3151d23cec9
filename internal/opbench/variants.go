package opbench

import (
	"slices"
	"strings"

	"gemu/ptx"
)

// varied lists the slots of forms whose values change the work of an instruction, apart from types: List has every value
// of them. It has a single value of any other slot, such as a scope or a cache hint.
var varied = []string{"ss", "smem", "vec", "op", "num", "shape", "geom", "dim", "mode", "kind", "sp", "rnd", "scale"}

// ends lists the slots with many values in rising order; List has the first and the last.
var ends = []string{"num", "shape"}

// maxCombined is the number of combinations of types up to which List has all of them. Of more it has every type of every
// operand at least once.
const maxCombined = 16

// sameSpaces lists modifiers for a state space that another modifier also selects.
var sameSpaces = []string{"shared::cta", "shared::cluster", "param::entry", "param::func"}

// variantsOf returns the variants of a form to measure.
func variantsOf(f *ptx.Form) []*ptx.Variant {
	var list []*ptx.Variant
	add := func(choice map[string]string) {
		text := f.Op.Name
		for _, m := range f.Slots() {
			if m.Optional && (m.Name == "" || choice[m.Name] == "") {
				continue
			}
			word := m.Values[0]
			if m.Name != "" && choice[m.Name] != "" {
				word = choice[m.Name]
			}
			text += "." + word
		}
		if v, err := ptx.LookupVariant(text); err == nil && v.Form == f && !slices.Contains(list, v) {
			list = append(list, v)
		}
	}
	// combine calls add for all choices of the slots.
	var combine func(slots []ptx.Slot, choice map[string]string)
	combine = func(slots []ptx.Slot, choice map[string]string) {
		if len(slots) == 0 {
			add(choice)
			return
		}
		for _, value := range slots[0].Values {
			choice[slots[0].Name] = value
			combine(slots[1:], choice)
		}
		delete(choice, slots[0].Name)
	}
	var types, others []ptx.Slot
	combinations := 1
	for _, s := range f.Slots() {
		switch {
		case s.Name == "":
		case ptx.TypeByName(s.Values[0]) != ptx.NoType:
			types = append(types, s)
			combinations *= len(s.Values)
		case slices.Contains(varied, s.Name) && !(s.Optional && s.Name == "rnd"):
			s.Values = slices.Clone(s.Values)
			s.Values = slices.DeleteFunc(s.Values, func(v string) bool { return slices.Contains(sameSpaces, v) && s.Values[0] != v })
			if slices.Contains(ends, s.Name) && len(s.Values) > 2 {
				s.Values = []string{s.Values[0], s.Values[len(s.Values)-1]}
			}
			if s.Optional {
				s.Values = append(s.Values, "")
			}
			others = append(others, s)
		}
	}
	usual := map[string]string{} // the values of other slots while types vary
	for _, s := range others {
		if s.Name == "ss" && slices.Contains(s.Values, "global") {
			usual[s.Name] = "global"
		}
	}
	typical := map[string]string{} // the types while other slots vary
	for _, s := range types {
		for _, value := range s.Values {
			if strings.HasSuffix(value, "32") {
				typical[s.Name] = value
				break
			}
		}
	}
	switch {
	case !variesTypes(f):
	case combinations <= maxCombined:
		combine(types, usual)
	default:
		for _, s := range types {
			for _, value := range s.Values {
				choice := map[string]string{}
				for k, v := range usual {
					choice[k] = v
				}
				choice[s.Name] = value
				add(choice)
			}
		}
	}
	combine(others, typical)
	return list
}

// variesTypes reports whether List has all types of the form. Of a load or store it has them for the first form of the
// instruction only: the other forms, with another memory order or cache, have the same types.
func variesTypes(f *ptx.Form) bool {
	if f.Family != ptx.FamilyLoad && f.Family != ptx.FamilyStore {
		return true
	}
	i := slices.IndexFunc(f.Op.Forms(), func(g *ptx.Form) bool { return g.Family == f.Family })
	return f.Op.Forms()[i] == f
}
