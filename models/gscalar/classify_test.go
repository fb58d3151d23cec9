package gscalar

// This file recounts everything by a different method: registers are lists of hexadecimal digits, and the effect of an
// access is derived from the digits of the last write. It shares with the model only the names of its counters.

import (
	"fmt"
	"maps"
	"math/bits"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gemu/internal/part"
	"gemu/interp"
	"gemu/kernels"
	"gemu/probe"
	"gemu/ptx"
)

// classifier is the recounting probe; it subscribes in one order, so it needs no lock.
type classifier struct {
	Counts
	regs map[string]*recountedRegister // by CTA, warp, depth, function, register and word
}

// recountedRegister is the last write of a register: the values, by lane, "" for lanes that did not write, and its storage if
// all lanes wrote.
type recountedRegister struct {
	digits        []string
	bytes, arrays [schemeCount]int
}

func (c *classifier) Subscription() probe.Subscription {
	return probe.Subscription{Events: probe.OnAfter | probe.OnWake | probe.OnReturn | probe.OnCTAEnd, Values: true, Addresses: true, InOrder: true}
}

func (c *classifier) CTA(*probe.LaunchInfo, int, ptx.Dim3) probe.Sink { return c }

// common returns the number of leading digits shared by the lanes in [from, to) that have digits; -1 if no lane has any.
func common(digits []string, from, to int) int {
	prefix, any := "", false
	for _, d := range digits[from:to] {
		switch {
		case d == "":
		case !any:
			prefix, any = d, true
		default:
			for !strings.HasPrefix(d, prefix) {
				prefix = prefix[:len(prefix)-1] // down to nothing
			}
		}
	}
	if !any {
		return -1
	}
	return len(prefix)
}

func full(digits []string) bool {
	for _, d := range digits {
		if d == "" {
			return false
		}
	}
	return true
}

// sameLanes reports whether exactly the lanes of a mask have digits.
func sameLanes(digits []string, lanes uint64) bool {
	for i, d := range digits {
		if (d != "") != (lanes>>i&1 != 0) {
			return false
		}
	}
	return true
}

// digits returns the digits of a word of a value in some lanes.
func digits(e *probe.Event, v *probe.Value, k int, lanes uint64) []string {
	list := make([]string, e.Launch.WarpSize)
	for i := range list {
		if lanes>>i&1 == 0 {
			continue
		}
		x := v.Low[i]
		if k >= 2 {
			x = v.High[i]
		}
		if size := v.Type.Bits(); size < 64 {
			x %= 1 << size
		}
		text := fmt.Sprintf("%016x", x)
		list[i] = text[8-8*(k%2):][:8]
	}
	return list
}

// storage returns the storage of a write of all lanes, by scheme: bytes and arrays.
func storage(digits []string) (bytes, arrays [schemeCount]int) {
	n := len(digits)
	numbers := make([]uint32, n)
	for i, d := range digits {
		x, _ := strconv.ParseUint(d, 16, 32)
		numbers[i] = uint32(x)
	}
	number := func(i int) uint32 { return numbers[i] }
	planes := func(from, to int) (bytes, arrays int) {
		same := common(digits, from, to) / 2
		return same + (4-same)*(to-from), ((4-same)*(to-from) + 15) / 16
	}
	bytes[Vectors], arrays[Vectors] = 4*n, n/4
	bytes[Bytewise], arrays[Bytewise] = planes(0, n)
	bytes[ScalarFile], arrays[ScalarFile] = 4*n, n/4
	if bytes[Bytewise] == 4 {
		bytes[ScalarFile], arrays[ScalarFile] = 4, 0
	}
	for g := 0; g < n; g += 16 {
		b, a := planes(g, g+16)
		bytes[Halves] += b
		arrays[Halves] += a
	}
	bytes[Affine], arrays[Affine] = bytes[Bytewise], arrays[Bytewise]
	affine, size := true, 0
	for i := range n {
		affine = affine && number(i) == number(0)+uint32(i)*(number(1)-number(0))
		d := int64(int32(number(i) - number(0)))
		for size < 4 && size > 0 && (d < -1<<(8*size-1) || d >= 1<<(8*size-1)) || size == 0 && d != 0 {
			size++
		}
	}
	if affine && bytes[Bytewise] != 4 {
		bytes[Affine], arrays[Affine] = 8, 0
	}
	bytes[BDI], arrays[BDI] = 4+size*n, (4+size*n+15)/16
	if size == 4 {
		bytes[BDI], arrays[BDI] = 4*n, n/4
	}
	bytes[Warped], arrays[Warped] = bytes[BDI], arrays[BDI]
	if size == 3 {
		bytes[Warped], arrays[Warped] = 4*n, n/4
	}
	return bytes, arrays
}

