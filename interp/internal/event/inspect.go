package event

import (
	"gemu/interp/internal/machine"
	"gemu/interp/internal/mem"
)

// CopyLocal copies local memory of a lane to p, from a byte offset on, and returns the number of bytes copied.
func CopyLocal(w *machine.Warp, p []byte, lane int, offset uint64) (n int) {
	local := w.Local[lane/mem.Lanes]
	for n < len(p) && offset/4 < uint64(len(local)) {
		p[n] = byte(local.Load(int(offset), lane%mem.Lanes, 1))
		n, offset = n+1, offset+1
	}
	return n
}
