package interp

// This file is how a function is lowered: the passes, in order. Read it first.

// pass is a step of lowering a function.
type pass struct {
	name   string
	needs  []string // passes that must have run before
	affine bool     // only for affine mode
	run    func(l *lowerer)
}

var passes = []pass{
	// The instructions of the machine that each PTX instruction becomes. Every register
	// and every temporary has a row of its own.
	{name: "select", run: (*lowerer).selectCode},

	// Which registers are kept compactly, which have one value in the whole launch, and
	// how each instruction executes then.
	{name: "plan", needs: []string{"select"}, affine: true, run: (*lowerer).plan},

	// The rows of the register file: what is not alive together shares them.
	{name: "allocate", needs: []string{"select"}, run: (*lowerer).allocate},
}
