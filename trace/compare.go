package trace

// This file compares logs instruction by instruction for each thread.

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"gemu/probe"
)

// Options control a comparison.
type Options struct {
	ULP    uint64 // largest allowed distance of results of .approx instructions, in units of the last place
	Filter Filter // the part of the logs to compare
}

// Difference is the first difference of two logs, in the order of the first log: the earliest differing instruction of the
// lowest CTA with a difference.
type Difference struct {
	Text   string    // description without the values
	Launch uint64    // number of the launch in its log, from 0
	Kernel [2]string // name of the kernel in each log; "" if the log lacks the launch
	CTA    *CTA      // the CTA with the difference; nil if the difference belongs to no CTA
	Thread int       // index in the CTA; -1 if the difference belongs to no thread
	Warp   [2]uint64 // index of the warp in the CTA, in each log; it differs if the widths of warps differ
	Number uint64    // number of instructions that the thread executed before the difference
	Lanes  uint64    // lanes of the first log's record with the same difference

	Record [2]*Record // nil: no record in this log
	Code   [2]*Code   // nil: no record, or its instruction is unknown
	Lane   [2]int     // lane of the thread, in each record
	Name   string     // name of the register, or of another differing property
	Value  [2]string  // value of Name in each log, as text; "" without a Name
}

// Compare returns the first difference, or nil if there is none. It skips parts that either log lacks or filters out, results
// that are times, and the times of asynchronous effects. The summary counts the items before the difference. Errors in a log are
// of type *Error. A result in a log without code lines is such an error if the other log's instructions of the line do not
// write its register.
func Compare(a, b Source, o Options) (*Difference, *Summary, error) {
	c := &comparison{Options: o}
	for i, s := range []Source{a, b} {
		l, err := s.open()
		if err != nil {
			return nil, nil, err
		}
		defer l.close()
		c.logs[i] = l
		c.summary.Names[i], c.summary.Missing[i] = s.Name, l.allMissing()
	}
	for i, l := range c.logs {
		for _, f := range []Filter{o.Filter, c.logs[1-i].Header.Filter} {
			if !f.IsZero() {
				l.filters = append(l.filters, f)
			}
		}
	}
	defer c.second.spool.close()
	d, err := c.launches()
	return d, &c.summary, err
}

// comparison is a running comparison of two logs.
type comparison struct {
	Options
	logs   [2]*cursor
	launch [2]*Launch
	cta    *CTA
	counts [2][]uint64        // for each log, the number of compared instructions, by thread of the CTA
	second waitingRecords     // records of the second log that are read but not compared yet
	async  [2]asyncOperations // for each log
	traps  [2]*Record         // for each log, the first trap of the CTA
	found  *Difference        // a difference of asynchronous operations

	summary Summary
}

// maxThreads is the largest number of threads in a CTA of any log.
const maxThreads = 1 << 16

// growCounts extends counts[i] to at least a number of threads.
func (c *comparison) growCounts(i, threads int) {
	if n := threads - len(c.counts[i]); n > 0 {
		c.counts[i] = append(c.counts[i], make([]uint64, n)...)
	}
}

// step is the part of a record that belongs to one thread.
type step struct {
	*Record
	lane   int    // lane of the thread in the record
	number uint64 // number of instructions that the thread executed before
}

// isMissing reports whether either log lacks a part.
func (c *comparison) isMissing(part string) bool {
	return c.logs[0].isMissing(part) || c.logs[1].isMissing(part)
}

// forBoth calls f for each log and returns both results.
func forBoth[T any](c *comparison, f func(l *cursor) (T, error)) (v [2]T, err error) {
	for i, l := range c.logs {
		if v[i], err = f(l); err != nil {
			return v, err
		}
	}
	return v, nil
}

