package fuzz

// This file reduces programs.

import (
	"context"
	"crypto/sha256"
	"regexp"
	"slices"
	"strings"

	"gemu/ptx"
)

// StillFails returns the test for a rival's failure; its files are in a directory. A difference must stay in the same
// word and have the same culprit.
func (r *Rival) StillFails(ctx context.Context, first *Outcome, dir string) FailureTest {
	return func(p *Program, want []byte) (bool, error) {
		o, err := r.Run(ctx, p, want, dir)
		if err != nil || !o.Matches(first) || o.Kind != Difference || first.Culprit == nil {
			return err == nil && o.Matches(first), err
		}
		c, err := r.Blame(ctx, p, first.Offset, dir)
		if err == nil && !first.Culprit.Measured { // the culprit is a guess until it can be measured
			if c != nil && c.Measured {
				first.Culprit = c
			}
			return true, nil
		}
		return err == nil && first.Culprit.Same(c), err
	}
}

// FailureTest reports whether a program with the result want still fails like the original program. An error ends the
// reduction.
type FailureTest func(p *Program, want []byte) (bool, error)

// Reduce removes everything that the failure does not need: threads, if extents is set, functions, blocks, lines,
// guards, operands, and input. Each candidate is verified before it is tested. An error is the error of fails or of
// the context, and comes with the smallest program so far.
func Reduce(ctx context.Context, p *Program, extents bool, fails FailureTest, progress func(lines int)) (*Program, error) {
	r := &reducer{ctx: ctx, p: p, fails: fails, progress: progress, tried: map[[32]byte]bool{}}
	if extents {
		r.reduceExtents()
	}
	for before := ""; before != r.p.Source && r.err == nil; {
		before = r.p.Source
		r.removeParts()
		r.removeLines()
		r.simplifyWords()
	}
	if extents {
		r.reduceExtents()
	}
	r.clearInput()
	return r.p, r.err
}

// reducer reduces a program.
type reducer struct {
	ctx      context.Context
	p        *Program // smallest failing program so far
	fails    FailureTest
	progress func(lines int)
	tried    map[[32]byte]bool // programs that do not fail
	err      error
}

// try replaces the program by a candidate if the candidate fails as well.
func (r *reducer) try(change func(p *Program)) bool {
	if r.err == nil {
		r.err = r.ctx.Err()
	}
	if r.err != nil {
		return false
	}
	p := *r.p
	change(&p)
	key := p.key()
	if r.tried[key] {
		return false
	}
	r.tried[key] = true
	want, err := p.Verify(r.ctx)
	if err != nil {
		return false // an ended context is noticed at the next candidate
	}
	ok, err := r.fails(&p, want)
	if err != nil {
		r.err = err
		return false
	}
	if ok {
		r.p = &p
		r.progress(strings.Count(p.Source, "\n"))
	}
	return ok
}

// key identifies the program.
func (p *Program) key() [32]byte {
	h := sha256.New()
	for _, b := range [][]byte{[]byte(p.Source), {0}, []byte(p.Grid.String()), []byte(p.Block.String()), p.Input} {
		h.Write(b)
	}
	return [32]byte(h.Sum(nil))
}

// reduceExtents tries fewer threads. Buffers keep their sizes. It skips programs with shuffles, because shuffles from
// absent lanes are undefined.
func (r *reducer) reduceExtents() {
	if r.p.shuffles() {
		return
	}
	if r.p.Grid != ptx.Dim(1) {
		r.try(func(p *Program) { p.Grid = ptx.Dim(1) })
	}
	for _, n := range []int{1, 2, 32, 64} {
		if b := r.p.Block; n < b.X*b.Y*b.Z && r.try(func(p *Program) { p.Block = ptx.Dim(n) }) {
			return
		}
	}
}

