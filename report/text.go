package report

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"gemu/driver"
	"gemu/internal/visible"
	"gemu/sanitize/finding"
)

// Text writes the report for people: at most limit new findings (0: all) in the form of sanitizers, a line for each process, and
// the totals.
func (r *Report) Text(w io.Writer, limit int) error {
	var b strings.Builder
	shown := r.newFindings()
	if len(shown) > 0 || len(r.Sanitizers) > 0 {
		coverage := r.coverage()
		if err := finding.Print(&b, shown, coverage, limit); err != nil {
			return err
		}
	}
	r.printRules(&b)
	if slices.ContainsFunc(shown, func(f finding.Finding) bool {
		return f.Place.Source == "" && moduleFromMemory.MatchString(filepath.Base(f.Place.File))
	}) {
		b.WriteString("gemu: the PTX of a module names no lines of the source: nvcc -lineinfo adds them\n")
	}
	for _, c := range r.refused() {
		times := ""
		if c.Count > 1 {
			times = fmt.Sprintf(" (%d times)", c.Count)
		}
		fmt.Fprintf(&b, "gemu: not supported: %s: %s%s\n", c.Call, c.Reason, times)
	}
	for i, p := range r.Processes {
		if len(r.Processes) > 1 {
			fmt.Fprintf(&b, "gemu: process %d: %s: %s, %s%s\n", p.Process, commandText(p.Program), launchesText(p.Statistics.Total.Launches, failedLaunches(p), len(p.Statistics.Kernels)), finding.Counted(r.errorsOf(i), "error", "errors"), unended(p))
		}
	}
	b.WriteString("gemu: " + r.Summary() + "\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// TextOfSingle writes the findings of a report of NewSingle for people, as Text.
func (r *Report) TextOfSingle(w io.Writer, coverage *finding.Coverage, limit int) error {
	if err := finding.Print(w, r.newFindings(), coverage, limit); err != nil {
		return err
	}
	var b strings.Builder
	r.printRules(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

// newFindings returns the new findings. Equal findings are returned once, with the sum of their counts. If there are several processes, a note
// names the first process with the finding, and counts the others.
func (r *Report) newFindings() (list []finding.Finding) {
	for _, g := range r.groups() {
		if g.State != StateNew {
			continue
		}
		f := g.Finding
		if f.Count = g.count; len(r.Processes) > 1 {
			note := fmt.Sprintf("in process %d", g.Process)
			if g.index < len(r.Processes) {
				note += ": " + commandText(r.Processes[g.index].Program)
			}
			if n := len(g.processes) - 1; n > 0 {
				note += fmt.Sprintf(", and in %s", finding.Counted(n, "further process", "further processes"))
			}
			f.Notes = append(slices.Clone(f.Notes), note)
		}
		list = append(list, f)
	}
	return list
}

// printRules prints the numbers of findings that do not count, and the unused rules.
func (r *Report) printRules(b *strings.Builder) {
	for _, rule := range r.Unused {
		fmt.Fprintf(b, "gemu: %s was not needed in this run\n", rule)
	}
	if r.Suppressed+r.Known > 0 && r.Processes == nil {
		fmt.Fprintf(b, "gemu: %s suppressed, %d known\n", finding.Counted(r.Suppressed, "finding", "findings"), r.Known)
	}
}

// coverage returns the sums of the processes' coverages; nil without sanitizers.
func (r *Report) coverage() *finding.Coverage {
	if len(r.Sanitizers) == 0 || r.Processes == nil {
		return nil
	}
	c := &finding.Coverage{Tools: r.Sanitizers}
	for _, p := range r.Processes {
		c.Judged += p.Findings.Launches.Judged
		c.NotJudged += p.Findings.Launches.NotJudged
	}
	return c
}

// errorsOf returns the number of new errors of a process, by the index of its report.
func (r *Report) errorsOf(index int) (n int) {
	for i := range r.Findings {
		if f := &r.Findings[i]; f.index == index && f.State == StateNew && f.Severity == finding.Error {
			n++
		}
	}
	return n
}

// Summary describes the run in a sentence.
func (r *Report) Summary() string {
	if r.Processes == nil && r.kernel == "" {
		text := "no process has used gemu's driver: nothing was run or looked at"
		if r.survivors > 0 {
			text = "no process has used gemu's driver before the program's end, and " + finding.Counted(r.survivors, "process runs on", "processes run on")
		}
		return text + r.end()
	}
	s := ""
	if r.Processes != nil {
		s = finding.Counted(len(r.Processes), "process", "processes") + ", "
	}
	s += fmt.Sprintf("%s: %s, %s", launchesText(r.Launches, r.Failed, r.Kernels), finding.Counted(r.Errors, "error", "errors")+r.different(), finding.Counted(r.Notices, "notice", "notices"))
	if r.Suppressed > 0 {
		s += fmt.Sprintf(", %d suppressed", r.Suppressed)
	}
	if r.Known > 0 {
		s += fmt.Sprintf(", %d known", r.Known)
	}
	if len(r.Sanitizers) == 0 {
		return s + "; no sanitizers (--sanitize), so only failed launches are errors" + r.end()
	}
	return s + "; sanitizers: " + strings.Join(r.Sanitizers, ", ") + r.end()
}

// different says how many new errors are different, if several processes have equal ones; otherwise it returns "".
func (r *Report) different() string {
	n := 0
	for _, g := range r.groups() {
		if g.State == StateNew && g.Severity == finding.Error {
			n++
		}
	}
	if n == r.Errors {
		return ""
	}
	return fmt.Sprintf(" (%d different)", n)
}

// end says how the program has ended, unless its status is 0 or the command of the report is the program.
func (r *Report) end() string {
	switch {
	case r.Status == 0 || r.kernel != "":
		return ""
	case r.Signal > 0:
		return fmt.Sprintf("; the program ended by signal %d", r.Signal)
	}
	return fmt.Sprintf("; the program ended with status %d", r.Status)
}

// launchesText counts launches; failed ones are not in launches.
func launchesText(launches, failed int64, kernels int) string {
	text := finding.Counted(launches+failed, "launch", "launches") + " of " + finding.Counted(kernels, "kernel", "kernels")
	if failed > 0 {
		text += fmt.Sprintf(", %d failed", failed)
	}
	return text
}

// unended says whether a process has ended.
func unended(p *driver.ProcessReport) string {
	if p.Ended {
		return ""
	}
	return "; it runs on, or it ended without its exit handlers"
}

// maxCommand is the maximum number of characters of a command line in a text.
const maxCommand = 60

// commandText returns a command line, shortened, with the program's name without its directory.
func commandText(program []string) string {
	if len(program) == 0 {
		return "?"
	}
	text := strings.Join(append([]string{filepath.Base(program[0])}, program[1:]...), " ")
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > maxCommand {
		text = string(r[:maxCommand-1]) + "…"
	}
	return visible.Text(text)
}
