package lower

// This file lowers mbarriers and asynchronous operations.

import (
	"gemu/interp/internal/alu"
	"gemu/interp/internal/code"
	"gemu/ptx"
)

// place gives a 64-bit row with the address of an operand, and the state space that it is an
// address in: that of the variable which the operand names, else the one given.
func (l *lowerer) place(in *ptx.Instr, o *ptx.Operand, space ptx.Space) (int32, ptx.Space) {
	return l.placeIn(in, o, space, false)
}

// placeIn is place for an address that is in .shared::cluster if cluster, as accessIn has it.
func (l *lowerer) placeIn(in *ptx.Instr, o *ptx.Operand, space ptx.Space, cluster bool) (int32, ptx.Space) {
	a, addr := l.accessIn(in, o, space, cluster)
	switch {
	case a.Frame:
		addr = l.temp(code.Q)
		l.emit(code.Instr{Op: code.Frame64, D: addr, Imm: a.Off})
	case a.Addr == code.NoSlot:
		addr = l.konst(code.Q, a.Off)
	case a.Addr == code.R:
		if a.Off != 0 { // it wraps in 32 bits
			sum := l.temp(code.R)
			l.emit(code.Instr{Op: code.AddU32, D: sum, A: addr, B: l.konst(code.R, uint64(uint32(a.Off)))})
			addr = sum
		}
		wide := l.temp(code.Q)
		l.emit(code.Instr{Op: code.ZextB64, D: wide, A: addr})
		addr = wide
	case a.Off != 0:
		sum := l.temp(code.Q)
		l.emit(code.Instr{Op: code.AddU64, D: sum, A: addr, B: l.konst(code.Q, a.Off)})
		addr = sum
	}
	return addr, a.Space
}

func lowerMbarrier(l *lowerer, in *ptx.Instr) {
	m := code.Mbarrier{
		Drop: in.Has("arrive_drop"), Expect: in.Has("expect_tx"), NoComplete: in.Has("noComplete"),
		V1: in.Has("layout::v1"), Condition: in.Has("phase_type::conditional"), Arrives: in.Has("arrive") || in.Has("arrive_drop"),
	}
	space, sub := in.Space()
	o := code.Instr{}
	o.A, m.Space = l.placeIn(in, in.Arg("a"), space, sub == "cluster")
	o.Imm = m.Imm()
	count := func() int32 {
		if b := in.Arg("b"); b.Kind != ptx.NoOperand {
			return l.source(b, ptx.U32, code.R)
		}
		return l.konst(code.R, 1)
	}
	switch {
	case in.Has("multicast::cluster::32b"):
		o.Op, o.B, o.C = code.MbarrierMany, count(), l.source(in.Arg("e"), ptx.U32, code.R)
	case in.Has("check_layout"):
		o.Op, o.D = code.MbarrierLayout, l.predicate(in.Arg("p"))
	case in.Has("init"):
		o.Op, o.B = code.MbarrierInit, count()
	case in.Has("inval"):
		o.Op = code.MbarrierInval
	case in.Has("arrive"), in.Has("arrive_drop"):
		o.Op, o.D, o.B = code.MbarrierArrive, l.target(in.Arg("d"), code.Q), count()
	case in.Has("expect_tx"), in.Has("complete_tx"):
		o.Op, o.B = code.MbarrierTx, count()
	case in.Has("parity"):
		o.Op, o.D, o.B = code.MbarrierParity, l.predicate(in.Arg("p")), count()
	default:
		o.Op, o.D, o.B = code.MbarrierTest, l.predicate(in.Arg("p")), l.source(in.Arg("b"), ptx.B64, code.Q)
	}
	if o.Op == code.MbarrierTest || o.Op == code.MbarrierParity {
		l.emitReported(in, o)
		return
	}
	l.emit(o)
}

// emitReported emits a look at an mbarrier, and gives its report to the operands that want it.
func (l *lowerer) emitReported(in *ptx.Instr, o code.Instr) {
	o.F = code.NoRow
	if in.Form.Operand("q") < 0 || in.Arg("q").Kind == ptx.NoOperand {
		l.emit(o)
		return
	}
	o.F = l.temp(code.R)
	l.emit(o)
	if q := l.predicate(in.Arg("q")); q != code.NoRow {
		l.emit(code.Instr{Op: code.Named("cmp.ge.u32"), D: q, F: code.NoRow, A: o.F, B: l.konst(code.R, 1<<8), C: l.konst(code.P, 0), Imm: alu.BoolNone})
	}
	if d := in.Arg("d"); d.Kind == ptx.RegOperand {
		l.emit(code.Instr{Op: code.Named("and.b32"), D: l.target(d, code.R), A: o.F, B: l.konst(code.R, 0xff)})
	}
}

