package affinetrack_test

// This file compares both domains with lane-by-lane execution. Random programs execute on the lanes of a warp, in Go's
// integers by the manual's definitions, and at the same time on spacings. After each instruction the values of the lanes
// must have the spacing.

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	. "gemu/affinetrack"
	"gemu/internal/part"
	"gemu/ptx"
)

// numberOf returns the number that the instruction reads from an operand's slot: the low bits, sign-extended or
// zero-extended.
func numberOf(op *Operation, slot uint64) uint64 {
	unused := 64 - op.Width
	if op.Signed {
		return uint64(int64(slot<<unused) >> unused)
	}
	return slot << unused >> unused
}

// isLess compares two numbers.
func isLess(op *Operation, x, y uint64) bool {
	if op.Signed {
		return int64(x) < int64(y)
	}
	return x < y
}

// laneRule is the effect of an instruction on one lane.
type laneRule struct {
	operands int
	amounts  bool // operands after the first are .u32, regardless of the type

	// compute returns the result for operands in their slots; it is taken modulo 2^Out. defined is false if the manual does
	// not define a result.
	compute func(op *Operation, x, y, z uint64) (result uint64, defined bool)
}

// onNumbers is a laneRule of two operands that are numbers of the instruction's type, with a result in all cases.
func onNumbers(compute func(op *Operation, x, y uint64) uint64) laneRule {
	return laneRule{operands: 2, compute: func(op *Operation, x, y, _ uint64) (uint64, bool) {
		return compute(op, numberOf(op, x), numberOf(op, y)), true
	}}
}

// onNumber is onNumbers for one operand.
func onNumber(compute func(op *Operation, x uint64) uint64) laneRule {
	return laneRule{operands: 1, compute: func(op *Operation, x, _, _ uint64) (uint64, bool) { return compute(op, numberOf(op, x)), true }}
}

