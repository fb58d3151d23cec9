package trace

// This file compares logs: what each thread did, instruction by instruction.

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"gemu/probe"
)

// Options say what counts as a difference.
type Options struct {
	ULP    uint64 // how far apart results of .approx instructions may be, in units of the last place
	Filter Filter // what of the logs is compared
}

// Difference is the first that two logs have: in the order of the first of them, that is the lowest
// CTA that has one, and in that the instruction that comes first.
type Difference struct {
	Text   string // in words, without the values
	Launch uint64
	Kernel [2]string
	CTA    *CTA // nil if it is none's
	Thread int  // in the CTA; -1 if it is none's
	Warp   [2]uint64
	Number uint64 // instructions that the thread has executed before
	Lanes  uint64 // of the first log's record, that differ

	Record [2]*Record // nil where there is none
	Code   [2]*Code   // … or it has none
	Lane   [2]int     // the thread, in them
	Name   string     // the register, or what else differs
	Value  [2]string
}

// Compare finds the first difference; nil if there is none. Of what one of the logs lacks, or has been
// filtered out of one, nothing is compared, nor of clocks and of when asynchronous operations take effect.
// The summary counts up to the difference. A log without code lines that names a register which the
// other log's instruction does not write is an *Error.
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

// comparison is two logs that are being compared.
type comparison struct {
	Options
	logs   [2]*cursor
	launch [2]*Launch
	cta    *CTA
	counts [2][]uint64    // of the CTA, instructions of each thread that have been compared
	second waitingRecords // records of the second log that have been read, and not compared
	async  [2]asyncOperations
	traps  [2]*Record  // the first of the CTA
	found  *Difference // in what asynchronous operations do

	summary Summary
}

// maxThreads is how many a CTA may have, in any log.
const maxThreads = 1 << 16

// room makes room for the threads of a warp.
func (c *comparison) room(i, threads int) {
	if n := threads - len(c.counts[i]); n > 0 {
		c.counts[i] = append(c.counts[i], make([]uint64, n)...)
	}
}

// step is a record as a thread has it.
type step struct {
	*Record
	lane   int
	number uint64
}

// isMissing reports whether one of the logs lacks something.
func (c *comparison) isMissing(part string) bool {
	return c.logs[0].isMissing(part) || c.logs[1].isMissing(part)
}

// forBoth does something with both logs.
func forBoth[T any](c *comparison, do func(l *cursor) (T, error)) (v [2]T, err error) {
	for i, l := range c.logs {
		if v[i], err = do(l); err != nil {
			return v, err
		}
	}
	return v, nil
}

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

// difference is one of the launch or CTA.
func (c *comparison) difference(format string, args ...any) *Difference {
	d := &Difference{Text: fmt.Sprintf(format, args...), CTA: c.cta, Thread: -1}
	for i, l := range c.launch {
		if l != nil {
			d.Launch, d.Kernel[i] = l.Number, l.Kernel
		}
	}
	return d
}

// onlyInOne is that one log has something that the other has not.
func (c *comparison) onlyInOne(second bool, part string) *Difference {
	return c.difference("only the %s log has this %s", ordinal(second), part)
}

func ordinal(second bool) string {
	if second {
		return "second"
	}
	return "first"
}

// extents compares what the launches are.
func (c *comparison) extents() *Difference {
	if c.isMissing("launch") {
		c.summary.Extents.Skipped++
		return nil
	}
	c.summary.Extents.Compared++
	for _, x := range []struct {
		name string
		of   func(l *Launch) []uint64
	}{{"grid", func(l *Launch) []uint64 { return l.Grid }}, {"block", func(l *Launch) []uint64 { return l.Block }}, {"cluster", func(l *Launch) []uint64 { return l.Cluster }}} {
		if a, b := x.of(c.launch[0]), x.of(c.launch[1]); !slices.Equal(a, b) {
			d := c.difference("the launches have another %s", x.name)
			d.Name, d.Value = x.name, [2]string{cmp.Or(extent(a), "none"), cmp.Or(extent(b), "none")}
			return d
		}
	}
	return nil
}

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