// shuffles reports whether lanes exchange values.
func (p *Program) shuffles() (any bool) {
	m, err := ptx.ParseString("program.ptx", p.Source)
	if err != nil {
		return false
	}
	for _, d := range m.Decls {
		if f, ok := d.(*ptx.Func); ok {
			f.EachInstr(func(instr *ptx.Instr) { any = any || instr.Form.Family == ptx.FamilyShfl })
		}
	}
	return any
}

// source returns the lines of the program.
func (r *reducer) source() []string { return strings.Split(r.p.Source, "\n") }

// needed matches lines of every module, and the line of the last instruction.
var needed = regexp.MustCompile(`^(\.version|\.target|\.address_size|\tret;)`)

// tryWithout tries the program without lines.
func (r *reducer) tryWithout(lines []string, from, to int) bool {
	if slices.ContainsFunc(lines[from:to], needed.MatchString) {
		return false
	}
	return r.try(func(p *Program) { p.Source = strings.Join(slices.Delete(slices.Clone(lines), from, to), "\n") })
}

var branchLine = regexp.MustCompile(`\bbra (\w+);$`)

// removeParts tries to remove functions, and code from a branch to its label.
func (r *reducer) removeParts() {
	for i := 0; i < len(r.source()); i++ {
		lines := r.source()
		to := -1
		if strings.HasPrefix(lines[i], ".func") {
			to = slices.Index(lines[i:], "}")
		} else if m := branchLine.FindStringSubmatch(lines[i]); m != nil {
			to = slices.Index(lines[i:], m[1]+":")
		}
		if to > 0 && r.tryWithout(lines, i, i+to+1) {
			i--
		}
	}
}

// removeLines tries to remove lines: halves of the program, quarters, down to single lines, until all are needed.
func (r *reducer) removeLines() {
	for size := len(r.source()) / 2; size > 0; size /= 2 {
		for progress := true; progress; {
			progress = false
			for i := max(0, len(r.source())-size); ; i = max(0, i-size) {
				if lines := r.source(); i+size <= len(lines) && r.tryWithout(lines, i, i+size) {
					progress = size == 1
				}
				if i == 0 || r.err != nil {
					break
				}
			}
			progress = progress && r.err == nil
		}
	}
}

// statement matches a line with a single instruction and its guard.
var statement = regexp.MustCompile(`^\t(@!?%\w+ )?([a-z][\w.:]*) ([^;{}]*);$`)

// simplifyWords tries to remove guards, and constants for operands. It skips lines with several statements: a
// statement may define the result of the next.
func (r *reducer) simplifyWords() {
	for i := range r.source() {
		line := r.source()[i]
		m := statement.FindStringSubmatch(line)
		if m == nil || strings.HasPrefix(m[2], ".") {
			continue
		}
		replace := func(guard string, ops []string) bool {
			return r.try(func(p *Program) {
				lines := r.source()
				lines[i] = "\t" + guard + m[2] + " " + strings.Join(ops, ", ") + ";"
				p.Source = strings.Join(lines, "\n")
			})
		}
		guard, ops := m[1], strings.Split(m[3], ", ")
		if guard != "" && replace("", ops) {
			guard = ""
		}
		for k := 1; k < len(ops); k++ {
			if !strings.HasPrefix(ops[k], "%") {
				continue
			}
			for _, constant := range []string{"0", "1"} {
				remaining := slices.Clone(ops)
				if remaining[k] = constant; replace(guard, remaining) {
					ops = remaining
					break
				}
			}
		}
	}
}

// clearInput tries zeros in the input.
func (r *reducer) clearInput() {
	for size := len(r.p.Input); size >= 4; size /= 2 {
		if len(r.p.Input)/size > 64 { // more bytes would not help a reader
			return
		}
		for from := 0; from < len(r.p.Input); from += size {
			to := min(from+size, len(r.p.Input))
			if !slices.ContainsFunc(r.p.Input[from:to], func(b byte) bool { return b != 0 }) {
				continue
			}
			r.try(func(p *Program) {
				p.Input = slices.Clone(p.Input)
				clear(p.Input[from:to])
			})
		}
	}
}
