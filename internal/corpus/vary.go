package corpus

// This file makes additional launches to run on a GPU, which are not stored in the repository.

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"gemu/ptx"
)

// VaryLaunches lists n variations of each launch whose kernel derives its operands from a seed, as matrix kernels do.
// Such a kernel masks the random bits of matrix x with its parameters xand and xor. A third of the variations keeps the masks. A
// third has no masks for the factors (a, b and the scales s). The last third has none for the accumulator (c or d), either.
func VaryLaunches(list []*Launch, n int) (varied []*Launch, err error) {
	random := rand.New(rand.NewPCG(1, 0))
	var id identifier
	for _, l := range list {
		m, err := ptx.ParseString(l.Module, l.Source)
		if err != nil {
			return nil, err
		}
		at := slices.IndexFunc(m.Kernels(), func(k *ptx.Func) bool { return k.Name == l.Kernel })
		if at < 0 {
			return nil, fmt.Errorf("%s: no kernel %s", l.Module, l.Kernel)
		}
		k := m.Kernels()[at]
		if len(k.Params) == 0 || k.Params[0].Name != "seed" {
			continue
		}
		for i := range n {
			variant := *l
			variant.Args = append([]Arg{}, l.Args...)
			set := func(at int, v uint32) {
				variant.Args[at] = Arg{Bytes: binary.LittleEndian.AppendUint32(nil, v), Buffer: -1}
			}
			set(0, random.Uint32())
			for at, p := range k.Params {
				matrix, setAnd := strings.CutSuffix(p.Name, "and")
				matrix, setOr := strings.CutSuffix(matrix, "or")
				factors := matrix == "a" || matrix == "b" || matrix == "s"
				switch all := i%3 == 1 && factors || i%3 == 2 && (factors || matrix == "c" || matrix == "d"); {
				case all && setAnd:
					set(at, 1<<32-1)
				case all && setOr:
					set(at, 0)
				}
			}
			variant.Name = fmt.Sprintf("%s, variation %d", l.Name, i)
			if err := id.identify(&variant); err != nil {
				return nil, err
			}
			varied = append(varied, &variant)
		}
	}
	return varied, nil
}