func (c *classifier) OnEvent(e *probe.Event) {
	if e.Kind == probe.OnCTAEnd {
		maps.DeleteFunc(c.regs, func(key string, _ *recountedRegister) bool {
			return strings.HasPrefix(key, fmt.Sprint(e.Launch.ID, " ", e.CTA, " "))
		})
		return
	}
	instr, warp := e.Instr, e.Launch.WarpSize
	lanes := e.Lanes
	control := instr.Form.Class == ptx.ClassControl
	if control {
		lanes = e.Active
	}
	divergent := lanes != ^uint64(0)>>(64-warp)
	find := func(r ptx.RegID, k int) (string, *recountedRegister) {
		key := fmt.Sprint(e.Launch.ID, " ", e.CTA, " ", e.Warp, " ", e.Depth, " ", e.Func.Name, " ", r, " ", k)
		return key, c.regs[key]
	}
	// account counts an access by a scheme to a register in a number of arrays; small reports an access to a small array,
	// too.
	account := func(s *Scheme, i, arrays int, scalar, move bool) {
		small := int64(0)
		if i >= Bytewise || i == ScalarFile && scalar {
			small = 1
		}
		banks := int64(min(arrays, 1))
		s.Arrays, s.Banks, s.Small = s.Arrays+int64(arrays), s.Banks+banks, s.Small+small
		if move {
			s.MoveArrays, s.MoveBanks, s.MoveSmall = s.MoveArrays+int64(arrays), s.MoveBanks+banks, s.MoveSmall+small
		}
	}
	if e.Kind == probe.OnAfter {
		c.Instructions++
		if divergent {
			c.Divergent++
		}
	}
	if lanes == 0 {
		return
	}
	if e.Kind == probe.OnAfter {
		for i := range e.Reads {
			v := &e.Reads[i]
			if v.Type == ptx.Pred {
				continue
			}
			for k := range max(1, v.Type.Bits()/32) {
				now := digits(e, v, k, lanes)
				_, last := find(v.Reg, k)
				kind := DivergentAccess
				if !divergent {
					kind = SimilarityClass(common(now, 0, warp) / 2)
				}
				c.Reads[min(k, 1)][kind]++
				for i := range schemeCount {
					s := &c.Schemes[i][min(k, 1)]
					s.Reads++
					arrays, scalar := warp/4, false
					if last != nil && full(last.digits) {
						arrays, scalar = last.arrays[i], last.bytes[ScalarFile] == 4
					}
					account(s, i, arrays, scalar, false)
				}
			}
		}
		for reading := range InterpretationCount {
			c.eligible(e, reading, lanes, divergent, find)
		}
	}
	if e.Kind == probe.OnAfter && (instr.Call != nil || instr.Form.Class == ptx.ClassBarrier) || e.Lanes == 0 {
		return
	}
	for i := range e.Writes {
		v := &e.Writes[i]
		for k := range max(1, v.Type.Bits()/32) {
			now := digits(e, v, k, lanes)
			key, last := find(v.Reg, k)
			w := &recountedRegister{digits: now}
			c.regs[key] = w
			if v.Type == ptx.Pred {
				continue
			}
			kind := DivergentAccess
			bytes, arrays := [schemeCount]int{}, [schemeCount]int{}
			if !divergent {
				kind = SimilarityClass(common(now, 0, warp) / 2)
				bytes, arrays = storage(now)
				w.bytes, w.arrays = bytes, arrays
			}
			c.Writes[min(k, 1)][kind]++
			for i := range schemeCount {
				s := &c.Schemes[i][min(k, 1)]
				s.Writes++
				s.FullWrites += int64(4 * warp)
				if !divergent {
					s.Bytes += int64(bytes[i])
					account(s, i, arrays[i], bytes[ScalarFile] == 4, false)
					continue
				}
				s.Bytes += int64(4 * warp)
				if last != nil && full(last.digits) {
					if last.bytes[i] < 4*warp {
						s.Moves++
						account(s, i, last.arrays[i], last.bytes[ScalarFile] == 4, true)
						account(s, i, warp/4, false, true)
					}
				}
				all := warp / 4
				if i <= Warped {
					all = 0
					for g := 0; g < warp; g += 4 {
						if lanes>>g&15 != 0 {
							all++
						}
					}
				}
				account(s, i, all, false, false)
			}
		}
	}
}