// launches compares all launches.
func (c *comparison) launches() (*Difference, error) {
	for {
		l, err := forBoth(c, (*cursor).nextLaunch)
		if err != nil || l[0] == nil && l[1] == nil {
			return nil, err
		}
		c.launch, c.cta = l, nil
		if l[0] == nil || l[1] == nil {
			return c.onlyInOne(l[0] == nil, "launch"), nil
		}
		if d := c.extents(); d != nil {
			return d, nil
		}
		c.summary.Launches.Compared++
		for i := range c.logs {
			c.logs[i].checkNames(c.logs[1-i])
		}
		if err := c.filter(); err != nil {
			return nil, err
		}
		if d, err := c.ctas(); d != nil || err != nil {
			return d, err
		}
		if e := [2]*End{c.logs[0].end, c.logs[1].end}; (e[0].Error == "") != (e[1].Error == "") {
			d := c.difference("one of the launches has failed")
			d.Name, d.Value = "error", [2]string{cmp.Or(e[0].Error, "none"), cmp.Or(e[1].Error, "none")}
			return d, nil
		}
	}
}

// difference returns a difference of the current launch or CTA.
func (c *comparison) difference(format string, args ...any) *Difference {
	d := &Difference{Text: fmt.Sprintf(format, args...), CTA: c.cta, Thread: -1}
	for i, l := range c.launch {
		if l != nil {
			d.Launch, d.Kernel[i] = l.Number, l.Kernel
		}
	}
	return d
}

// onlyInOne returns the difference that only one of the logs has a part: a launch or a CTA. second means the second log.
func (c *comparison) onlyInOne(second bool, part string) *Difference {
	return c.difference("only the %s log has this %s", ordinal(second), part)
}

func ordinal(second bool) string {
	if second {
		return "second"
	}
	return "first"
}

// extents compares the grid, block and cluster of the launches.
func (c *comparison) extents() *Difference {
	if c.isMissing("launch") {
		c.summary.Extents.Skipped++
		return nil
	}
	c.summary.Extents.Compared++
	for _, x := range []struct {
		name   string
		extent func(l *Launch) []uint64
	}{{"grid", func(l *Launch) []uint64 { return l.Grid }}, {"block", func(l *Launch) []uint64 { return l.Block }}, {"cluster", func(l *Launch) []uint64 { return l.Cluster }}} {
		if a, b := x.extent(c.launch[0]), x.extent(c.launch[1]); !slices.Equal(a, b) {
			d := c.difference("the launches differ in their %s", x.name)
			d.Name, d.Value = x.name, [2]string{cmp.Or(extent(a), "none"), cmp.Or(extent(b), "none")}
			return d
		}
	}
	return nil
}

// ctas compares the CTAs of a launch.
func (c *comparison) ctas() (*Difference, error) {
	for {
		next, err := forBoth(c, (*cursor).nextCTA)
		if err != nil || next[0] == nil && next[1] == nil {
			return nil, err
		}
		if second := next[0] == nil || next[1] != nil && next[1].Number < next[0].Number; next[0] == nil || next[1] == nil || next[0].Number != next[1].Number {
			if c.cta = next[0]; second {
				c.cta = next[1]
			}
			return c.onlyInOne(second, "cta"), nil
		}
		if c.cta = next[0]; len(c.cta.ID) == 0 {
			c.cta = next[1]
		}
		c.summary.CTAs.Compared++
		if d, err := c.records(); d != nil || err != nil {
			return d, err
		}
	}
}

// filter prepares the filters for the launch. For a log without code, it takes the classes of each line from the other log's
// code.
func (c *comparison) filter() error {
	for i, l := range c.logs {
		for _, f := range l.filters {
			switch {
			case len(f.Warps) > 0 && c.launch[0].WarpSize != c.launch[1].WarpSize:
				return fmt.Errorf("cannot compare warps %s: the warps of the logs have %d and %d lanes", f.Warps, c.launch[0].WarpSize, c.launch[1].WarpSize)
			case len(f.Classes) == 0 || len(l.code) > 0:
				continue
			case len(c.logs[1-i].code) == 0:
				return fmt.Errorf("cannot compare the classes %s: neither log records the class of an instruction", strings.Join(f.Classes, ","))
			}
			l.classes = map[uint64][]string{}
			for _, code := range c.logs[1-i].code {
				l.classes[code.Line] = append(l.classes[code.Line], code.Class)
			}
		}
	}
	return nil
}