// laneRules has the definition of every rule, from the section of the manual in its comment.
var laneRules = map[ptx.Affine]laneRule{
	ptx.AffineMove:    onNumber(func(_ *Operation, x uint64) uint64 { return x }),         // 9.7.9.2
	ptx.AffineConvert: onNumber(func(_ *Operation, x uint64) uint64 { return x }),         // 9.7.9.21
	ptx.AffineAdd:     onNumbers(func(_ *Operation, x, y uint64) uint64 { return x + y }), // 9.7.1.1
	ptx.AffineSub:     onNumbers(func(_ *Operation, x, y uint64) uint64 { return x - y }), // 9.7.1.2
	ptx.AffineMul:     onNumbers(func(_ *Operation, x, y uint64) uint64 { return x * y }), // 9.7.1.3
	ptx.AffineNeg:     onNumber(func(_ *Operation, x uint64) uint64 { return -x }),        // 9.7.1.11
	ptx.AffineNot:     onNumber(func(_ *Operation, x uint64) uint64 { return ^x }),        // 9.7.8.4
	ptx.AffineAnd:     onNumbers(func(_ *Operation, x, y uint64) uint64 { return x & y }), // 9.7.8.1
	ptx.AffineOr:      onNumbers(func(_ *Operation, x, y uint64) uint64 { return x | y }), // 9.7.8.2
	ptx.AffineXor:     onNumbers(func(_ *Operation, x, y uint64) uint64 { return x ^ y }), // 9.7.8.3
	ptx.AffineAbs: onNumber(func(_ *Operation, x uint64) uint64 { // 9.7.1.10
		if int64(x) < 0 {
			return -x
		}
		return x
	}),
	ptx.AffineMin: onNumbers(func(op *Operation, x, y uint64) uint64 { // 9.7.1.12
		if isLess(op, y, x) {
			return y
		}
		return x
	}),
	ptx.AffineMax: onNumbers(func(op *Operation, x, y uint64) uint64 { // 9.7.1.13
		if isLess(op, x, y) {
			return y
		}
		return x
	}),
	ptx.AffineMad: {operands: 3, compute: func(op *Operation, x, y, z uint64) (uint64, bool) { // 9.7.1.4
		return numberOf(op, x)*numberOf(op, y) + z, true
	}},
	ptx.AffineShl: {operands: 2, amounts: true, compute: func(op *Operation, x, k, _ uint64) (uint64, bool) { // 9.7.8.8
		return x << min(k, uint64(op.Width)), true
	}},
	ptx.AffineShr: {operands: 2, amounts: true, compute: func(op *Operation, x, k, _ uint64) (uint64, bool) { // 9.7.8.9
		if op.Signed {
			return uint64(int64(numberOf(op, x)) >> min(k, uint64(op.Width))), true
		}
		return numberOf(op, x) >> min(k, uint64(op.Width)), true
	}},
	ptx.AffineBfe: {operands: 3, amounts: true, compute: func(op *Operation, x, pos, n uint64) (uint64, bool) { // 9.7.1.19
		if op.Width == 32 { // 64 bits: docs/design/arithmetic.md
			pos, n = pos&0xff, n&0xff
		}
		field := uint64(0)
		for i := range min(n, uint64(op.Width)) {
			if from := pos + i; from < uint64(op.Width) {
				field |= x >> from & 1 << i
			}
		}
		return field, !op.Signed
	}},
	ptx.AffineDiv: {operands: 2, compute: func(op *Operation, x, y, _ uint64) (uint64, bool) { // 9.7.1.8
		x, y = numberOf(op, x), numberOf(op, y)
		switch {
		case y == 0:
			return 0, false
		case op.Signed:
			return uint64(int64(x) / int64(y)), true
		}
		return x / y, true
	}},
	ptx.AffineRem: {operands: 2, compute: func(op *Operation, x, y, _ uint64) (uint64, bool) { // 9.7.1.9
		x, y = numberOf(op, x), numberOf(op, y)
		switch {
		case y == 0:
			return 0, false
		case op.Signed:
			return uint64(int64(x) % int64(y)), true
		}
		return x % y, true
	}},
	ptx.AffineSelect: {operands: 3, compute: func(op *Operation, x, y, p uint64) (uint64, bool) { // 9.7.6.3
		if p != 0 {
			return x, true
		}
		return y, true
	}},
	ptx.AffineCompare: {operands: 2, compute: func(op *Operation, x, y, _ uint64) (uint64, bool) { // 9.7.6.2
		x, y = numberOf(op, x), numberOf(op, y)
		holds := map[Cmp]bool{Eq: x == y, Ne: x != y, Lt: isLess(op, x, y), Le: !isLess(op, y, x), Gt: isLess(op, y, x), Ge: !isLess(op, x, y)}[op.Cmp]
		if holds {
			return 1, true
		}
		return 0, true
	}},
}

// withoutSpacing has the rules without a transfer on spacings, with the reason.
var withoutSpacing = map[ptx.Affine]string{
	ptx.AffineShr:     "the distance depends on the base",
	ptx.AffineDiv:     "the distance depends on the base",
	ptx.AffineRem:     "the distance depends on the base",
	ptx.AffineBfe:     "the distance depends on the base",
	ptx.AffineAbs:     "the distance depends on the base",
	ptx.AffineAnd:     "the distance depends on the base",
	ptx.AffineOr:      "the distance depends on the base",
	ptx.AffineXor:     "the distance depends on the base",
	ptx.AffineCompare: "a predicate has no distances",
}

// notArithmetic has the rules of instructions that do not compute from registers alone.
var notArithmetic = []ptx.Affine{ptx.AffineNone, ptx.AffineUniform, ptx.AffineAddress, ptx.AffineLoad, ptx.AffineStore, ptx.AffineBranch, ptx.AffineWarp}

