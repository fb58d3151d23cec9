package report

// This file writes JUnit XML, as CI systems read it: the elements of the schema of Jenkins' xUnit plugin.

import (
	"encoding/xml"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"gemu/sanitize/finding"
)

type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr"`
	Time     string       `xml:"time,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	ID       int         `xml:"id,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Time     string      `xml:"time,attr"`
	Start    string      `xml:"timestamp,attr,omitempty"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class    string       `xml:"classname,attr"`
	Name     string       `xml:"name,attr"`
	File     string       `xml:"file,attr,omitempty"`
	Line     int          `xml:"line,attr,omitempty"`
	Time     string       `xml:"time,attr"`
	Failures []*junitText `xml:"failure"`
	Output   string       `xml:"system-out,omitempty"`

	module string // name of the kernel's module
}

type junitText struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

// JUnit writes the report as JUnit XML: a suite for each process, a test case for each kernel, with a failure for each new error. A
// case "program" fails if the program's exit status is not 0. Notices, suppressed and known findings are in the output of a case.
func (r *Report) JUnit(w io.Writer) error {
	out := junitSuites{Name: "gemu", Time: seconds(r.Seconds)}
	add := func(s junitSuite) {
		s.ID = len(out.Suites)
		numberCases(s.Cases)
		for _, c := range s.Cases {
			s.Tests++
			if len(c.Failures) > 0 {
				s.Failures++
			}
		}
		out.Tests, out.Failures = out.Tests+s.Tests, out.Failures+s.Failures
		out.Suites = append(out.Suites, s)
	}
	program := junitCase{Class: "gemu", Name: "program", Time: seconds(r.Seconds), Output: cleanXML(r.Summary())}
	if r.Status != 0 {
		program.Failures = []*junitText{{Message: fmt.Sprintf("the program ended with status %d", r.Status), Type: "exit status", Text: cleanXML(strings.Join(r.Program, " "))}}
	}
	add(junitSuite{Name: cleanXML(commandText(r.Program)), Time: seconds(r.Seconds), Cases: []junitCase{program}})
	if r.kernel != "" {
		add(junitSuite{Name: "kernels", Time: seconds(0), Cases: r.junitCases(0, []junitCase{newCase(r.module, r.kernel, 0)})})
	}
	names := map[string]int{out.Suites[0].Name: 1}
	for i, p := range r.Processes {
		name := cleanXML(commandText(p.Program)) // without its number, so that CI systems can compare runs
		if names[name]++; names[name] > 1 {
			name += fmt.Sprintf(" (%d)", names[name])
		}
		kernels := make([]junitCase, len(p.Statistics.Kernels))
		for n, k := range p.Statistics.Kernels {
			kernels[n] = newCase(k.Module, k.Kernel, k.Seconds)
		}
		add(junitSuite{
			Name: name, Time: seconds(p.Statistics.Total.Seconds),
			Start: p.Started.UTC().Format("2006-01-02T15:04:05"), Cases: r.junitCases(i, kernels),
		})
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(out); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// numberCases gives cases of the same class and name numbers from the second on.
func numberCases(cases []junitCase) {
	seen := map[[2]string]int{}
	for i := range cases {
		k := [2]string{cases[i].Class, cases[i].Name}
		if seen[k]++; seen[k] > 1 {
			cases[i].Name += fmt.Sprintf(" (%d)", seen[k])
		}
	}
}

// newCase returns a test case for a kernel. The class of a module from memory is "module": its name has a hash.
func newCase(module, kernel string, time float64) junitCase {
	class := module
	if moduleFromMemory.MatchString(filepath.Base(module)) {
		class = "module"
	}
	return junitCase{Class: cleanXML(class), Name: cleanXML(finding.Name(kernel)), Time: seconds(time), module: module}
}

// junitCases adds the findings of a process, by the index of its report, to the cases of its kernels. A finding about another kernel, or about none, has a case
// of its own.
func (r *Report) junitCases(index int, cases []junitCase) []junitCase {
	for i := range r.Findings {
		f := &r.Findings[i]
		if f.index != index {
			continue
		}
		name := cleanXML(finding.Name(f.Place.Kernel))
		if name == "" {
			name = "process"
		}
		n := -1
		for i := range cases {
			if cases[i].Name == name && (n < 0 || cases[i].module == f.Place.File) {
				n = i
			}
		}
		if n < 0 {
			made := newCase(f.Place.File, "", 0)
			made.Name = name
			cases, n = append(cases, made), len(cases)
		}
		c := &cases[n]
		body := cleanXML(f.Text())
		if f.State != StateNew || f.Severity != finding.Error {
			c.Output += string(f.State) + " " + f.Severity.String() + "\n" + body
			continue
		}
		c.Failures = append(c.Failures, &junitText{Message: cleanXML(r.message(f)), Type: cleanXML(f.title()), Text: body})
		if s := r.spot(f, &f.Place); c.File == "" {
			c.File, c.Line = cleanXML(s.file), s.line
		}
	}
	return cases
}

func seconds(s float64) string { return strconv.FormatFloat(s, 'f', 6, 64) }

// cleanXML replaces characters that XML cannot have.
func cleanXML(s string) string {
	return strings.Map(func(c rune) rune {
		if c == utf8.RuneError || c < 0x20 && c != '\t' && c != '\n' && c != '\r' || c == 0xfffe || c == 0xffff {
			return '?'
		}
		return c
	}, s)
}