func lowerAsync(l *lowerer, in *ptx.Instr) {
	switch {
	case in.Has("tensor"):
		l.tensorCopy(in)
	case in.Has("commit_group"):
		l.emit(code.Instr{Op: code.AsyncCommit, Imm: code.Async{Bulk: in.Has("bulk")}.Imm()})
	case in.Has("wait_group"):
		a := code.Async{Bulk: in.Has("bulk"), Read: in.Has("read")}
		l.emit(code.Instr{Op: code.AsyncWait, A: l.source(in.Arg("a"), ptx.U32, code.R), Imm: a.Imm()})
	case in.Has("wait_all"):
		l.emit(code.Instr{Op: code.AsyncWait, A: l.konst(code.R, 0), Imm: code.Async{All: true}.Imm()})
	case in.Has("arrive"):
		a, o := code.Async{NoInc: in.Has("noinc")}, code.Instr{Op: code.AsyncArrive}
		space, _ := in.Space()
		o.A, a.To = l.place(in, in.Arg("a"), space)
		o.Imm = a.Imm()
		l.emit(o)
	case in.Has("bulk"):
		l.asyncBulk(in)
	default:
		l.asyncCopy(in)
	}
}

// asyncCopy lowers cp.async.
func (l *lowerer) asyncCopy(in *ptx.Instr) {
	a, o := code.Async{Bytes: int(in.Arg("c").Imm.Bits)}, code.Instr{Op: code.AsyncCopy}
	o.A, a.To = l.place(in, in.Arg("a"), ptx.Shared)
	o.B, a.From = l.place(in, in.Arg("b"), ptx.Global)
	all := l.konst(code.R, uint64(a.Bytes))
	switch e := in.Arg("e"); {
	case e.Kind == ptx.NoOperand:
		o.C = all
	case e.Kind == ptx.RegOperand && l.fn.Func.Regs[e.Reg].Type == ptx.Pred:
		o.C = l.temp(code.R)
		l.emit(code.Instr{Op: code.Named("selp.b32"), D: o.C, A: l.konst(code.R, 0), B: all, C: l.source(e, ptx.Pred, code.P)})
	default:
		o.C = l.source(e, ptx.U32, code.R)
	}
	o.Imm = a.Imm()
	l.emit(o)
}

// asyncBulk lowers cp.async.bulk and cp.reduce.async.bulk.
func (l *lowerer) asyncBulk(in *ptx.Instr) {
	a, o := code.Async{Bulk: true, Tells: !in.Has("bulk_group"), To: ptx.Shared, From: ptx.Shared}, code.Instr{Op: code.AsyncBulk}
	switch {
	case !a.Tells:
		a.To = ptx.Global
	case in.Has("global"):
		a.From = ptx.Global
	}
	if op, ok := atomicOf(in); ok {
		a.Reduces, a.Reduction = true, reductionOf(in, op, a.To)
	}
	if in.Type() == ptx.F32 {
		a.Reduction.Global = false // bulk sums keep subnormal numbers (manual of PTX 9.4, cp.reduce.async.bulk)
	}
	cluster := in.Has("shared::cluster")
	o.A, a.To = l.placeIn(in, in.Arg("a"), a.To, cluster)
	o.B, a.From = l.place(in, in.Arg("b"), a.From)
	o.C, o.E = l.source(in.Arg("c"), ptx.U32, code.R), l.konst(code.Q, 0)
	if a.Tells {
		o.E, a.Told = l.placeIn(in, in.Arg("e"), ptx.Shared, cluster)
	}
	mask := int32(code.NoRow)
	switch {
	case in.Has("multicast::cluster::32b"):
		mask = l.source(in.Arg("f"), ptx.B32, code.R)
	case multicasts(in) || in.Has("cp_mask"):
		mask = l.source(in.Arg("f"), ptx.B16, code.R)
	case in.Has("ignore_oob"):
		a.IgnoreOOB = true
		mask = l.ends(in.Arg("h"), in.Arg("i"))
	}
	if mask != code.NoRow {
		size := o.C
		o.Op, o.C = code.AsyncMasked, l.temp(code.Q)
		l.emit(code.Instr{Op: code.PackB64, D: o.C, A: size, B: mask})
	}
	a.Report = validities[in.Slot("report")]
	o.Imm = a.Imm()
	l.emit(o)
}

// ends gives a row with the bytes that a copy ignores at both ends of its source, each at most 255, for
// code.AsyncMasked.
func (l *lowerer) ends(left, right *ptx.Operand) int32 {
	then := func(op string, a, b int32) int32 {
		d := l.temp(code.R)
		l.emit(code.Instr{Op: code.Named(op), D: d, A: a, B: b})
		return d
	}
	most := l.konst(code.R, 255)
	low := then("min.u32", l.source(left, ptx.U32, code.R), most)
	high := then("min.u32", l.source(right, ptx.U32, code.R), most)
	return then("or.b32", low, then("shl.b32", high, l.konst(code.R, 8)))
}

// multicasts reports whether a copy goes to several CTAs of a cluster.
func multicasts(in *ptx.Instr) bool {
	return in.Has("multicast::cluster") || in.Has("multicast::cluster::16b") || in.Has("multicast::cluster::32b")
}

