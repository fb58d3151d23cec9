package report

// This file has the rules that mark findings as known: the suppressions that a user writes, and the baseline that gemu writes.

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"gemu/sanitize/finding"
	"gemu/sanitize/outcome"
)

// Rule matches findings by their fields. A rule is a line of a file:
//
//	tool=race kind="write after write" kernel=hist* source=*/hist.cu:12   # the winner does not matter
//
// Each value is a pattern in which * stands for any characters and ? for one. A missing field matches every finding.
type Rule struct {
	Text   string // the line without its comment
	File   string // name of the file
	Line   int    // number of the line
	Reason string // the comment

	fields map[string]*regexp.Regexp
	uses   int
}

// fieldValues maps each field of a rule to its value in a finding.
var fieldValues = map[string]func(f *finding.Finding) string{
	"tool":        func(f *finding.Finding) string { return f.Tool },
	"kind":        func(f *finding.Finding) string { return f.Kind },
	"kernel":      func(f *finding.Finding) string { return f.Place.Kernel },
	"name":        func(f *finding.Finding) string { return finding.Name(f.Place.Kernel) },
	"function":    func(f *finding.Finding) string { return f.Place.Function },
	"ptx":         func(f *finding.Finding) string { return fmt.Sprintf("%s:%d", f.Place.File, f.Place.Line) },
	"source":      func(f *finding.Finding) string { return sourceLine(&f.Place) },
	"file":        func(f *finding.Finding) string { return baseName(&f.Place) },
	"instruction": func(f *finding.Finding) string { return f.Place.Instr },
	"other":       func(f *finding.Finding) string { return otherInstruction(f) },
	"message":     func(f *finding.Finding) string { return f.Message },
}

// fieldOrder lists the fields in the order of messages.
var fieldOrder = []string{"tool", "kind", "kernel", "name", "function", "ptx", "source", "file", "instruction", "other", "message"}

// sourceLine returns "file:line" of the user's source, or "" if it is not known.
func sourceLine(p *finding.Place) string {
	if file, line, _, ok := splitSource(p.Source); ok {
		return fmt.Sprintf("%s:%d", file, line)
	}
	return ""
}

// baseName returns the name of the user's source, or else of the PTX, without its directory; "" if the place has neither.
func baseName(p *finding.Place) string {
	file, _, _, ok := splitSource(p.Source)
	if !ok {
		file = p.File
	}
	if file == "" {
		return ""
	}
	return filepath.Base(file)
}

func otherInstruction(f *finding.Finding) string {
	if f.OtherPlace == nil {
		return ""
	}
	return f.OtherPlace.Instr
}

// ParseRules reads a file of rules. Empty lines, lines that begin with #, and a byte order mark at the beginning are skipped.
func ParseRules(name, text string) (rules []*Rule, err error) {
	n := 0
	for line := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
		n++
		fields, reason, err := splitFields(strings.TrimSpace(line))
		if err == nil && len(fields) == 0 {
			continue
		}
		r := &Rule{File: name, Line: n, Reason: reason, fields: map[string]*regexp.Regexp{}}
		for _, f := range fields {
			key, pattern, ok := strings.Cut(f, "=")
			switch {
			case err != nil:
			case !ok:
				err = fmt.Errorf("%q: want FIELD=PATTERN", f)
			case fieldValues[key] == nil:
				err = fmt.Errorf("unknown field %q: want some of %s", key, strings.Join(fieldOrder, ", "))
			case r.fields[key] != nil:
				err = fmt.Errorf("the field %s is there twice", key)
			default:
				r.fields[key] = compilePattern(pattern, key == "instruction" || key == "other")
				r.Text = strings.TrimSpace(r.Text + " " + key + "=" + quoted(pattern))
			}
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, n, err)
		}
		rules = append(rules, r)
	}
	return rules, nil
}

// splitFields splits a line at blanks outside quotes, without the quotes. A quoted text is written as in Go. # outside quotes
// begins a comment.
func splitFields(line string) (fields []string, comment string, err error) {
	field, inField := "", false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '#' && !inField:
			return fields, strings.TrimSpace(line[i+1:]), nil
		case c == ' ' || c == '\t':
			if inField {
				fields, field, inField = append(fields, field), "", false
			}
		case c == '"':
			text, err := strconv.QuotedPrefix(line[i:])
			if err != nil {
				return nil, "", fmt.Errorf("a quotation mark is not closed")
			}
			value, err := strconv.Unquote(text)
			if err != nil {
				return nil, "", fmt.Errorf("%s: %w", text, err)
			}
			field, inField, i = field+value, true, i+len(text)-1
		default:
			field, inField = field+line[i:i+1], true
		}
	}
	if inField {
		fields = append(fields, field)
	}
	return fields, "", nil
}

