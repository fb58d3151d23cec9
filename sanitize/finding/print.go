package finding

// This file tells what was found, in the form of NVIDIA's compute-sanitizer: each line begins
// with a bar, findings are apart by an empty one, the sums come last.

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/ianlancetaylor/demangle"

	"gemu/ptx"
)

// Name is what messages call a function or variable: as its source has it, if a compiler of C++ or Rust has
// made the name.
func Name(symbol string) string { return demangle.Filter(symbol) }

const bar = "========= "

// Print writes findings, up to limit of them (0: all), the launches that were judged unless looked is nil,
// and the sums.
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
		fmt.Fprintf(&b, "%s%s judged by %s", bar, countText(int(coverage.Judged), "launch", "launches"), strings.Join(coverage.Tools, ", "))
		if coverage.NotJudged > 0 {
			fmt.Fprintf(&b, ", %d NOT judged", coverage.NotJudged)
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "%sERROR SUMMARY: %s, %s\n", bar, countText(counts[Error], "error", "errors"), countText(counts[Notice], "notice", "notices"))
	_, err := io.WriteString(w, b.String())
	return err
}

func countText(n int, singular, plural string) string {
	if n == 1 {
		return "1 " + singular
	}
	return fmt.Sprintf("%d %s", n, plural)
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
	if at := p.written(); at != "" { // nobody has the PTX
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

// written is where the instruction is in what somebody has written, if its PTX was made of that to be run:
// a file k.cu.ptx of k.cu. It is "" of other PTX, and where nobody knows.
func (p *Place) written() string {
	cu, shown := strings.CutSuffix(p.File, ".ptx")
	if !shown || filepath.Ext(cu) != ".cu" || p.Source == "" {
		return ""
	}
	// The compiler may have another name of the same file.
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

// SourcePlace is the place of an instruction, and what it is there: "k.ptx:11:2: add.u32 %y, %x, 1;".
func SourcePlace(instr *ptx.Instr, fn *ptx.Func) string {
	var p Place
	p.name(instr, fn)
	at := p.written()
	if at == "" {
		at = fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
	}
	return at + ": " + p.Instr
}

// String is the memory in words.
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
