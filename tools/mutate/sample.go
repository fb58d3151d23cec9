package main

// This file reads, compares and writes samples: lists of mutants with the outcomes that they must have.

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
)

// equivalent is the outcome, in a sample, of a survivor with an argument.
const equivalent = "equivalent"

// sample is a list of mutants with recorded outcomes, by row: function, operator, code and ordinal. Rows have no line
// numbers, so changes elsewhere leave a sample valid.
type sample struct {
	name    string
	comment string // lines at the beginning that begin with #
	rows    map[string]*sampleRow
}

// sampleRow is the recorded outcome of a mutant.
type sampleRow struct {
	outcome string // name of an Outcome, or equivalent; a crash or a hang that counts as noticed is killed
	killer  string // the input or test that noticed the mutant: a hint, tried first
	reason  string // why no check notices the mutant; "" if it is killed, slower or equivalent
}

// needsReason reports whether an outcome needs a reason in the sample.
func needsReason(outcome string) bool {
	return outcome != Killed.String() && outcome != Slower.String() && outcome != equivalent
}

// readSample reads a sample. With update the file may be missing, and reasons too.
func readSample(name string, update bool) (*sample, error) {
	s := &sample{name: name, rows: map[string]*sampleRow{}}
	data, err := os.ReadFile(name)
	if update && errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return nil, err
	}
	n := 0
	for line := range strings.Lines(string(data)) {
		n++
		if line = strings.TrimSuffix(line, "\n"); line == "" || line[0] == '#' {
			s.comment += line + "\n"
			continue
		}
		f := strings.Split(line, "\t")
		if len(f) != 7 {
			return nil, fmt.Errorf("%s:%d: %d columns, but a row has seven: function, operator, code, ordinal, outcome, killer and reason", name, n, len(f))
		}
		row := strings.Join(f[:4], "\t")
		if s.rows[row] != nil {
			return nil, fmt.Errorf("%s:%d: the mutant is listed twice", name, n)
		}
		if f[4] != equivalent && !slices.Contains(outcomeNames[:], f[4]) {
			return nil, fmt.Errorf("%s:%d: no outcome is %q", name, n, f[4])
		}
		if !update && needsReason(f[4]) != (f[6] != "") {
			return nil, fmt.Errorf("%s:%d: a survivor, and no other mutant, must have a reason", name, n)
		}
		s.rows[row] = &sampleRow{outcome: f[4], killer: f[5], reason: f[6]}
	}
	return s, nil
}

// missing returns an error that lists rows without a mutant, if there are any.
func (s *sample) missing(rows []string) error {
	if len(rows) == 0 {
		return nil
	}
	return fmt.Errorf("%s: no longer mutants (-update replaces them by others):\n%s", s.name, strings.Join(rows, "\n"))
}

// pick returns the mutants of the sample, in the order of the list. Each row must be a mutant of the list. With
// update, rows that are no longer mutants are left out, and random mutants are added up to n.
func (s *sample) pick(all []*Mutant, update bool, n int, seed uint64) ([]*Mutant, error) {
	picked, missing := map[*Mutant]bool{}, maps.Clone(s.rows)
	for _, m := range all {
		if missing[m.row()] != nil {
			picked[m] = true
			delete(missing, m.row())
		}
	}
	if !update {
		if err := s.missing(slices.Sorted(maps.Keys(missing))); err != nil {
			return nil, err
		}
	} else {
		for _, i := range rand.New(rand.NewPCG(seed, 0)).Perm(len(all)) {
			if len(picked) >= max(n, len(s.rows)) {
				break
			}
			picked[all[i]] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(m *Mutant) bool { return !picked[m] }), nil
}

// killer returns the input or test that noticed a mutant when the sample was recorded; "" if none did.
func (s *sample) killer(m *Mutant) string {
	if s == nil || s.rows[m.row()] == nil {
		return ""
	}
	return s.rows[m.row()].killer
}

// outcomeIn returns the outcome of a mutant as it stands in a sample.
func (c *config) outcomeIn(m *Mutant, v Verdict, argued equivalentMutants) string {
	switch _, ok := argued[m.row()]; {
	case isNoticed(v.Outcome, c.exitIsKill):
		return Killed.String()
	case ok:
		return equivalent
	}
	return v.Outcome.String()
}

// compare prints the mutants with outcomes different from the record; good is false if there are any.
func (c *config) compare(w io.Writer, s *sample, list []*Mutant, verdicts map[*Mutant]Verdict, argued equivalentMutants) (good bool) {
	var different []string
	for _, m := range list {
		v := verdicts[m]
		if got, want := c.outcomeIn(m, v, argued), s.rows[m.row()].outcome; got != want {
			different = append(different, fmt.Sprintf("%s:%d\t%s\t%s, recorded as %s\t%s", m.File, m.Line, m.row(), got, want, v.text()))
		}
	}
	if len(different) == 0 {
		fmt.Fprintf(w, "\nall %d outcomes are as recorded in %s\n", len(list), s.name)
		return true
	}
	fmt.Fprintf(w, "\n%d of %d outcomes are not as recorded in %s:\n%s\n", len(different), len(list), s.name, strings.Join(different, "\n"))
	return false
}

// update writes the outcomes to the file of the sample. Reasons of survivors stay. good is false if a mutant has no
// outcome.
func (c *config) update(w io.Writer, s *sample, list []*Mutant, verdicts map[*Mutant]Verdict, argued equivalentMutants) (good bool, err error) {
	var out bytes.Buffer
	out.WriteString(s.comment)
	good = true
	for _, m := range list {
		v := verdicts[m]
		row := sampleRow{outcome: c.outcomeIn(m, v, argued)}
		switch {
		case row.outcome == Killed.String():
			row.killer = v.Input
		case needsReason(row.outcome):
			if old := s.rows[m.row()]; old != nil {
				row.reason = old.reason
			}
			if row.reason == "" {
				fmt.Fprintf(w, "%s:%d\t%s\t%s: no reason in %s\n", m.File, m.Line, m.row(), row.outcome, s.name)
				good = false
			}
		}
		fmt.Fprintf(&out, "%s\t%s\t%s\t%s\n", m.row(), row.outcome, row.killer, row.reason)
	}
	return good, os.WriteFile(s.name, out.Bytes(), 0o666)
}