// quoted writes a pattern so that splitFields reads it.
func quoted(pattern string) string {
	unprintable := func(c rune) bool { return !unicode.IsPrint(c) }
	if pattern == "" || strings.ContainsAny(pattern, " \"#\\") || strings.ContainsFunc(pattern, unprintable) {
		return strconv.Quote(pattern)
	}
	return pattern
}

// compilePattern returns the expression of a pattern. A backslash before a character makes it an ordinary character. In the text of an
// instruction a lone % stands for any register.
func compilePattern(pattern string, instruction bool) *regexp.Regexp {
	var b strings.Builder
	b.WriteString(`\A(?s:`)
	literal := false
	for i, c := range pattern {
		switch {
		case literal:
			b.WriteString(regexp.QuoteMeta(string(c)))
			literal = false
		case c == '\\':
			literal = true
		case c == '%' && instruction && register.FindString(pattern[i:]) == "%":
			b.WriteString(`%[\w$]+`)
		case c == '*':
			b.WriteString(".*")
		case c == '?':
			b.WriteString(".")
		default:
			b.WriteString(regexp.QuoteMeta(string(c)))
		}
	}
	b.WriteString(`)\z`)
	return regexp.MustCompile(b.String())
}

// register matches the name of a register.
var register = regexp.MustCompile(`%[\w$*?]*`)

// escapePattern returns the pattern that matches only the given text.
func escapePattern(text string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`).Replace(text)
}

// matches reports whether the rule matches a finding.
func (r *Rule) matches(f *finding.Finding) bool {
	for name, pattern := range r.fields {
		if !pattern.MatchString(fieldValues[name](f)) {
			return false
		}
	}
	return true
}

// allowedByTest is the rule of findings of Report.Allow.
var allowedByTest = &Rule{Reason: "a test expects it"}

// Apply sets the states of findings: StateSuppressed by the first matching rule of suppressions, otherwise StateKnown by the first of the
// baseline. It lists the rules that match nothing in Unused.
func (r *Report) Apply(suppressions, baseline []*Rule) {
	for i := range r.Findings {
		f := &r.Findings[i]
		f.State, f.Rule = StateNew, nil
		if f.allowed {
			f.State, f.Rule = StateSuppressed, allowedByTest
		}
		for _, set := range []struct {
			state State
			rules []*Rule
		}{{StateSuppressed, suppressions}, {StateKnown, baseline}} {
			if n := slices.IndexFunc(set.rules, func(r *Rule) bool { return r.matches(&f.Finding) }); n >= 0 && f.State == StateNew {
				f.State, f.Rule = set.state, set.rules[n]
				f.Rule.uses++
			}
		}
	}
	r.Unused, r.compared = nil, baseline != nil
	for _, rule := range slices.Concat(suppressions, baseline) {
		if rule.uses == 0 {
			r.Unused = append(r.Unused, fmt.Sprintf("%s:%d: %s", rule.File, rule.Line, rule.Text))
		}
	}
	r.count()
}

// baselineHead is the beginning of a baseline.
const baselineHead = `# Known findings, written by gemu. A finding that matches a line does not fail a run. The lines have no line numbers of
# sources, so that they also match after changes elsewhere in a file. docs/reports.md describes the format.
`

// baselineFields are the fields of the rules of a baseline. They do not change with lines, addresses and threads.
var baselineFields = []string{"tool", "kind", "kernel", "function", "file", "instruction", "other"}

// anyModule is the pattern for the names of modules from memory, which have a hash of the PTX.
const anyModule = "module-*.ptx"

var moduleFromMemory = regexp.MustCompile(`^module-[0-9a-f]{8}\.ptx$`)

// baselinePattern returns the pattern of a field in a baseline. Registers have other names after each compilation, so it has none.
func baselinePattern(name string, f *finding.Finding) string {
	value := fieldValues[name](f)
	if name == "file" && moduleFromMemory.MatchString(value) {
		return anyModule
	}
	value = escapePattern(value)
	if name == "instruction" || name == "other" {
		value = register.ReplaceAllStringFunc(value, func(name string) string {
			if name == "%" { // no register
				return `\%`
			}
			return "%"
		})
	}
	return value
}

// Baseline returns the text of a baseline that has all findings, except the suppressed ones and processes that were not judged: their
// further findings are not known.
func (r *Report) Baseline() string {
	var lines []string
	for i := range r.Findings {
		f := &r.Findings[i]
		if f.State == StateSuppressed || f.Tool == outcome.Name && f.Kind == NotEnded {
			continue
		}
		var fields []string
		for _, name := range baselineFields {
			fields = append(fields, name+"="+quoted(baselinePattern(name, &f.Finding)))
		}
		lines = append(lines, strings.Join(fields, " ")+"\n")
	}
	slices.Sort(lines)
	return baselineHead + strings.Join(slices.Compact(lines), "")
}