// TestEveryRuleHasBothDomains checks that each rule has a transfer on values and on spacings, or is listed without it, and
// that the tests of this file have its definition.
func TestEveryRuleHasBothDomains(t *testing.T) {
	for r := range ptx.AffineCount {
		rule := &Rules[r]
		_, defined := laneRules[r]
		reason := withoutSpacing[r]
		switch {
		case slices.Contains(notArithmetic, r):
			if rule.Apply != nil || rule.Spacing != nil || defined || reason != "" {
				t.Errorf("rule %s is arithmetic: it must not be in notArithmetic", r)
			}
		case rule.Apply == nil:
			t.Errorf("rule %s has no function Apply, and is not in notArithmetic", r)
		case !defined:
			t.Errorf("rule %s has no definition in laneRules", r)
		case (rule.Spacing == nil) != (reason != ""):
			t.Errorf("rule %s has %d transfers on spacings, and in withoutSpacing the reason %q; want either", r, len(rule.Spacing), reason)
		}
	}
}

// operationTypes returns the types of a rule's instructions that the random programs use.
func operationTypes(rule ptx.Affine) []shape {
	plain := []shape{{16, 16, false}, {16, 16, true}, {32, 32, false}, {32, 32, true}, {64, 64, false}, {64, 64, true}}
	switch rule {
	case ptx.AffineMul, ptx.AffineMad:
		return append(plain, shape{16, 32, false}, shape{16, 32, true}, shape{32, 64, false}, shape{32, 64, true})
	case ptx.AffineConvert:
		return append(plain, shape{16, 32, true}, shape{16, 64, false}, shape{32, 16, true}, shape{32, 64, false}, shape{32, 64, true}, shape{64, 32, false}, shape{64, 32, true}, shape{64, 16, false})
	case ptx.AffineAbs:
		return []shape{{16, 16, true}, {32, 32, true}, {64, 64, true}}
	case ptx.AffineBfe:
		return []shape{{32, 32, false}, {64, 64, false}}
	case ptx.AffineCompare:
		return []shape{{16, 1, true}, {32, 1, false}, {32, 1, true}, {64, 1, false}, {64, 1, true}}
	}
	return plain
}

// laneRegister is a register of a random program: its spacing, and its values in the lanes.
type laneRegister struct {
	Spacing
	values   [WholeRow]uint64
	constant bool
}

// laneProgram is a random program under execution. It has registers by the width of their type: 1 for predicates.
type laneProgram struct {
	*rand.Rand
	table     *Table
	registers map[int][]laneRegister
	seen      map[seenResult]int // number of results

	// Most numbers are multiples of 2^grain. With a large grain, arithmetic of 32 bits is that of a few bits, and numbers
	// often meet at the bounds at which they wrap or are clamped.
	grain int
}

// seenResult is a kind of result.
type seenResult struct {
	rule  ptx.Affine
	form  int // index in Rule.Spacing; -1 if the operands are uniform
	wraps bool
	bound Bound
}

// newLaneProgram returns a program whose registers have values of all kinds: uniform, progressions, constants and unknown.
func newLaneProgram(r *rand.Rand, table *Table, seen map[seenResult]int) *laneProgram {
	p := &laneProgram{r, table, map[int][]laneRegister{}, seen, []int{0, 24, 25, 26}[r.IntN(4)]}
	for _, width := range []int{1, 16, 32, 64} {
		for range 2 {
			p.add(width, p.uniform(width, uint8(HalfRow<<p.IntN(2))))
		}
		p.add(width, p.unknown(width))
	}
	for _, width := range []int{16, 32, 64} {
		p.add(width, p.progression(width))
		p.add(width, p.progression(width))
		for i := range 4 {
			c := p.uniform(width, WholeRow)
			if i == 3 && width > 16 {
				c.values = sameInAllLanes(1 << p.IntN(32))
			}
			c.constant = true
			p.add(width, c)
		}
	}
	return p
}

func (p *laneProgram) add(width int, r laneRegister) {
	p.registers[width] = append(p.registers[width], r)
}