// records compares the records of a CTA.
func (c *comparison) records() (*Difference, error) {
	for i := range c.counts {
		c.counts[i] = c.counts[i][:0]
		c.async[i].clear()
	}
	c.traps, c.found = [2]*Record{}, nil
	if err := c.second.clear(); err != nil {
		return nil, err
	}
	for {
		r, err := c.next(0)
		if err != nil {
			return nil, err
		}
		if r == nil || c.found != nil {
			break
		}
		if equal, err := c.compareInStep(r); err != nil {
			return nil, err
		} else if equal {
			continue
		}
		c.count(0, r)
		if d, err := c.record(r); d != nil || err != nil {
			return d, err
		}
	}
	for c.found == nil {
		r, err := c.next(1)
		if err != nil {
			return nil, err
		}
		if r == nil {
			break
		}
		if err := c.addWaiting(r); err != nil {
			return nil, err
		}
	}
	if c.found != nil {
		return c.found, nil
	}
	if x, thread, err := c.firstWaiting(); err != nil {
		return nil, err
	} else if x != nil {
		d := c.difference("the thread executes more instructions in the second log")
		d.Thread, d.Number, d.Record[1], d.Lane[1], d.Warp = thread, x.number, x.Record, x.lane, [2]uint64{x.Warp, x.Warp}
		d.Code[1] = c.code(1, x.Record)
		return d, nil
	}
	t := c.traps
	if (t[0] == nil) != (t[1] == nil) {
		d := c.difference("only the %s log has a trap", ordinal(t[0] == nil))
		for i, r := range t {
			if d.Record[i] = r; r != nil {
				d.Name, d.Value[i], d.Code[i], d.Warp = "trap", r.Note, c.code(i, r), [2]uint64{r.Warp, r.Warp}
			}
		}
		return d, nil
	}
	if t[0] == nil { // after a trap, unfinished operations are no difference
		return c.unmatched(), nil
	}
	return nil, nil
}

// next returns the next record of log i for a comparison by thread; nil at the end of the CTA. It compares the effects of
// asynchronous operations itself, and keeps the first trap in c.traps.
func (c *comparison) next(i int) (*Record, error) {
	for {
		r, err := c.logs[i].nextRecord()
		if err != nil || r == nil {
			return nil, err
		}
		if c.thread(i, r, 64) > maxThreads {
			return nil, c.logs[i].fail(fmt.Errorf("warp number %d is too large for a CTA", r.Warp))
		}
		switch r.Kind {
		case Effect:
			switch {
			case c.isMissing("effects"):
				c.summary.Effects.Skipped++
			case c.found == nil:
				c.effect(i, r)
			}
		case Trap:
			if c.traps[i] == nil {
				c.traps[i] = r
			}
		case Return, Wake:
			if c.isMissing("wake") {
				c.summary.Results.Skipped += uint64(len(r.Results) * bits.OnesCount64(r.Lanes))
				continue
			}
			return r, nil
		default:
			return r, nil
		}
	}
}

// lanesOf returns the lanes of a record that are compared.
func (c *comparison) lanesOf(r *Record) uint64 {
	if c.isMissing("active") {
		return r.Lanes
	}
	return r.Active
}

// thread returns the index in the CTA of a lane of a record.
func (c *comparison) thread(i int, r *Record, lane int) int {
	return int(r.Warp)*c.warpSize(i) + lane
}

// warpSize returns the number of lanes of a warp in a log.
func (c *comparison) warpSize(i int) int { return int(cmp.Or(c.launch[i].WarpSize, 32)) }

// count counts an instruction for the threads of a record.
func (c *comparison) count(i int, r *Record) {
	c.growCounts(i, c.thread(i, r, 64))
	for m := c.lanesOf(r); m != 0; m &= m - 1 {
		c.countLane(i, r, bits.TrailingZeros64(m))
	}
}

// countLane counts an instruction for a lane of a record.
func (c *comparison) countLane(i int, r *Record, lane int) {
	if r.Kind != Instruction {
		return
	}
	n := &c.counts[i][c.thread(i, r, lane)]
	if r.Numbers != nil && !c.isMissing("active") {
		*n, _ = r.Numbers.At(r.Active, lane)
	}
	*n++
}