// eligible counts an instruction if it may be executed as a scalar, under one of the interpretations.
func (c *classifier) eligible(e *probe.Event, reading Interpretation, lanes uint64, divergent bool, find func(r ptx.RegID, k int) (string, *recountedRegister)) {
	instr, warp := e.Instr, e.Launch.WarpSize
	byValue, byMask, whole, half := true, true, true, []bool{}
	for range warp / 16 {
		half = append(half, true)
	}
	source := func(last *recountedRegister) {
		scalar := last != nil && common(last.digits, 0, warp) == 8
		whole = whole && scalar && full(last.digits)
		byMask = byMask && scalar && (full(last.digits) || sameLanes(last.digits, lanes))
		for g := range half {
			half[g] = half[g] && last != nil && full(last.digits) && common(last.digits, 16*g, 16*g+16) == 8
		}
	}
	for i := range e.Reads {
		v := &e.Reads[i]
		if v.Type == ptx.Pred && reading == NoPredicates {
			continue
		}
		for k := range max(1, v.Type.Bits()/32) {
			if k > 0 && reading == LowWords {
				break
			}
			byValue = byValue && common(digits(e, v, k, lanes), 0, warp) == 8
			_, last := find(v.Reg, k)
			source(last)
		}
	}
	perLane := false
	for _, o := range instr.Ops {
		perLane = perLane || o.Kind == ptx.SRegOperand && strings.Contains("%tid.x %tid.y %tid.z %laneid %lanemask", strings.TrimSuffix(o.SReg.String(), "_lt"))
	}
	if perLane {
		now := digits(e, &e.Writes[0], 0, lanes)
		byValue = byValue && common(now, 0, warp) == 8
		if reading == SpecialByValue {
			byMask, whole = byMask && byValue, whole && byValue
			for g := range half {
				half[g] = half[g] && common(now, 16*g, 16*g+16) == 8
			}
		} else {
			byMask, whole, half = false, false, nil
		}
	}
	if reading == NoConstants && len(e.Reads) == 0 {
		byMask, whole, half = false, false, nil
	}
	eligible := &c.Eligible[reading]
	count := (*int64)(nil)
	switch name := instr.Op.Name; {
	case strings.HasSuffix(instr.Text, ".cc") || name == "addc" || name == "subc" || name == "madc":
		// the table's first condition leaves these out only if they read the carry
		if name == "add" || name == "sub" || name == "mad" {
			count = &eligible.ALU
		}
	case name == "ld" || name == "st":
		if len(e.Accesses) > 0 && e.Accesses[0].Space != ptx.Local {
			at := e.Accesses[0].Addr[bits.TrailingZeros64(e.Lanes)]
			if e.Accesses[0].Space != ptx.Generic || at < probe.LocalWindow || at >= probe.LocalWindow+probe.WindowSize {
				count = &eligible.Memory
			}
		}
	case instr.Form.Class == ptx.ClassSFU:
		count = &eligible.SFU
	case instr.Form.Class == ptx.ClassControl && reading == WithControl:
		if instr.Guard.Reg != ptx.NoReg {
			_, last := find(instr.Guard.Reg, 0)
			source(last)
		}
		count = &eligible.ALU
	case name == "atom" || name == "red" || name == "bar" || name == "barrier" || name == "shfl" || name == "vote" || name == "call" || instr.Form.Class == ptx.ClassControl || name == "membar" || name == "fence":
	default:
		count = &eligible.ALU
	}
	seen := false
	for _, h := range half {
		seen = seen || h
	}
	switch {
	case count == nil:
	case divergent && byMask:
		eligible.Divergent++
	case divergent:
	case whole:
		*count++
	case seen:
		eligible.Half++
	}
	if reading == Headline && count != nil && divergent && byValue {
		c.ByValue++
	}
}

