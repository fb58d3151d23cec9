package interp

import (
	"fmt"
	"strings"

	"gemu/interp/internal/machine"
)

// Mode is the kind of execution of a launch's instructions.
type Mode uint8

// The modes. All give the same results.
const (
	// Check executes each instruction as Affine does, executes it again on vectors, and compares the results.
	Check Mode = Mode(machine.Check)
	// Affine executes on compact operands where the rules of package affinetrack allow it and it pays, and on vectors elsewhere.
	Affine Mode = Mode(machine.Affine)
	// Vector executes on vectors only.
	Vector Mode = Mode(machine.Vector)
)

// Modes returns all modes, the default first.
func Modes() []Mode { return []Mode{Check, Affine, Vector} }

// ParseMode returns the mode of a name: check, affine or vector.
func ParseMode(name string) (Mode, error) {
	for _, m := range Modes() {
		if m.String() == name {
			return m, nil
		}
	}
	return 0, fmt.Errorf("want %s", joinNames(Modes()))
}

// String returns the name of the mode.
func (m Mode) String() string {
	if m > Vector {
		return fmt.Sprintf("mode %d", uint8(m))
	}
	return machine.Mode(m).String()
}

// joinNames returns the names of values, with commas.
func joinNames[T fmt.Stringer](list []T) string {
	var names []string
	for _, v := range list {
		names = append(names, v.String())
	}
	return strings.Join(names, ", ")
}