// filter readies filters for the launch: where a log does not say which instructions it has, their lines
// have the classes that the other log says.
func (c *comparison) filter() error {
	for i, l := range c.logs {
		for _, f := range l.filters {
			switch {
			case len(f.Warps) > 0 && c.launch[0].WarpSize != c.launch[1].WarpSize:
				return fmt.Errorf("compared are to be warps %s, and those of the logs have %d and %d lanes", f.Warps, c.launch[0].WarpSize, c.launch[1].WarpSize)
			case len(f.Classes) == 0 || len(l.code) > 0:
				continue
			case len(c.logs[1-i].code) == 0:
				return fmt.Errorf("compared are to be instructions of classes %s, and no log says which those are", strings.Join(f.Classes, ","))
			}
			l.classes = map[uint64][]string{}
			for _, code := range c.logs[1-i].code {
				l.classes[code.Line] = append(l.classes[code.Line], code.Class)
			}
		}
	}
	return nil
}

// records compares a CTA.
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
		if err := c.read(r); err != nil {
			return nil, err
		}
	}
	if c.found != nil {
		return c.found, nil
	}
	if x, thread, err := c.firstWaiting(); err != nil {
		return nil, err
	} else if x != nil {
		d := c.difference("the thread goes on in the second log only")
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
	if t[0] == nil { // else what is under way is left so
		return c.unmatched(), nil
	}
	return nil, nil
}

