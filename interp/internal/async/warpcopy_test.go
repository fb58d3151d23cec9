package async

import (
	"testing"

	"gemu/regfile"
)

// TestAreAdjacent: areAdjacent compares the address of every lane.
func TestAreAdjacent(t *testing.T) {
	for _, size := range []uint64{4, 8, 16} {
		for _, base := range []uint64{0, 0x240, 0x1000_0000, ^uint64(0) - 100} {
			var adjacent regfile.Row64
			for i := range adjacent {
				adjacent[i] = base + uint64(i)*size
			}
			if !areAdjacent(&adjacent, size) {
				t.Errorf("adjacent addresses from %#x on, %d bytes apart, are not recognised", base, size)
			}
			for lane := range adjacent {
				for _, mask := range []int{15, 7, 1, 0} {
					row := adjacent
					if row[lane] = base + uint64(lane&mask)*size; row != adjacent && areAdjacent(&row, size) {
						t.Errorf("base %#x, size %d: lane %d has address %#x", base, size, lane, row[lane])
					}
				}
			}
			for _, mask := range []int{1, 3, 7, 15} {
				row := adjacent
				for i := range row {
					row[i] = base + uint64(i&mask)*size
				}
				if areAdjacent(&row, size) {
					t.Errorf("base %#x, size %d: addresses repeat after %d lanes", base, size, mask+1)
				}
			}
		}
	}
}
