package machine

// sliceUnit is the unit of slice sizes, in bytes (manual 10.35).
const sliceUnit = 1024

// SliceSize returns the size of each CTA's slice of per-CTA memory, in bytes; 0 without the directive .minperctamemory.
func (k *Kernel) SliceSize() uint64 {
	return (k.Kernel.PerCTAMemory() + sliceUnit - 1) / sliceUnit * sliceUnit
}
