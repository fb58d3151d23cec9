package lower

// This file lowers mbarriers and asynchronous operations.

import (
	"gemu/interp/internal/alu"
	"gemu/interp/internal/code"
	"gemu/ptx"
)

// addressRow returns a 64-bit row with the address in an operand, and the state space of the address: the space of the
// variable that the operand names, otherwise the given space.
func (l *lowerer) addressRow(instr *ptx.Instr, o *ptx.Operand, space ptx.Space) (int32, ptx.Space) {
	return l.addressRowIn(instr, o, space, false)
}

// addressRowIn is addressRow for an address that is in .shared::cluster if cluster is set; see accessIn.
func (l *lowerer) addressRowIn(instr *ptx.Instr, o *ptx.Operand, space ptx.Space, cluster bool) (int32, ptx.Space) {
	a, addr := l.accessIn(instr, o, space, cluster)
	switch {
	case a.Frame:
		addr = l.newTemp(code.Q)
		l.emit(code.Instr{Op: code.Frame64, D: addr, Imm: a.Offset})
	case a.Addr == code.NoSlot:
		addr = l.constant(code.Q, a.Offset)
	case a.Addr == code.R:
		if a.Offset != 0 { // the sum wraps in 32 bits
			sum := l.newTemp(code.R)
			l.emit(code.Instr{Op: code.AddU32, D: sum, A: addr, B: l.constant(code.R, uint64(uint32(a.Offset)))})
			addr = sum
		}
		wide := l.newTemp(code.Q)
		l.emit(code.Instr{Op: code.ZextB64, D: wide, A: addr})
		addr = wide
	case a.Offset != 0:
		sum := l.newTemp(code.Q)
		l.emit(code.Instr{Op: code.AddU64, D: sum, A: addr, B: l.constant(code.Q, a.Offset)})
		addr = sum
	}
	return addr, a.Space
}

func lowerMbarrier(l *lowerer, instr *ptx.Instr) {
	m := code.Mbarrier{
		Drop: instr.Has("arrive_drop"), Expect: instr.Has("expect_tx"), NoComplete: instr.Has("noComplete"),
		V1: instr.Has("layout::v1"), Condition: instr.Has("phase_type::conditional"), Arrives: instr.Has("arrive") || instr.Has("arrive_drop"),
	}
	space, sub := instr.Space()
	o := code.Instr{}
	o.A, m.Space = l.addressRowIn(instr, instr.Arg("a"), space, sub == "cluster")
	o.Imm = m.Imm()
	count := func() int32 {
		if b := instr.Arg("b"); b.Kind != ptx.NoOperand {
			return l.source(b, ptx.U32, code.R)
		}
		return l.constant(code.R, 1)
	}
	switch {
	case instr.Has("multicast::cluster::32b"):
		if d := instr.Form.Operand("d"); d >= 0 && instr.Ops[d].Kind == ptx.RegOperand { // the manual does not say from which CTA
			l.refuse("%s with a result", instr.Text)
		}
		o.Op, o.B, o.C = code.MbarrierMany, count(), l.source(instr.Arg("e"), ptx.U32, code.R)
	case instr.Has("check_layout"):
		o.Op, o.D = code.MbarrierLayout, l.predicate(instr.Arg("p"))
	case instr.Has("init"):
		o.Op, o.B = code.MbarrierInit, count()
	case instr.Has("inval"):
		o.Op = code.MbarrierInval
	case instr.Has("arrive"), instr.Has("arrive_drop"):
		o.Op, o.D, o.B = code.MbarrierArrive, l.target(instr.Arg("d"), code.Q), count()
	case instr.Has("expect_tx"), instr.Has("complete_tx"):
		o.Op, o.B = code.MbarrierTx, count()
	case instr.Has("parity"):
		o.Op, o.D, o.B = code.MbarrierParity, l.predicate(instr.Arg("p")), count()
	default:
		o.Op, o.D, o.B = code.MbarrierTest, l.predicate(instr.Arg("p")), l.source(instr.Arg("b"), ptx.B64, code.Q)
	}
	if o.Op == code.MbarrierTest || o.Op == code.MbarrierParity {
		l.emitReported(instr, o)
		return
	}
	l.emit(o)
}

