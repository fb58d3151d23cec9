package report

import (
	"fmt"
	"io"
	"strings"

	"gemu/sanitize/finding"
)

// GitHub writes a workflow command for each new finding, equal findings once, which GitHub shows at the line of the source. Notices are notices there.
func (r *Report) GitHub(w io.Writer) error {
	var b strings.Builder
	for _, g := range r.groups() {
		f := g.Item
		if f.State != StateNew {
			continue
		}
		command := "error"
		if f.Severity == finding.Notice {
			command = "notice"
		}
		var fields []string
		if s := r.spot(f, &f.Place); s.file != "" {
			fields = append(fields, "file="+escapeProperty(s.file))
			if s.line > 0 {
				fields = append(fields, fmt.Sprintf("line=%d", s.line))
			}
			if s.column > 0 {
				fields = append(fields, fmt.Sprintf("col=%d", s.column))
			}
		}
		fields = append(fields, "title="+escapeProperty("gemu "+f.title()))
		message := r.message(f)
		if n := len(g.processes); n > 1 {
			message += fmt.Sprintf(" (in %d processes)", n)
		}
		fmt.Fprintf(&b, "::%s %s::%s\n", command, strings.Join(fields, ","), escapeData(message))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// escapeData and escapeProperty escape a text as GitHub's own toolkit does (actions/toolkit, command.ts).
func escapeData(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

func escapeProperty(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(s)
}