// validities are the inspections of a copied source, by modifier.
var validities = map[string]code.Validity{
	"mbarrier::report::validity::per_16bytes::80000000": code.Per16Of32,
	"mbarrier::report::validity::per_16bytes::8000":     code.Per16Of16,
	"mbarrier::report::validity::per_16bytes::80":       code.Per16Of8,
	"mbarrier::report::validity::per_16bytes::8":        code.Per16Of4,
	"mbarrier::report::validity::per_element::ff":       code.PerByte,
}

// lowerAsyncStore lowers st.async and red.async, in parts of up to 16 bytes.
func lowerAsyncStore(l *lowerer, in *ptx.Instr) {
	a := code.Async{Tells: true}
	space, sub := in.Space()
	if op, ok := atomicOf(in); ok {
		a.Reduces, a.Reduction = true, code.ReductionOn(op, in.Type(), ptx.Shared)
	}
	to, told := int32(0), int32(0)
	to, a.To = l.placeIn(in, in.Arg("a"), space, sub == "cluster")
	told, a.Told = l.placeIn(in, in.Arg("c"), space, sub == "cluster")
	var data code.Access
	l.elements(&data, in.Arg("b"), in.Type(), true)
	size := in.Type().Size()
	var words []int32 // rows of 64 bits
	for i := 0; i < len(data.Elems); i++ {
		switch row := data.Elems[i].Row; {
		case size == 16:
			words = append(words, row, data.Elems[i].High)
		case size == 8:
			words = append(words, row)
		case i+1 < len(data.Elems):
			i++
			word := l.temp(code.Q)
			l.emit(code.Instr{Op: code.PackB64, D: word, A: row, B: data.Elems[i].Row})
			words = append(words, word)
		default:
			word := l.temp(code.Q)
			l.emit(code.Instr{Op: code.ZextB64, D: word, A: row})
			words = append(words, word)
		}
	}
	for left := size * len(data.Elems); left > 0; left -= 16 {
		o := code.Instr{Op: code.AsyncStore, A: to, B: told, C: words[0], E: words[0]}
		if a.Bytes = min(left, 16); a.Bytes > 8 {
			o.E = words[1]
			words = words[2:]
		}
		o.Imm = a.Imm()
		l.emit(o)
		if left > 16 {
			next := l.temp(code.Q)
			l.emit(code.Instr{Op: code.AddU64, D: next, A: to, B: l.konst(code.Q, 16)})
			to = next
		}
	}
}

// lowerTryCancel lowers clusterlaunchcontrol.try_cancel.
func lowerTryCancel(l *lowerer, in *ptx.Instr) {
	l.prog.Cancels = true
	a, o := code.Async{Tells: true, Bytes: 16, All: in.Has("multicast::cluster::all")}, code.Instr{Op: code.AsyncCancel}
	space, _ := in.Space()
	o.A, a.To = l.place(in, in.Arg("a"), space)
	o.B, a.Told = l.place(in, in.Arg("b"), space)
	o.Imm = a.Imm()
	l.emit(o)
}

// lowerQueryCancel lowers clusterlaunchcontrol.query_cancel. The 16 bytes, which the manual calls
// opaque, are the index of the first CTA of the cluster, and 1: four words. Where no cluster was
// taken out of the launch they are 0.
func lowerQueryCancel(l *lowerer, in *ptx.Instr) {
	a := &l.rows[in.Arg("a").Reg]
	word := func(d int32, i int) {
		row := [...]int32{a.Row, a.High}[i/2]
		if i%2 != 0 {
			upper := l.temp(code.Q)
			l.emit(code.Instr{Op: code.Named("shr.u64"), D: upper, A: row, B: l.konst(code.R, 32)})
			row = upper
		}
		l.emit(code.Instr{Op: code.CvtU32U64, D: d, A: row})
	}
	switch {
	case in.Has("is_canceled"):
		p := l.predicate(in.Arg("p"))
		if p == code.NoRow {
			return
		}
		done := l.temp(code.R)
		word(done, 3)
		l.emit(code.Instr{Op: code.Named("cmp.ne.b32"), D: p, F: code.NoRow, A: done, B: l.konst(code.R, 0), C: l.konst(code.P, 0), Imm: alu.BoolNone})
	case in.Has("v4"):
		words := make([]int32, 4)
		for i := range words { // a destination may be part of nothing that is still read
			words[i] = l.temp(code.R)
			word(words[i], i)
		}
		words[3] = l.konst(code.R, 0)
		for i := range in.Arg("d").Elems() {
			if e := &in.Arg("d").Elems()[i]; e.Kind == ptx.RegOperand {
				l.emit(code.Instr{Op: code.MovB32, D: l.rows[e.Reg].Row, A: words[i]})
			}
		}
	default:
		i := map[string]int{"get_first_ctaid::x": 0, "get_first_ctaid::y": 1, "get_first_ctaid::z": 2}[in.Slot("op")]
		word(l.target(in.Arg("d"), code.R), i)
	}
}
