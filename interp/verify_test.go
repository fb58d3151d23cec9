package interp

import (
	"fmt"

	"gemu/interp/internal/lower"
)

// In tests every kernel is verified after every pass of lowering.
func init() {
	lower.Verify = func(pass string, err error) {
		if err != nil {
			panic(fmt.Sprintf("BUG: after pass %s: %v", pass, err))
		}
	}
}