// compareInStep compares r with the next record of the second log, if no record of the second log waits. It reports whether
// both are equal for the same threads. Then no comparison by thread is necessary, which is the usual case. Otherwise it adds
// the record of the second log to the waiting records.
func (c *comparison) compareInStep(r *Record) (bool, error) {
	if c.second.comparisons > 0 {
		return false, nil
	}
	y, err := c.next(1)
	if err != nil || y == nil {
		return false, err
	}
	if !c.sameLanes(r, y) {
		return false, c.addWaiting(y)
	}
	c.count(0, r)
	c.count(1, y)
	c.countAlike(r)
	return true, nil
}

// sameLanes reports whether two records are equal, for the same threads with the same counts.
func (c *comparison) sameLanes(x, y *Record) bool {
	if x.Kind != y.Kind || x.Warp != y.Warp || x.Lanes != y.Lanes || x.Active != y.Active || (x.Numbers == nil) != (y.Numbers == nil) || x.Numbers != nil && !equalValues(*x.Numbers, *y.Numbers) || !c.sameInstr(x, y) ||
		c.launch[0].WarpSize != c.launch[1].WarpSize || len(x.Accesses) != len(y.Accesses) || !slices.EqualFunc(x.Results, y.Results, equalValues) {
		return false
	}
	for i := range x.Accesses {
		a, b := &x.Accesses[i], &y.Accesses[i]
		if a.Kind != b.Kind || a.Space != b.Space || a.Bytes != b.Bytes || a.Lanes != b.Lanes || !equalValues(a.Addr, b.Addr) || !slices.EqualFunc(a.Store, b.Store, equalValues) || !slices.EqualFunc(a.Compare, b.Compare, equalValues) || operationDiffers(x, y, a, b) {
			return false
		}
	}
	for i := range c.counts {
		c.growCounts(i, c.thread(i, x, 64))
	}
	for m := c.lanesOf(x); m != 0 && x.Numbers == nil; m &= m - 1 {
		if t := c.thread(0, x, bits.TrailingZeros64(m)); c.counts[0][t] != c.counts[1][t] {
			return false
		}
	}
	return true
}

// operationDiffers reports whether the names of two instructions differ, if an access needs this comparison: for atomics and
// stores without values, only the instruction's name identifies the memory operation.
func operationDiffers(x, y *Record, a, b *Access) bool {
	return (len(a.Store)+len(b.Store) == 0 && a.Kind != Load || a.Kind == Atomic) && x.Name != y.Name && x.Name != "" && y.Name != ""
}

// equalValues reports whether two values have equal descriptions.
func equalValues(a, b Value) bool {
	return a.Name == b.Name && a.Bits == b.Bits && a.Structure == b.Structure && a.Base == b.Base && a.High == b.High && a.Stride == b.Stride && slices.Equal(a.List, b.List) && slices.Equal(a.ListHigh, b.ListHigh)
}

// record compares a record of the first log with the next step of each of its threads in the second log.
func (c *comparison) record(r *Record) (first *Difference, err error) {
	for m := c.lanesOf(r); m != 0; m &= m - 1 {
		lane := bits.TrailingZeros64(m)
		t := c.thread(0, r, lane)
		x := step{r, lane, c.counts[0][t] - 1}
		y, err := c.nextStep(t)
		if err != nil {
			return nil, err
		}
		d := c.steps(x, y)
		switch {
		case d == nil:
			continue
		case first == nil:
			first = d
			first.Thread, first.Number, first.Warp[0] = t, x.number, r.Warp
			first.Record[0], first.Lane[0], first.Code[0] = r, lane, c.code(0, r)
			if y != nil {
				first.Record[1], first.Lane[1], first.Code[1], first.Warp[1] = y.Record, y.lane, c.code(1, y.Record), y.Warp
			}
			fallthrough
		case d.Text == first.Text && d.Name == first.Name:
			first.Lanes |= 1 << lane
		}
	}
	return first, nil
}