// emitReported emits o, a phase query of an mbarrier, and the moves of its report to operands q and d.
func (l *lowerer) emitReported(instr *ptx.Instr, o code.Instr) {
	o.F = code.NoRow
	if instr.Form.Operand("q") < 0 || instr.Arg("q").Kind == ptx.NoOperand {
		l.emit(o)
		return
	}
	o.F = l.newTemp(code.R)
	l.emit(o)
	if q := l.predicate(instr.Arg("q")); q != code.NoRow {
		l.emit(code.Instr{Op: code.OpNamed("cmp.ge.u32"), D: q, F: code.NoRow, A: o.F, B: l.constant(code.R, 1<<8), C: l.constant(code.P, 0), Imm: alu.BoolNone})
	}
	if d := instr.Arg("d"); d.Kind == ptx.RegOperand {
		l.emit(code.Instr{Op: code.OpNamed("and.b32"), D: l.target(d, code.R), A: o.F, B: l.constant(code.R, 0xff)})
	}
}

func lowerAsync(l *lowerer, instr *ptx.Instr) {
	switch {
	case instr.Has("tensor"):
		l.tensorCopy(instr)
	case instr.Has("commit_group"):
		l.emit(code.Instr{Op: code.AsyncCommit, Imm: code.Async{Bulk: instr.Has("bulk")}.Imm()})
	case instr.Has("wait_group"):
		a := code.Async{Bulk: instr.Has("bulk"), Read: instr.Has("read")}
		l.emit(code.Instr{Op: code.AsyncWait, A: l.source(instr.Arg("a"), ptx.U32, code.R), Imm: a.Imm()})
	case instr.Has("wait_all"):
		l.emit(code.Instr{Op: code.AsyncWait, A: l.constant(code.R, 0), Imm: code.Async{All: true}.Imm()})
	case instr.Has("arrive"):
		a, o := code.Async{NoInc: instr.Has("noinc")}, code.Instr{Op: code.AsyncArrive}
		space, _ := instr.Space()
		o.A, a.To = l.addressRow(instr, instr.Arg("a"), space)
		o.Imm = a.Imm()
		l.emit(o)
	case instr.Has("bulk"):
		l.asyncBulk(instr)
	default:
		l.asyncCopy(instr)
	}
}

// asyncCopy lowers cp.async.
func (l *lowerer) asyncCopy(instr *ptx.Instr) {
	a, o := code.Async{Bytes: int(instr.Arg("c").Imm.Bits)}, code.Instr{Op: code.AsyncCopy}
	o.A, a.To = l.addressRow(instr, instr.Arg("a"), ptx.Shared)
	o.B, a.From = l.addressRow(instr, instr.Arg("b"), ptx.Global)
	size := l.constant(code.R, uint64(a.Bytes))
	switch e := instr.Arg("e"); {
	case e.Kind == ptx.NoOperand:
		o.C = size
	case e.Kind == ptx.RegOperand && l.fn.Func.Regs[e.Reg].Type == ptx.Pred:
		o.C = l.newTemp(code.R)
		l.emit(code.Instr{Op: code.OpNamed("selp.b32"), D: o.C, A: l.constant(code.R, 0), B: size, C: l.source(e, ptx.Pred, code.P)})
	default:
		o.C = l.source(e, ptx.U32, code.R)
	}
	o.Imm = a.Imm()
	l.emit(o)
}