// sameInAllLanes returns a value for each lane.
func sameInAllLanes(v uint64) [WholeRow]uint64 {
	return [WholeRow]uint64(slices.Repeat([]uint64{v}, WholeRow))
}

// number returns a number, often small, or near a number at which arithmetic of 32 or 64 bits wraps.
func (p *laneProgram) number(width int) uint64 {
	v := uint64(p.IntN(70)) - 5
	kind := p.IntN(6)
	if p.grain > 0 && width > 16 && p.IntN(8) > 0 {
		v, kind = v<<p.grain, 5
	}
	switch kind {
	case 0, 1:
		v += 1 << p.IntN(64)
	case 2:
		v += 1<<31 - uint64(p.IntN(1<<12))
	case 3:
		v = p.Uint64() >> p.IntN(64)
	case 4:
		v <<= p.IntN(30)
	}
	return v & (^uint64(0) >> (64 - width))
}

// uniform returns a register with one value in each group.
func (p *laneProgram) uniform(width int, group uint8) (r laneRegister) {
	r.Spacing = Spacing{Group: group}
	for lane := range r.values {
		if lane%int(group) == 0 {
			r.values[lane] = p.number(width)
		} else {
			r.values[lane] = r.values[lane-1]
		}
	}
	return r
}

// progression returns a register with the same stride in each group. A progression of 16 bits does not wrap, because its
// spacing is that of its slot.
func (p *laneProgram) progression(width int) (r laneRegister) {
	r.Group = uint8(HalfRow << p.IntN(2))
	r.Stride = []int64{1, 4, -1, int64(p.IntN(200)) - 100, 1 << p.IntN(63), int64(p.Uint64()) >> p.IntN(63), 1 << 26, -1 << 26, 1<<26 + 1}[p.IntN(9)]
	if p.grain > 0 {
		r.Stride = int64(p.IntN(7)-2) << (p.grain - p.IntN(2))
	}
	if width == 16 {
		r.Stride = int64(p.IntN(100))
	}
	if width <= 32 {
		r.Stride = int64(int32(r.Stride))
	}
	for lane := range r.values {
		switch {
		case lane%int(r.Group) > 0:
			r.values[lane] = r.values[lane-1] + uint64(r.Stride)
		case width == 16:
			r.values[lane] = uint64(p.IntN(1 << 14))
		default:
			r.values[lane] = p.number(width)
		}
		r.values[lane] &= ^uint64(0) >> (64 - width)
	}
	return r
}

// unknown returns a register with any values.
func (p *laneProgram) unknown(width int) (r laneRegister) {
	for lane := range r.values {
		r.values[lane] = p.number(width)
	}
	return r
}

// pick returns operand i of an instruction, a register of a width. The first is often the newest, for long dependences,
// and the second often a constant or uniform.
func (p *laneProgram) pick(width, i int) *laneRegister {
	list := p.registers[width]
	switch kind := p.IntN(4); {
	case i == 0 && kind > 0, kind == 0:
		return &list[len(list)-1]
	case kind == 1:
		return p.search(list, func(r *laneRegister) bool { return r.IsUniformInGroup() })
	case kind == 2:
		return p.search(list, func(r *laneRegister) bool { return r.constant })
	}
	return &list[p.IntN(len(list))]
}

// search returns a random register, with a property if it finds one soon.
func (p *laneProgram) search(list []laneRegister, has func(*laneRegister) bool) *laneRegister {
	r := &list[p.IntN(len(list))]
	for range 10 {
		if has(r) {
			break
		}
		r = &list[p.IntN(len(list))]
	}
	return r
}

