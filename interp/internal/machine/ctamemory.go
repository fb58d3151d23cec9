package machine

// sliceUnit is the number of bytes of which the size of a slice is a multiple (manual 10.35).
const sliceUnit = 1024

// SliceSize is the bytes of per-CTA memory that each CTA of a launch of the kernel has, 0 without the directive .minperctamemory.
func (k *Kernel) SliceSize() uint64 {
	return (k.Kernel.PerCTAMemory() + sliceUnit - 1) / sliceUnit * sliceUnit
}
