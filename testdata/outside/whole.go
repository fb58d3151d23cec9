package main

import (
	"errors"

	"gemu/cli"
	"gemu/machine"
	"gemu/machine/cache"
	"gemu/machine/codec"
	"gemu/machine/core"
)

// whole is a system with a scheduler of warps, a policy of the L2 and a compression of memory.
var whole = cli.System{
	Name: "whole", Doc: "the warp that began last, the L2 of stack, and lines of zeros in a burst",
	New: func(value string) (*machine.System, error) {
		if value != "" {
			return nil, errors.New("want whole without a value")
		}
		return &machine.System{Name: "whole", New: func() machine.Parts {
			return machine.Parts{
				Scheduler: &core.Policy{Name: "youngest", New: func(uint64) core.Scheduler { return youngest{} }},
				L2:        func(s cache.Shape) cache.Policy { return &newest{make([]int, s.Sets)} },
				Codec:     zeros,
			}
		}}, nil
	},
}

// zeros stores a line of zeros as a byte.
func zeros(_ uint64, l *codec.Line) (bytes int) {
	if *l == (codec.Line{}) {
		return 1
	}
	return codec.LineBytes
}