// step executes a random instruction on both domains, and describes a difference.
func (p *laneProgram) step() error {
	rules := slices.Collect(func(yield func(ptx.Affine) bool) {
		for r := range ptx.AffineCount {
			if _, ok := laneRules[r]; ok && !yield(r) {
				return
			}
		}
	})
	rule := rules[p.IntN(len(rules))]
	if p.IntN(3) > 0 { // prefer rules whose transfers have conditions
		rule = []ptx.Affine{ptx.AffineAdd, ptx.AffineMul, ptx.AffineMad, ptx.AffineMin, ptx.AffineMax, ptx.AffineConvert, ptx.AffineSelect, ptx.AffineShl}[p.IntN(8)]
	}
	types := operationTypes(rule)
	s := types[p.IntN(len(types))]
	if p.IntN(3) == 0 {
		s = types[min(3, len(types)-1)] // signed 32-bit numbers, for most rules
	}
	return p.execute(rule, s)
}

// address executes some instructions of the computation of an address at the border of an image: a clamped coordinate,
// moved, widened and multiplied by the size of an element.
func (p *laneProgram) address() error {
	number, wide, address := shape{32, 32, true}, shape{32, 64, true}, shape{64, 64, true}
	wide.signed = p.IntN(2) == 0
	type instruction struct {
		rule ptx.Affine
		shape
	}
	oneOf := func(rules ...ptx.Affine) ptx.Affine { return rules[p.IntN(len(rules))] }
	list := []instruction{
		{ptx.AffineMax, number}, {ptx.AffineMin, number}, {oneOf(ptx.AffineAdd, ptx.AffineSub), number},
		{oneOf(ptx.AffineConvert, ptx.AffineMul, ptx.AffineMad), wide},
		{oneOf(ptx.AffineShl, ptx.AffineMul, ptx.AffineMad, ptx.AffineSelect), address}, {ptx.AffineAdd, address},
	}
	switch p.IntN(4) {
	case 0: // the address is a sum of two numbers that may have wrapped
		list = []instruction{{ptx.AffineConvert, wide}, {oneOf(ptx.AffineConvert, ptx.AffineMul), wide}, {oneOf(ptx.AffineAdd, ptx.AffineSub), address}}
	case 1: // the coordinate is clamped again
		list = slices.Insert(list, 3, instruction{oneOf(ptx.AffineMin, ptx.AffineMax), number})
	case 2: // the address is narrowed
		list = append(list, instruction{ptx.AffineConvert, shape{64, 32, false}})
	}
	for _, i := range list {
		if p.IntN(5) == 0 {
			continue
		}
		if err := p.execute(i.rule, i.shape); err != nil {
			return err
		}
	}
	return nil
}

// execute executes an instruction of a rule on random registers.
func (p *laneProgram) execute(rule ptx.Affine, s shape) error {
	definition := laneRules[rule]
	op := s.operation(rule, slotOf(s.out))
	if rule == ptx.AffineCompare {
		op.Cmp = Cmp(1 + p.IntN(int(Ge)))
	}
	var operands []*laneRegister
	swapped := p.IntN(4) / 3
	for i := range definition.operands {
		role := i
		if i < 2 && !definition.amounts {
			role ^= swapped
		}
		o := p.pick(operandWidth(&op, i), role)
		switch {
		case rule == ptx.AffineSelect && i == 1 && p.IntN(3) == 0:
			o = operands[0]
		case definition.amounts && i > 0 && p.IntN(2) == 0:
			o = constantRegister(uint64(p.IntN(40)))
		}
		operands = append(operands, o)
	}
	result, err := executeBoth(p.table, op, operands, p.seen)
	if err == nil && result != nil {
		p.add(s.out, p.merged(s.out, *result))
	}
	return err
}

// operandWidth returns the width of an operand's type.
func operandWidth(op *Operation, i int) int {
	switch {
	case op.Rule == ptx.AffineSelect && i == 2:
		return 1
	case op.Rule == ptx.AffineMad && i == 2:
		return int(op.Out)
	case laneRules[op.Rule].amounts && i > 0:
		return 32
	}
	return int(op.Width)
}

// constantRegister returns a constant.
func constantRegister(v uint64) *laneRegister {
	return &laneRegister{Spacing{Group: WholeRow}, sameInAllLanes(v), true}
}