// asyncBulk lowers cp.async.bulk and cp.reduce.async.bulk.
func (l *lowerer) asyncBulk(instr *ptx.Instr) {
	a, o := code.Async{Bulk: true, NotifiesMbarrier: !instr.Has("bulk_group"), To: ptx.Shared, From: ptx.Shared}, code.Instr{Op: code.AsyncBulk}
	switch {
	case !a.NotifiesMbarrier:
		a.To = ptx.Global
	case instr.Has("global"):
		a.From = ptx.Global
	}
	if op, ok := atomicOf(instr); ok {
		a.Reduces, a.Reduction = true, reductionOf(instr, op, a.To)
	}
	if instr.Type() == ptx.F32 {
		a.Reduction.Global = false // bulk sums keep subnormal numbers (manual of PTX 9.4, cp.reduce.async.bulk)
	}
	cluster := instr.Has("shared::cluster")
	o.A, a.To = l.addressRowIn(instr, instr.Arg("a"), a.To, cluster)
	o.B, a.From = l.addressRow(instr, instr.Arg("b"), a.From)
	o.C, o.E = l.source(instr.Arg("c"), ptx.U32, code.R), l.constant(code.Q, 0)
	if a.NotifiesMbarrier {
		o.E, a.MbarrierSpace = l.addressRowIn(instr, instr.Arg("e"), ptx.Shared, cluster)
	}
	mask := int32(code.NoRow)
	switch {
	case instr.Has("multicast::cluster::32b"):
		mask = l.source(instr.Arg("f"), ptx.B32, code.R)
	case multicasts(instr) || instr.Has("cp_mask"):
		mask = l.source(instr.Arg("f"), ptx.B16, code.R)
	case instr.Has("ignore_oob"):
		a.IgnoreOutOfBounds = true
		mask = l.ignoredBytes(instr.Arg("h"), instr.Arg("i"))
	}
	if mask != code.NoRow {
		size := o.C
		o.Op, o.C = code.AsyncMasked, l.newTemp(code.Q)
		l.emit(code.Instr{Op: code.PackB64, D: o.C, A: size, B: mask})
	}
	a.ReportPattern = reportPatterns[instr.Slot("report")]
	o.Imm = a.Imm()
	l.emit(o)
}

// ignoredBytes returns a row with the numbers of bytes that a copy ignores at the start (left) and at the end (right) of
// its source, each at most 255, in the format of code.AsyncMasked.
func (l *lowerer) ignoredBytes(left, right *ptx.Operand) int32 {
	emit := func(op string, a, b int32) int32 {
		d := l.newTemp(code.R)
		l.emit(code.Instr{Op: code.OpNamed(op), D: d, A: a, B: b})
		return d
	}
	limit := l.constant(code.R, 255)
	low := emit("min.u32", l.source(left, ptx.U32, code.R), limit)
	high := emit("min.u32", l.source(right, ptx.U32, code.R), limit)
	return emit("or.b32", low, emit("shl.b32", high, l.constant(code.R, 8)))
}

// multicasts reports whether a copy writes to several CTAs of a cluster.
func multicasts(instr *ptx.Instr) bool {
	return instr.Has("multicast::cluster") || instr.Has("multicast::cluster::16b") || instr.Has("multicast::cluster::32b")
}

// reportPatterns maps modifiers to the patterns that a copy searches in its source.
var reportPatterns = map[string]code.PatternCheck{
	"mbarrier::report::validity::per_16bytes::80000000": code.Per16Of32,
	"mbarrier::report::validity::per_16bytes::8000":     code.Per16Of16,
	"mbarrier::report::validity::per_16bytes::80":       code.Per16Of8,
	"mbarrier::report::validity::per_16bytes::8":        code.Per16Of4,
	"mbarrier::report::validity::per_element::ff":       code.PerByte,
}