// next is the next record of a log that is compared; nil at the end of the CTA. What asynchronous
// operations do is compared as it comes.
func (c *comparison) next(i int) (*Record, error) {
	for {
		r, err := c.logs[i].nextRecord()
		if err != nil || r == nil {
			return nil, err
		}
		if c.thread(i, r, 64) > maxThreads {
			return nil, c.logs[i].fail(fmt.Errorf("warp %d of a CTA", r.Warp))
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

// lanesOf are the lanes that a record is of.
func (c *comparison) lanesOf(r *Record) uint64 {
	if c.isMissing("active") {
		return r.Lanes
	}
	return r.Active
}

// thread is the thread of the CTA that is a lane of a record.
func (c *comparison) thread(i int, r *Record, lane int) int {
	return int(r.Warp)*c.warpSize(i) + lane
}

// warpSize is how many lanes warps of a log have.
func (c *comparison) warpSize(i int) int { return int(cmp.Or(c.launch[i].WarpSize, 32)) }

// count gives the threads of a record their numbers, which is how many instructions they have
// executed before.
func (c *comparison) count(i int, r *Record) {
	c.room(i, c.thread(i, r, 64))
	for m := c.lanesOf(r); m != 0; m &= m - 1 {
		c.countLane(i, r, bits.TrailingZeros64(m))
	}
}

// countLane gives a thread of a record its number.
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

// compareInStep reports whether the next record of the second log says the same as one of the first, of the
// same threads, so that nothing needs to be compared by thread: what is usual. Else the second's waits.
func (c *comparison) compareInStep(r *Record) (bool, error) {
	if c.second.comparisons > 0 {
		return false, nil
	}
	y, err := c.next(1)
	if err != nil || y == nil {
		return false, err
	}
	if !c.sameLanes(r, y) {
		return false, c.read(y)
	}
	c.count(0, r)
	c.count(1, y)
	c.countAlike(r)
	return true, nil
}

// sameLanes reports whether records say the same of the same threads, which are as far in both logs.
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
		c.room(i, c.thread(i, x, 64))
	}
	for m := c.lanesOf(x); m != 0 && x.Numbers == nil; m &= m - 1 {
		if t := c.thread(0, x, bits.TrailingZeros64(m)); c.counts[0][t] != c.counts[1][t] {
			return false
		}
	}
	return true
}

// operationDiffers reports whether the names of instructions say of an access what the log does not say
// otherwise, as the operation of an atomic, and are not the same.
func operationDiffers(x, y *Record, a, b *Access) bool {
	return (len(a.Store)+len(b.Store) == 0 && a.Kind != Load || a.Kind == Atomic) && x.Name != y.Name && x.Name != "" && y.Name != ""
}

// equalValues reports whether values are written the same.
func equalValues(a, b Value) bool {
	return a.Name == b.Name && a.Bits == b.Bits && a.Structure == b.Structure && a.Base == b.Base && a.High == b.High && a.Stride == b.Stride && slices.Equal(a.List, b.List) && slices.Equal(a.ListHigh, b.ListHigh)
}

// record compares a record of the first log with what its threads have in the second.
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

// code is the instruction of a record; nil if the log does not say.
func (c *comparison) code(i int, r *Record) *Code { return c.logs[i].codeOf(r) }

// sameInstr reports whether two records are of the same instruction: of the same text, or the same place
// in the code, so that one that has been edited is still itself.
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

// steps compares what a thread did in both logs.
func (c *comparison) steps(x step, y *step) *Difference {
	differ := func(name, a, b, format string, args ...any) *Difference {
		d := c.difference(format, args...)
		d.Name, d.Value = name, [2]string{a, b}
		return d
	}
	switch {
	case y == nil:
		return c.difference("the thread goes on in the first log only")
	case x.number != y.number && x.Kind == Instruction && y.Kind == Instruction:
		return differ("number", fmt.Sprint(x.number), fmt.Sprint(y.number), "one of the logs lacks instructions of the thread")
	case !c.sameInstr(x.Record, y.Record):
		return c.difference("the thread executes another instruction")
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

type differFunc func(name, a, b, format string, args ...any) *Difference

// results compares registers: by their names, or by their places in instructions that name others.
func (c *comparison) results(x step, y *step, differ differFunc) *Difference {
	partial := c.isMissing("results")
	count := &c.summary.Results
	most := max(len(x.Results), len(y.Results))
	if partial && (len(x.Results) == 0 || len(y.Results) == 0) {
		count.Skipped += uint64(most)
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
	count.Skipped += uint64(most - compared)
	return nil
}

func formatWide(low, high uint64) string { return string(appendWide(nil, low, high, 128)) }

// isNear reports whether approximate results are near enough to each other.
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

// distance is how many numbers are between the lowest bits of two words, read as numbers, and one
// more if they differ. NaNs are near each other only.
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
	order := func(v uint64) int64 { // as integers are, with both zeros 0
		if v>>(f.bits-1) != 0 {
			return -int64(v & (1<<(f.bits-1) - 1))
		}
		return int64(v)
	}
	d := order(a) - order(b)
	return uint64(max(d, -d))
}

// accesses compares what the threads did to memory.
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
		what := func(s *Access) string { return fmt.Sprintf("%s of %d bytes", s.Kind, s.Bytes) }
		if p, q := what(a[i]), what(b[i]); p != q {
			return differ("access", p, q, "the kind of access")
		}
		p, from := x.location(a[i])
		q, to := y.location(b[i])
		if p == "param" && q == p && c.logs[0].Header.Simulator != c.logs[1].Header.Simulator { // which is where each has it
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

// compareStored compares what threads give to an access.
func (c *comparison) compareStored(x step, y *step, a, b *Access, differ differFunc) *Difference {
	missingPart, words := "stored", [...]string{"what is stored", "the number of elements that are stored", "what is there in that case"}
	if a.Kind == Atomic {
		missingPart, words = "operands", [...]string{"the operand on memory", "the number of operands on memory", "what is compared with memory"}
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
				return differ(name, verb[v.Structure == NoValue], verb[w.Structure == NoValue], "which elements are stored")
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

// accessesOf are those of the step's lane.
func accessesOf(x step) (list []*Access) {
	for i := range x.Accesses {
		if a := &x.Accesses[i]; x.lanes(a)>>x.lane&1 != 0 {
			list = append(list, a)
		}
	}
	return list
}

// location is where an access of the step's lane goes: a space and an address in it, however the
// instruction names it. All that is device memory counts as global.
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

// ownSpaces are those whose addresses mean something else in each CTA or thread.
var ownSpaces = []string{"shared", "local", "param"}

// String is the difference, over some lines; what is first and second is for the reader to know.
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
		fmt.Fprintf(&b, ", thread %d, instruction %d of it", d.Thread, d.Number)
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
		fmt.Fprintf(&b, "  and so in %d threads of warp %d, lanes %#x\n", n, d.Warp[0], d.Lanes)
	}
	return b.String()
}

// instruction is that of a log, with its line.
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
