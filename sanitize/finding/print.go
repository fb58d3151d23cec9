package finding

// This file prints findings in the form of NVIDIA's compute-sanitizer: each line begins with a bar, an empty
// bar separates findings, the totals come last.

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/ianlancetaylor/demangle"

	"gemu/ptx"
)

// Name returns the source name of a function or variable: it demangles names of C++ and Rust.
func Name(symbol string) string { return demangle.Filter(symbol) }

const bar = "========= "

// Print writes at most limit findings (0: all), the coverage unless it is nil, and the totals.
func Print(w io.Writer, list []Finding, coverage *Coverage, limit int) error {
	var b strings.Builder
	var counts [2]int
	for i := range list {
		counts[list[i].Severity]++
		if limit == 0 || i < limit {
			list[i].print(&b)
		}
	}
	if limit > 0 && len(list) > limit {
		fmt.Fprintf(&b, "%s%d more are not shown\n%s\n", bar, len(list)-limit, strings.TrimSpace(bar))
	}
	if coverage != nil {
		fmt.Fprintf(&b, "%s%s judged by %s", bar, Counted(coverage.Judged, "launch", "launches"), strings.Join(coverage.Tools, ", "))
		if coverage.NotJudged > 0 {
			fmt.Fprintf(&b, ", %d NOT judged", coverage.NotJudged)
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "%sERROR SUMMARY: %s, %s\n", bar, Counted(counts[Error], "error", "errors"), Counted(counts[Notice], "notice", "notices"))
	_, err := io.WriteString(w, b.String())
	return err
}

// Counted returns a number with its noun: "1 launch".
func Counted[N int | int64 | uint64](n N, singular, plural string) string {
	if n == 1 {
		return "1 " + singular
	}
	return fmt.Sprintf("%d %s", n, plural)
}

// Text returns the finding in the form of Print.
func (f *Finding) Text() string {
	var b strings.Builder
	f.print(&b)
	return b.String()
}

func (f *Finding) print(b *strings.Builder) {
	line := func(format string, args ...any) {
		b.WriteString(strings.TrimRight(bar+fmt.Sprintf(format, args...), " ") + "\n")
	}
	title := f.Severity.String()
	line("%s: %s: %s", strings.ToUpper(title[:1])+title[1:], f.Tool, f.Message)
	if m := f.Memory; m != nil {
		line("    %s", m)
	}
	f.Place.print(line)
	if f.OtherPlace != nil {
		f.OtherPlace.print(line)
	}
	for _, n := range f.Notes {
		line("    %s", n)
	}
	if f.Count > 1 {
		line("    %d times in all", f.Count)
	}
	line("")
}

func (p *Place) print(line func(format string, args ...any)) {
	if p.File == "" {
		relation := " by the host"
		if p.Stream != "" {
			relation = ", on " + p.Stream
		}
		owner := ""
		if p.Kernel != "" {
			owner = " of " + Name(p.Kernel)
		}
		line("    %s%s%s", p.Role, owner, relation)
		return
	}
	value := ""
	if p.Value != "" {
		value = " of " + p.Value
	}
	in := Name(p.Kernel)
	if p.Function != "" {
		in += ", in function " + Name(p.Function)
	}
	if at := p.userPosition(); at != "" { // the PTX is not a file of the user
		line("    %s%s at %s in %s", p.Role, value, at, in)
		line("        %s", p.Instr)
	} else {
		line("    %s%s at %s in %s", p.Role, value, fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column), in)
		line("        %s", p.Instr)
		if p.Source != "" {
			line("        from %s", p.Source)
		}
	}
	lanes := ""
	if p.Lanes != "" {
		lanes = ", lanes " + p.Lanes
	}
	if p.Launch != 0 {
		line("        in launch %d, on %s", p.Launch, p.Stream)
	}
	if p.Warp < 0 {
		line("        in cta (%d,%d,%d)", p.CTA[0], p.CTA[1], p.CTA[2])
		return
	}
	line("        by thread (%d,%d,%d) in cta (%d,%d,%d): warp %d, lane %d%s", p.Thread[0], p.Thread[1], p.Thread[2], p.CTA[0], p.CTA[1], p.CTA[2], p.Warp, p.Lane, lanes)
}

// userPosition returns the position in the user's source, if the PTX was compiled from a source for this run:
// k.cu.ptx from k.cu. It returns "" for PTX without it and for unknown positions.
func (p *Place) userPosition() string {
	cu, shown := strings.CutSuffix(p.File, ".ptx")
	if !shown || filepath.Ext(cu) != ".cu" || p.Source == "" {
		return ""
	}
	// The compiler may use another path to the same file.
	i := strings.LastIndexByte(p.Source, ':')
	i = strings.LastIndexByte(p.Source[:max(i, 0)], ':')
	if i < 0 {
		return p.Source
	}
	if path, err := filepath.Abs(cu); err == nil && path == filepath.Clean(p.Source[:i]) || filepath.Clean(p.Source[:i]) == filepath.Clean(cu) {
		return cu + p.Source[i:]
	}
	return p.Source
}

// SourcePlace returns the position and text of an instruction: "k.ptx:11:2: add.u32 %y, %x, 1;".
func SourcePlace(instr *ptx.Instr, fn *ptx.Func) string {
	var p Place
	p.name(instr, fn)
	at := p.userPosition()
	if at == "" {
		at = fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
	}
	return at + ": " + p.Instr
}

// String describes the memory in words.
func (m *Memory) String() string {
	bytes := "1 byte"
	if m.Bytes != 1 {
		bytes = fmt.Sprintf("%d bytes", m.Bytes)
	}
	s := fmt.Sprintf("%s of %s memory at %#x", bytes, m.Space, m.Address)
	if m.Name != "" {
		s += fmt.Sprintf(", byte %d of %s", m.Offset, Name(m.Name))
	}
	return s
}