// lowerAsyncStore lowers st.async and red.async to stores of at most 16 bytes.
func lowerAsyncStore(l *lowerer, instr *ptx.Instr) {
	a := code.Async{NotifiesMbarrier: true}
	space, sub := instr.Space()
	if op, ok := atomicOf(instr); ok {
		a.Reduces, a.Reduction = true, code.ReductionOn(op, instr.Type(), ptx.Shared)
	}
	to, mbarrier := int32(0), int32(0)
	to, a.To = l.addressRowIn(instr, instr.Arg("a"), space, sub == "cluster")
	mbarrier, a.MbarrierSpace = l.addressRowIn(instr, instr.Arg("c"), space, sub == "cluster")
	var data code.Access
	l.elements(&data, instr.Arg("b"), instr.Type(), true)
	size := instr.Type().Size()
	var words []int32 // 64-bit rows
	for i := 0; i < len(data.Elems); i++ {
		switch row := data.Elems[i].Row; {
		case size == 16:
			words = append(words, row, data.Elems[i].High)
		case size == 8:
			words = append(words, row)
		case i+1 < len(data.Elems):
			i++
			word := l.newTemp(code.Q)
			l.emit(code.Instr{Op: code.PackB64, D: word, A: row, B: data.Elems[i].Row})
			words = append(words, word)
		default:
			word := l.newTemp(code.Q)
			l.emit(code.Instr{Op: code.ZextB64, D: word, A: row})
			words = append(words, word)
		}
	}
	for remaining := size * len(data.Elems); remaining > 0; remaining -= 16 {
		o := code.Instr{Op: code.AsyncStore, A: to, B: mbarrier, C: words[0], E: words[0]}
		if a.Bytes = min(remaining, 16); a.Bytes > 8 {
			o.E = words[1]
			words = words[2:]
		}
		o.Imm = a.Imm()
		l.emit(o)
		if remaining > 16 {
			next := l.newTemp(code.Q)
			l.emit(code.Instr{Op: code.AddU64, D: next, A: to, B: l.constant(code.Q, 16)})
			to = next
		}
	}
}

// lowerTryCancel lowers clusterlaunchcontrol.try_cancel.
func lowerTryCancel(l *lowerer, instr *ptx.Instr) {
	l.prog.CancelsClusters = true
	a, o := code.Async{NotifiesMbarrier: true, Bytes: 16, All: instr.Has("multicast::cluster::all")}, code.Instr{Op: code.AsyncCancel}
	space, _ := instr.Space()
	o.A, a.To = l.addressRow(instr, instr.Arg("a"), space)
	o.B, a.MbarrierSpace = l.addressRow(instr, instr.Arg("b"), space)
	o.Imm = a.Imm()
	l.emit(o)
}

// lowerQueryCancel lowers clusterlaunchcontrol.query_cancel. The manual calls the 16 bytes of the response opaque. In
// gemu they are four words: x, y and z of the cancelled cluster's first CTA, and 1; all are 0 if no cluster was cancelled.
func lowerQueryCancel(l *lowerer, instr *ptx.Instr) {
	a := &l.rows[instr.Arg("a").Reg]
	moveWord := func(d int32, i int) {
		row := [...]int32{a.Row, a.High}[i/2]
		if i%2 != 0 {
			upper := l.newTemp(code.Q)
			l.emit(code.Instr{Op: code.OpNamed("shr.u64"), D: upper, A: row, B: l.constant(code.R, 32)})
			row = upper
		}
		l.emit(code.Instr{Op: code.CvtU32U64, D: d, A: row})
	}
	switch {
	case instr.Has("is_canceled"):
		p := l.predicate(instr.Arg("p"))
		if p == code.NoRow {
			return
		}
		cancelled := l.newTemp(code.R)
		moveWord(cancelled, 3)
		l.emit(code.Instr{Op: code.OpNamed("cmp.ne.b32"), D: p, F: code.NoRow, A: cancelled, B: l.constant(code.R, 0), C: l.constant(code.P, 0), Imm: alu.BoolNone})
	case instr.Has("v4"):
		words := make([]int32, 4)
		for i := range words { // a destination may overlap a source still needed
			words[i] = l.newTemp(code.R)
			moveWord(words[i], i)
		}
		words[3] = l.constant(code.R, 0)
		for i := range instr.Arg("d").Elems() {
			if e := &instr.Arg("d").Elems()[i]; e.Kind == ptx.RegOperand {
				l.emit(code.Instr{Op: code.MovB32, D: l.rows[e.Reg].Row, A: words[i]})
			}
		}
	default:
		i := map[string]int{"get_first_ctaid::x": 0, "get_first_ctaid::y": 1, "get_first_ctaid::z": 2}[instr.Slot("op")]
		moveWord(l.target(instr.Arg("d"), code.R), i)
	}
}