// TestModelEqualsClassifier runs kernels of the library with the model and the classifier, and compares all counts,
// under each interpretation.
func TestModelEqualsClassifier(t *testing.T) {
	part.SkipShort(t)
	for _, c := range []struct {
		name string
		size int
		warp int
	}{
		{"sgemm", 16, 32}, {"bfs", 80, 32}, {"reduce", 600, 32}, {"bilat", 8, 64}, {"rsort", 30, 32}, {"nqueens", 5, 64}, {"spmv", 60, 32}, {"hotspot", 16, 32},
	} {
		if testing.Short() && c.size > 70 {
			continue
		}
		t.Run(fmt.Sprint(c.name, c.warp), func(t *testing.T) {
			w := kernels.Lookup(c.name)
			dev := interp.NewDevice(interp.Config{})
			s, err := kernels.Start(t.Context(), w, dev, c.size)
			if err != nil {
				t.Fatal(err)
			}
			m, other := &Model{Verify: true}, &classifier{regs: map[string]*recountedRegister{}}
			s.Prepare = func(l *interp.Launch) {
				l.WarpSize, l.Mode, l.Reconverge, l.Probes = c.warp, interp.Vector, interp.ReconvergerNamed("stack"), []probe.Probe{m, other}
			}
			if err := w.Run(s); err != nil {
				t.Fatal(err)
			}
			got := m.Counts(c.warp)
			if got.Instructions == 0 {
				t.Fatal("nothing was counted")
			}
			invariants(t, &got)
			if diff := cmp.Diff(other.Counts, got); diff != "" {
				t.Errorf("(-classifier +model):\n%s", diff)
			}
		})
	}
}

// invariants checks conditions that all counts satisfy.
func invariants(t *testing.T, c *Counts) {
	t.Helper()
	headline := c.Eligible[Headline]
	if headline.Divergent > c.ByValue || c.ByValue > c.Divergent || c.Divergent > c.Instructions || headline.Total() > c.Instructions {
		t.Errorf("of %d instructions %d are divergent, %d of them scalar by value and %d by mask; %d scalar in all", c.Instructions, c.Divergent, c.ByValue, headline.Divergent, headline.Total())
	}
	for r := range InterpretationCount {
		n := c.Eligible[r].Total()
		if countsMore := r != NoConstants; countsMore && n < headline.Total() || !countsMore && n > headline.Total() {
			t.Errorf("%s: %d, headline %d", r, n, headline.Total())
		}
	}
	for high := range 2 {
		reads, writes := c.Reads[high].Total(), c.Writes[high].Total()
		for i := range schemes {
			s := &c.Schemes[i][high]
			name := schemes[i].name
			if s.Reads != reads || s.Writes != writes || s.FullWrites < s.Bytes || s.Banks > reads+writes+2*s.Moves || s.Arrays < s.Banks || s.MoveArrays > s.Arrays || s.MoveBanks > 2*s.Moves {
				t.Errorf("%s: %+v with %d reads and %d writes", name, s, reads, writes)
			}
			if want := reads + writes + 2*s.Moves; i >= Bytewise && s.Small != want {
				t.Errorf("%s: %d accesses of the small array, want %d", name, s.Small, want)
			}
		}
		of := &c.Schemes
		if of[Vectors][high].Moves != 0 || of[Vectors][high].Bytes != of[Vectors][high].FullWrites || of[Affine][high].Bytes > of[Bytewise][high].Bytes {
			t.Errorf("vectors: %+v, byte-wise %+v, with tags %+v", of[Vectors][high], of[Bytewise][high], of[Affine][high])
		}
	}
}