// code returns the instruction of a record, or nil if the log lacks it.
func (c *comparison) code(i int, r *Record) *Code { return c.logs[i].codeOf(r) }

// sameInstr reports whether two records are of the same instruction: with the same text, or at the same index in the code. The
// index makes an edited instruction equal to the original instruction.
func (c *comparison) sameInstr(x, y *Record) bool {
	a, b := c.code(0, x), c.code(1, y)
	switch {
	case x.Kind != y.Kind:
		return false
	case a != nil && b != nil && !c.isMissing("code"):
		return a.Text == b.Text && a.Func == b.Func || a.Index == b.Index
	case x.Line != 0 && y.Line != 0:
		return x.Line == y.Line
	}
	return x.Name == "" || y.Name == "" || x.Name == y.Name
}

// steps compares a step of a thread in both logs; y is nil if the second log has no further step of the thread.
func (c *comparison) steps(x step, y *step) *Difference {
	differ := func(name, a, b, format string, args ...any) *Difference {
		d := c.difference(format, args...)
		d.Name, d.Value = name, [2]string{a, b}
		return d
	}
	switch {
	case y == nil:
		return c.difference("the thread executes more instructions in the first log")
	case x.number != y.number && x.Kind == Instruction && y.Kind == Instruction:
		return differ("number", fmt.Sprint(x.number), fmt.Sprint(y.number), "one of the logs lacks instructions of the thread")
	case !c.sameInstr(x.Record, y.Record):
		return c.difference("the thread executes different instructions")
	}
	if x.Kind == Instruction {
		c.countInstructions(1)
	}
	if a, b := x.Lanes>>x.lane&1, y.Lanes>>y.lane&1; a != b {
		texts := [2]string{"false", "true"}
		return differ("guard", texts[a], texts[b], "the guard of the instruction")
	} else if a == 0 {
		return nil
	}
	code, other := c.code(0, x.Record), c.code(1, y.Record)
	if !(code != nil && code.clock() || other != nil && other.clock()) {
		if d := c.results(x, y, differ); d != nil {
			return d
		}
	} else {
		c.summary.Clocks += uint64(max(len(x.Results), len(y.Results)))
	}
	return c.accesses(x, y, differ)
}

// differFunc returns a difference of a property: its name, its value in each log, and a description.
type differFunc func(name, a, b, format string, args ...any) *Difference

// results compares the written registers of a thread: by name, or by position if the second log has no result of this name.
func (c *comparison) results(x step, y *step, differ differFunc) *Difference {
	partial := c.isMissing("results")
	count := &c.summary.Results
	total := max(len(x.Results), len(y.Results))
	if partial && (len(x.Results) == 0 || len(y.Results) == 0) {
		count.Skipped += uint64(total)
		return nil
	}
	if len(x.Results) != len(y.Results) && !partial {
		return differ("results", fmt.Sprint(len(x.Results)), fmt.Sprint(len(y.Results)), "the number of results")
	}
	if d := c.foreignName(x, y, differ); d != nil {
		return d
	}
	compared := 0
	for i := range x.Results {
		v := &x.Results[i]
		k := slices.IndexFunc(y.Results, func(w Value) bool { return w.Name == v.Name })
		if k < 0 {
			if partial {
				continue
			}
			k = i
		}
		w := &y.Results[k]
		al, ah := v.At(x.Lanes, x.lane)
		bl, bh := w.At(y.Lanes, y.lane)
		if n := min(v.Bits, w.Bits); partial && n < 64 {
			al, bl = width(al, n), width(bl, n)
		}
		if al == bl && ah == bh || c.isNear(x, y, al, bl) {
			compared++
			continue
		}
		return differ(v.Name, formatWide(al, ah), formatWide(bl, bh), "the result %s", v.Name)
	}
	count.Compared += uint64(compared)
	count.Skipped += uint64(total - compared)
	return nil
}

func formatWide(low, high uint64) string { return string(appendWide(nil, low, high, 128)) }