// executeBoth executes an instruction on both domains, compares the results, and counts the result. The result is nil if
// it is not defined in all lanes.
func executeBoth(table *Table, op Operation, operands []*laneRegister, seen map[seenResult]int) (*laneRegister, error) {
	a := SpacingArgs{Operation: op}
	for i := range a.Spacings {
		a.Spacings[i] = Spacing{Group: WholeRow}
		if i < len(operands) {
			a.Spacings[i] = operands[i].Spacing
			if operands[i].constant {
				a.Constants[i] = constantOf(&op, operands[i].values[0], operandWidth(&op, i))
			}
		}
	}
	result := &laneRegister{Spacing: table.TransferSpacing(&a)}
	for lane := range result.values {
		var x [3]uint64
		for i := range operands {
			x[i] = operands[i].values[lane]
		}
		v, defined := laneRules[op.Rule].compute(&op, x[0], x[1], x[2])
		if !defined {
			return nil, nil
		}
		result.values[lane] = v & (^uint64(0) >> (64 - op.Out))
	}
	countResult(table, &a, result.Spacing, seen)
	if err := result.check(int(op.Slot)); err != nil {
		return nil, fmt.Errorf("%s of %d bits to %d, signed %v, of %+v, constants %+v: %+v, but %v", op.Rule, op.Width, op.Out, op.Signed, a.Spacings[:len(operands)], a.Constants[:len(operands)], result.Spacing, err)
	}
	return result, nil
}

// constantOf returns a constant operand as an operation reads it. The slot of a value has its width, and 32 bits at least.
func constantOf(op *Operation, v uint64, width int) Constant {
	if width <= 32 && op.Signed {
		v = uint64(int64(int32(v)))
	}
	return Constant{int64(v), true}
}

// countResult counts a result by its kind, if something is known of it.
func countResult(table *Table, a *SpacingArgs, r Spacing, seen map[seenResult]int) {
	if r.Group == 0 {
		return
	}
	form := slices.IndexFunc(table[a.Rule].Spacing, func(f SpacingForm) bool { return f.Widths.Match(&a.Operation) })
	if !slices.ContainsFunc(a.Spacings[:], func(s Spacing) bool { return !s.IsUniformInGroup() }) {
		form = -1
	}
	seen[seenResult{a.Rule, form, r.Wraps, r.Bound}]++
}

// merged returns a register with its spacing merged, sometimes, with that of another register.
func (p *laneProgram) merged(width int, r laneRegister) laneRegister {
	if p.IntN(8) > 0 {
		return r
	}
	with := Unwritten()
	if p.IntN(4) > 0 {
		with = p.search(p.registers[width], func(other *laneRegister) bool { return other.Stride == r.Stride }).Spacing
	}
	if m := r.Merge(with); m.Group > 0 {
		r.Spacing = m
	}
	return r
}

