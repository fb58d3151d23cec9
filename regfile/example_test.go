package regfile_test

import (
	"fmt"

	"gemu/regfile"
)

// A row of 32 lanes has a shadow: a base and a stride in place of 32 values, until an instruction needs the lanes.
func Example() {
	f := regfile.New(nil, true)
	f.Reset(regfile.Size{R: 1}) // one row of 32 bits
	*f.Shadow32(0) = regfile.Compact{Base: 100, Stride: 4, Mask: regfile.Full}
	fmt.Println("lane 3 by the shadow:", f.Shadow32(0).At(3))
	f.Materialise32(0, 1<<3)
	fmt.Println("lane 3 in the row:", f.Row32(0)[3])
	// Output:
	// lane 3 by the shadow: 112
	// lane 3 in the row: 112
}