// isNear reports whether approximate results are within the allowed distance.
func (c *comparison) isNear(x step, y *step, a, b uint64) bool {
	code := c.code(0, x.Record)
	if code == nil {
		code = c.code(1, y.Record)
	}
	if c.ULP == 0 || code == nil {
		return false
	}
	f, ok := floats[code.approx()]
	if !ok {
		return false
	}
	for ; a != 0 || b != 0; a, b = a>>(f.bits-1)>>1, b>>(f.bits-1)>>1 {
		if f.distance(a, b) > c.ULP {
			return false
		}
	}
	return true
}

// floatFormat is a format of floating-point numbers.
type floatFormat struct{ bits, fraction uint }

var floats = map[string]floatFormat{
	".f16": {16, 10}, ".f16x2": {16, 10}, ".bf16": {16, 7}, ".bf16x2": {16, 7}, ".f32": {32, 23}, ".f64": {64, 52},
}

// distance returns the distance in units of the last place of two floating-point numbers, which are the lowest bits of a and b.
// The distance of two NaNs is 0; the distance of a NaN and a number is the largest uint64.
func (f floatFormat) distance(a, b uint64) uint64 {
	a, b = width(a, uint64(f.bits)), width(b, uint64(f.bits))
	infinite := uint64(1)<<(f.bits-1) - 1<<f.fraction
	nan := func(v uint64) bool { return v&(1<<(f.bits-1)-1) > infinite }
	if nan(a) || nan(b) {
		if nan(a) && nan(b) {
			return 0
		}
		return ^uint64(0)
	}
	order := func(v uint64) int64 { // monotonic integers; both zeros are 0
		if v>>(f.bits-1) != 0 {
			return -int64(v & (1<<(f.bits-1) - 1))
		}
		return int64(v)
	}
	d := order(a) - order(b)
	return uint64(max(d, -d))
}

// accesses compares the memory accesses of a thread.
func (c *comparison) accesses(x step, y *step, differ differFunc) *Difference {
	a, b := accessesOf(x), accessesOf(*y)
	if len(a) != len(b) {
		if c.isMissing("addresses") {
			c.summary.Addresses.Skipped += uint64(max(len(a), len(b)))
			for _, list := range [][]*Access{a, b} {
				for _, access := range list {
					c.summary.elements(access).Skipped += access.elements()
				}
			}
			return nil
		}
		return differ("accesses", fmt.Sprint(len(a)), fmt.Sprint(len(b)), "the number of accesses to memory")
	}
	for i := range a {
		kindOfAccess := func(s *Access) string { return fmt.Sprintf("%s of %d bytes", s.Kind, s.Bytes) }
		if p, q := kindOfAccess(a[i]), kindOfAccess(b[i]); p != q {
			return differ("access", p, q, "the kind of access")
		}
		p, from := x.location(a[i])
		q, to := y.location(b[i])
		if p == "param" && q == p && c.logs[0].Header.Simulator != c.logs[1].Header.Simulator { // parameters may have different addresses in each simulator
			from = to
			c.summary.Addresses.Skipped++
		} else {
			c.summary.Addresses.Compared++
		}
		if p != q || from != to {
			return differ("address", fmt.Sprintf("%s %#x", p, from), fmt.Sprintf("%s %#x", q, to), "the address")
		}
		if operationDiffers(x.Record, y.Record, a[i], b[i]) {
			return differ("operation", x.Name, y.Name, "the operation on memory")
		}
		if d := c.compareStored(x, y, a[i], b[i], differ); d != nil {
			return d
		}
	}
	return nil
}

