package cli

// This file prints the profile of "gemu exec --profile".

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"gemu/affinetrack"
	"gemu/driver"
	"gemu/internal/document"
	"gemu/internal/visible"
	"gemu/profile"
	"gemu/sanitize/finding"
)

// execProfileFlags select the printed parts of the profile.
type execProfileFlags struct {
	Top int `default:"10" help:"Print at most N kernels and N lines of the profile; --json has all." placeholder:"N"`
	profileSortFlag
	Pprof  string   `help:"Write the profile of all processes for \"go tool pprof\" to FILE. Needs --profile." placeholder:"FILE"`
	Source []string `sep:"none" type:"path" help:"Also show lines of source files below the directory DIR, if the PTX names them. Files below the current directory are always shown. May be given several times." placeholder:"DIR"`
}

// print prints the kernels and the lines with the largest counts. A line counts for all kernels that execute it.
func (f execProfileFlags) print(s *screen, kernels []*document.KernelProfile, sources sourceFiles) {
	all := document.SumOfKernels(kernels)
	s.heading("kernels with the most " + f.Sort)
	list := hottest(f.profileSortFlag, f.Top, kernels, func(k *document.KernelProfile) *profile.Counts { return &k.Total })
	const launches = 10
	if len(list) == 0 { // then no line has the count either
		s.printf("none\n\n")
		return
	}
	s.profileHead(fitted("launches", -launches) + "  kernel")
	for _, k := range list {
		name := finding.Name(k.Kernel)
		if slices.ContainsFunc(kernels, func(o *document.KernelProfile) bool { return o != k && o.Kernel == k.Kernel }) {
			name += " of " + k.Module
		}
		s.printf("%s%s  %s\n", profileColumnsOf(&k.Total, &all.Total), fitted(countText(k.Launches), -launches), s.cutToFit(visible.Text(name), profileWidth+launches+2))
	}
	s.printLeft(len(kernels) - len(list))

	s.heading("lines with the most " + f.Sort)
	var lines []*document.KernelLine
	for i := range all.Lines {
		lines = append(lines, &all.Lines[i])
	}
	lines = hottest(f.profileSortFlag, f.Top, lines, func(l *document.KernelLine) *profile.Counts { return &l.Counts })
	place := func(l *document.KernelLine) string {
		return visible.Text(fmt.Sprintf("%s:%d", filepath.Base(l.File), l.Line))
	}
	width := 0
	for _, l := range lines {
		width = max(width, len([]rune(place(l))))
	}
	class := 0 // width of the column of classes, which are counted with --stats
	if slices.ContainsFunc(all.Lines, func(l document.KernelLine) bool { return l.U+l.A+l.G > 0 }) {
		class = 7
	}
	s.profileHead("  " + fitted("class", class)[:class] + "line")
	for _, l := range lines {
		label := ""
		if class > 0 {
			c := document.MainClass(affinetrack.ClassCounts{Uniform: l.U, Affine: l.A, Generic: l.G})
			label = s.paint(classPaints[c], fitted(c.String(), class))
		}
		text := l.Text
		if text == "" {
			text = sources.text(l.File, l.Line)
		}
		s.printf("%s  %s%s\n", profileColumnsOf(&l.Counts, &all.Total), label, s.cutToFit(strings.TrimRight(fitted(place(l), width)+"  "+visible.Text(text), " "), profileWidth+2+class))
	}
	s.printLeft(len(all.Lines) - len(lines))
	s.printf("\n")
}

// printLeft prints the number of entries that --top leaves out, if it is not 0.
func (s *screen) printLeft(n int) {
	if n > 0 {
		s.printf("%s\n", s.paint(dim, fmt.Sprintf("and %d more (--top)", n)))
	}
}

// pprofOf returns the profiles of processes in pprof's format, with the paths of the source files that were found.
func pprofOf(processes []*driver.ProcessReport, sources sourceFiles) ([]byte, error) {
	var lines []profile.LineCounts
	for _, p := range processes {
		process := strings.TrimSpace(fmt.Sprintf("%d: %s", p.Process, strings.Join(p.Program, " ")))
		for _, k := range p.Statistics.Profile {
			for i := range k.Lines {
				l := &k.Lines[i]
				lines = append(lines, profile.LineCounts{Module: k.Module, Kernel: finding.Name(k.Kernel), Process: process, File: sources.Path(l.File), Line: l.Line, Counts: &l.Counts})
			}
		}
	}
	var b bytes.Buffer
	err := profile.PprofOfLines(lines).Write(&b)
	return b.Bytes(), err
}
