package machine

import (
	"slices"

	"gemu/interp/internal/code"
)

// ZeroRows returns the rows to zero at a warp's beginning: first the kernel's, then the reference's.
func (k *Kernel) ZeroRows() []code.Row {
	list := slices.Clone(k.Entry.Zero)
	if k.CheckReference != nil {
		for _, r := range k.CheckReference.Entry.Zero {
			list = append(list, r.Add(k.Entry.Frame))
		}
	}
	return list
}