// compareStored compares the elements of Store and Compare, and the Data, of an access of a thread.
func (c *comparison) compareStored(x step, y *step, a, b *Access, differ differFunc) *Difference {
	missingPart, words := "stored", [...]string{"the stored value", "the number of stored elements", "the compared value"}
	if a.Kind == Atomic {
		missingPart, words = "operands", [...]string{"the operand of the atomic", "the number of operands of the atomic", "the compared operand of the atomic"}
	}
	for i, list := range [][2][]Value{{a.Store, b.Store}, {a.Compare, b.Compare}} {
		name, part := "stored", words[0]
		if i > 0 {
			name, part = "compared", words[2]
		}
		if len(list[0]) != len(list[1]) {
			if c.isMissing(missingPart) || c.isMissing("stored") {
				c.summary.elements(a).Skipped += uint64(max(len(list[0]), len(list[1])))
				continue
			}
			return differ(name, fmt.Sprint(len(list[0])), fmt.Sprint(len(list[1])), "%s", words[1])
		}
		for k := range list[0] {
			v, w := &list[0][k], &list[1][k]
			if (v.Structure == NoValue) != (w.Structure == NoValue) {
				verb := map[bool]string{true: "left out", false: "stored"}
				return differ(name, verb[v.Structure == NoValue], verb[w.Structure == NoValue], "the choice of stored elements")
			}
			p, _ := v.At(x.lanes(a), x.lane)
			q, _ := w.At(y.lanes(b), y.lane)
			if p != q {
				return differ(name, formatWide(p, 0), formatWide(q, 0), "%s", part)
			}
			c.summary.elements(a).Compared++
		}
	}
	return c.written(a, b, differ)
}

// accessesOf returns the accesses of the step's lane.
func accessesOf(x step) (list []*Access) {
	for i := range x.Accesses {
		if a := &x.Accesses[i]; x.lanes(a)>>x.lane&1 != 0 {
			list = append(list, a)
		}
	}
	return list
}

// location returns the state space and the address of the lane's access. It resolves generic addresses. The space of all device
// memory is "global".
func (x step) location(a *Access) (space string, addr uint64) {
	addr, _ = a.Addr.At(x.lanes(a), x.lane)
	space = a.Space
	if space == "generic" {
		switch {
		case addr-probe.SharedWindow < probe.WindowSize:
			space, addr = "shared", addr-probe.SharedWindow
		case addr-probe.LocalWindow < probe.WindowSize:
			space, addr = "local", addr-probe.LocalWindow
		}
	}
	if !slices.Contains(ownSpaces, space) {
		space = "global"
	}
	return space, addr
}

// ownSpaces are the spaces whose addresses have a different meaning in each CTA or thread.
var ownSpaces = []string{"shared", "local", "param"}

// String describes the difference in several lines. The logs are called first and second.
func (d *Difference) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "launch %d, kernel %s", d.Launch, cmp.Or(d.Kernel[0], d.Kernel[1], "?"))
	if d.Kernel[0] != d.Kernel[1] && d.Kernel[0] != "" && d.Kernel[1] != "" {
		fmt.Fprintf(&b, " and %s", d.Kernel[1])
	}
	if d.CTA != nil {
		fmt.Fprintf(&b, ", cta %d", d.CTA.Number)
		if len(d.CTA.ID) > 0 {
			fmt.Fprintf(&b, " (%s)", extent(d.CTA.ID))
		}
	}
	if d.Thread >= 0 {
		fmt.Fprintf(&b, ", thread %d, instruction %d of this thread", d.Thread, d.Number)
	}
	fmt.Fprintf(&b, ": %s\n", d.Text)
	for i := range d.Record {
		if d.Thread < 0 && d.Record[i] == nil && d.Name == "" {
			continue
		}
		fmt.Fprintf(&b, "  %s: %s", ordinal(i > 0), d.instruction(i))
		if d.Name != "" {
			fmt.Fprintf(&b, ": %s is %s", d.Name, d.Value[i])
		}
		b.WriteString("\n")
	}
	if n := bits.OnesCount64(d.Lanes); n > 1 {
		fmt.Fprintf(&b, "  the same in %d threads of warp %d, %s\n", n, d.Warp[0], probe.LaneText(d.Lanes))
	}
	return b.String()
}

// instruction describes the instruction of a log with its line.
func (d *Difference) instruction(i int) string {
	r, c := d.Record[i], d.Code[i]
	switch {
	case r == nil && d.Thread < 0:
		return "the launch"
	case r == nil:
		return "nothing"
	case c != nil:
		return fmt.Sprintf("line %d: %s", c.Line, c.Text)
	}
	return fmt.Sprintf("line %d: %s", r.Line, cmp.Or(r.Name, "?"))
}