// check describes a difference between a register's values and its spacing. It compares any two lanes of a group.
func (r *laneRegister) check(slot int) error {
	if r.Group < HalfRow || r.IsUnwritten() {
		return nil
	}
	mask := ^uint64(0) >> (64 - slot)
	at := func(i, j int) bool { return (r.values[j]-r.values[i]-uint64(r.Stride)*uint64(j-i))&mask == 0 }
	for j := range r.values {
		for i := j / int(r.Group) * int(r.Group); i < j; i++ {
			if err := r.checkLanes(i, j, at); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkLanes is check for lanes i < j of a group; at reports whether the difference of two lanes is the stride times their
// distance. With a wrap or a bound it may be different. But if it is equal for the outermost lanes, it must be equal for
// all lanes between them: a memory access that compares only the addresses of its outermost lanes relies on this.
func (r *laneRegister) checkLanes(i, j int, at func(i, j int) bool) error {
	switch {
	case r.Bound == BoundAbove:
	case r.Bound == Unbound && !r.Wraps:
		if !at(i, j) {
			return fmt.Errorf("lanes %d and %d have %#x and %#x", i, j, r.values[i], r.values[j])
		}
	case r.Bound == Unbound && uint32(r.values[j]-r.values[i]) != uint32(r.Stride)*uint32(j-i):
		return fmt.Errorf("lanes %d and %d have %#x and %#x: another distance modulo 2³²", i, j, r.values[i], r.values[j])
	case at(i, j):
		for k := i + 1; k < j; k++ {
			if !at(i, k) {
				return fmt.Errorf("lanes %d, %d and %d have %#x, %#x and %#x", i, k, j, r.values[i], r.values[k], r.values[j])
			}
		}
	}
	return nil
}

// TestSpacings executes random programs on lanes and on spacings. Every transfer must have results, of each kind that it
// can have.
func TestSpacings(t *testing.T) {
	part.SkipShort(t)
	seen := map[seenResult]int{}
	if err := runLanePrograms(rand.New(rand.NewPCG(part.Seed(t), 1)), Rules, part.Count(30_000, 60_000, 3_000_000), seen); err != nil {
		t.Fatal(err)
	}
	found := func(r ptx.Affine, form int) bool {
		for c := range seen {
			if c.rule == r && c.form == form {
				return true
			}
		}
		return false
	}
	for r := range laneRules {
		for form := -1; form < len(Rules[r].Spacing); form++ {
			if !found(r, form) {
				t.Errorf("transfer %d of rule %s never had a result", form, r)
			}
		}
	}
	for _, c := range []seenResult{
		{ptx.AffineConvert, 2, true, Unbound}, {ptx.AffineConvert, 2, true, BoundBetween}, {ptx.AffineConvert, 2, true, Shifted},
		{ptx.AffineMul, 1, true, Unbound}, {ptx.AffineMad, 1, true, Shifted}, {ptx.AffineAdd, 0, true, Unbound}, {ptx.AffineAdd, 0, true, Shifted},
		{ptx.AffineAdd, 0, false, Shifted}, {ptx.AffineMin, 0, false, BoundAbove}, {ptx.AffineMin, 0, false, BoundBetween},
		{ptx.AffineMax, 0, false, BoundAbove}, {ptx.AffineMax, 0, false, BoundBetween}, {ptx.AffineSelect, 0, true, Unbound},
	} {
		if seen[c] == 0 {
			t.Errorf("no result of kind %+v", c)
		}
	}
}

// TestSpacingLimits has an example for each limit of the transfers that random programs seldom reach. Without the limit, the
// transfer would give a spacing that the lanes do not have.
func TestSpacingLimits(t *testing.T) {
	// progressionOf returns a progression of 32-bit numbers.
	progressionOf := func(base, stride int64) *laneRegister {
		r := &laneRegister{Spacing: Spacing{Stride: stride, Group: WholeRow}}
		for lane := range r.values {
			r.values[lane] = uint64(uint32(base + int64(lane)*stride))
		}
		return r
	}
	number, widening, address := shape{32, 32, true}, shape{32, 64, false}, shape{64, 64, false}
	execute := func(rule ptx.Affine, s shape, operands ...*laneRegister) *laneRegister {
		r, err := executeBoth(Rules, s.operation(rule, slotOf(s.out)), operands, map[seenResult]int{})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	unknown := func(name string, r *laneRegister) {
		if r.Group != 0 {
			t.Errorf("%s: spacing %+v, want none", name, r.Spacing)
		}
	}

	// The first wraps upwards after lane 7 and the second downwards after lane 4, so the sum is the same in the outermost
	// lanes, but not in all lanes.
	up, down := execute(ptx.AffineConvert, widening, progressionOf(-8, 1)), execute(ptx.AffineConvert, widening, progressionOf(4, -1))
	unknown("sum of two numbers that wrap", execute(ptx.AffineAdd, address, up, down))

	// Lanes 29 to 31 are at the bound, 2²⁵ and 2·2²⁵ below their places; 2·2²⁵·2⁶ is 2³².
	clamped := execute(ptx.AffineMin, number, execute(ptx.AffineMax, number, progressionOf(0, 1<<25), constantRegister(0)), constantRegister(29<<25))
	wide := execute(ptx.AffineConvert, widening, clamped)
	multiple := execute(ptx.AffineShl, address, wide, constantRegister(6))
	unknown("the low half of a multiple of a clamped number", execute(ptx.AffineConvert, shape{64, 32, false}, multiple))
	// And 2·2²⁵·2³⁸ is 2⁶⁴.
	unknown("a large multiple of a clamped number", execute(ptx.AffineShl, address, execute(ptx.AffineShl, address, wide, constantRegister(31)), constantRegister(7)))

	// The halves of the warp select different operands.
	halves := &laneRegister{Spacing: Spacing{Group: HalfRow}}
	for lane := range HalfRow {
		halves.values[lane] = 1
	}
	unknown("a selection by half rows", execute(ptx.AffineSelect, number, progressionOf(0, 1), progressionOf(100, 1), halves))
}

// runLanePrograms executes random programs. It returns an error at the first result that does not have its spacing.
func runLanePrograms(r *rand.Rand, table *Table, programs int, seen map[seenResult]int) error {
	for range programs {
		p := newLaneProgram(r, table, seen)
		if err := p.address(); err != nil {
			return err
		}
		for range 15 {
			if err := p.step(); err != nil {
				return err
			}
		}
	}
	return nil
}

// TestRulesOnLanes compares the result of every rule with the lanes, computed by laneRules in 64-bit integers. rules_test.go
// computes them in integers of unlimited size.
func TestRulesOnLanes(t *testing.T) {
	r := rand.New(rand.NewPCG(part.Seed(t), 2))
	rules := slices.Sorted(maps.Keys(laneRules))
	affine := map[ptx.Affine]int{} // number of results of operands that are not all uniform
	for range part.Count(200_000, 300_000, 20_000_000) {
		rule := rules[r.IntN(len(rules))]
		types := operationTypes(rule)
		s := types[r.IntN(len(types))]
		a := Args{Operation: s.operation(rule, slotOf(s.out)), First: r.IntN(32)}
		a.Last = a.First + r.IntN(32-a.First)
		a.Cmp = Cmp(1 + r.IntN(int(Ge)))
		p := &laneProgram{Rand: r, grain: []int{0, 24, 25, 26}[r.IntN(4)]}
		compact := false
		for i := range laneRules[rule].operands {
			width := operandWidth(&a.Operation, i)
			a.Values[i].Base = p.number(width)
			if width > 1 && r.IntN(2) == 0 {
				a.Values[i].Stride = p.number(width)
				if r.IntN(4) == 0 {
					a.Values[i].Stride = -a.Values[i].Stride & (1<<slotOf(width) - 1)
				}
			}
			compact = compact || !a.Values[i].Uniform()
		}
		v, ok := Rules[rule].Execute(&a)
		if !ok {
			continue
		}
		if compact {
			affine[rule]++
		}
		for lane := a.First; lane <= a.Last; lane++ {
			var x [3]uint64
			for i := range x {
				x[i] = a.Values[i].At(lane) & (1<<slotOf(operandWidth(&a.Operation, i)) - 1)
			}
			want, defined := laneRules[rule].compute(&a.Operation, x[0], x[1], x[2])
			if got := v.Truncate(int(a.Slot)).At(lane) & (1<<a.Slot - 1); defined && got != want&(1<<a.Out-1) {
				t.Fatalf("%s.%s of %v in lanes %d to %d: %v, lane %d has %#x", rule, s, a.Values, a.First, a.Last, v, lane, want)
			}
		}
	}
	for _, rule := range rules {
		if affine[rule] == 0 {
			t.Errorf("rule %s never had a result of affine operands", rule)
		}
	}
}
