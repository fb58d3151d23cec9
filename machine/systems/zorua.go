package systems

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gemu/machine"
	"gemu/machine/core"
	"gemu/machine/zorua"
	"gemu/occupancy"
)

// WarpResources returns a system that gives the resources of multiprocessors to warps, on machines with a clock.
func WarpResources(name string, mode zorua.Mode) *machine.System {
	return &machine.System{Name: name, New: func() machine.Parts {
		return machine.Parts{Residency: func(r *machine.Run, limits *occupancy.Limits, registers, assist int) (int, func(int, int64) core.Residency, error) {
			if registers == 0 {
				return 0, nil, errors.New(name + ": the number of registers is unknown: give it with --regs or .maxnreg")
			}
			p, err := zorua.NewPlan(mode, r.Launch, limits, registers, assist)
			if err != nil {
				return 0, nil, fmt.Errorf("%s: %w", name, err)
			}
			return p.Places, func(sm int, now int64) core.Residency { return p.Coordinator(sm, now) }, nil
		}}
	}}
}

// warpResources returns the maker of WarpResources, which has a mode for each value.
func warpResources(name, doc string, modes map[string]zorua.Mode) Maker {
	return Maker{Name: name, Doc: doc, New: func(value string) (*machine.System, error) {
		mode, ok := modes[value]
		switch {
		case !ok && len(modes) == 1:
			return nil, errors.New(name + " has no values")
		case !ok:
			return nil, fmt.Errorf("want %s or %s=%s", name, name, strings.Join(slices.DeleteFunc(slices.Sorted(maps.Keys(modes)), func(v string) bool { return v == "" }), ", "))
		}
		return WarpResources(strings.TrimSuffix(name+"="+value, "="), mode), nil
	}}
}
