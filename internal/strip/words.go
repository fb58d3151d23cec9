package strip

// This file says strips in words.

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"gemu/probe"
)

// MaxSentences is the largest number of sentences of Describe for a warp.
const MaxSentences = 400

// Title returns the policies and the counts of a group: "stack and its: 15 steps, 28.8 of 32 lanes active on average". The counts
// are those of the recorded warps.
func (g *Group) Title() string {
	steps, lanes := 0, 0.0
	for _, w := range g.Warps {
		steps += w.Steps
		lanes += w.ActiveLanesMean() * float64(w.Steps)
	}
	return fmt.Sprintf("%s: %s, %s of %d lanes active on average", listText(g.Policies), counted(steps, "step"), oneDecimal(lanes/float64(max(steps, 1))), g.WarpSize)
}

func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// oneDecimal formats a number with one decimal, or none if it is a whole number.
func oneDecimal(f float64) string { return strings.TrimSuffix(fmt.Sprintf("%.1f", f), ".0") }

// listText joins names with commas and "and".
func listText(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// WarpTitle returns the name of a warp, or "" if the launch has only one.
func (s *Strip) WarpTitle(w *Warp) string {
	switch {
	case s.Grid.Count() > 1:
		return fmt.Sprintf("CTA %d, warp %d", w.CTA, w.Index)
	case len(s.Warps)+s.OtherWarps > 1:
		return fmt.Sprintf("warp %d", w.Index)
	}
	return ""
}

// EndText says how a launch that failed has ended, with the name of the fault first; "" for a completed launch.
func (s *Strip) EndText() string {
	if s.Err == nil {
		return ""
	}
	text := s.Err.Error()
	var trap *probe.Trap
	if errors.As(s.Err, &trap) {
		text = trap.Msg
	}
	return text
}

// FinalText says what the lanes of a warp waited for when the launch failed; "" if they had ended.
func (s *Strip) FinalText(w *Warp) string {
	if s.Err == nil || len(w.Final) == 0 {
		return ""
	}
	var list []string
	for _, x := range w.Final {
		list = append(list, s.waitText(w, x))
	}
	return fmt.Sprintf("after step %d: %s", w.Steps, strings.Join(list, "; "))
}

// waitText says who waits where: "the even lanes wait before line 23".
func (s *Strip) waitText(w *Warp, x Wait) string {
	text := w.LanesText(x.Lanes) + " " + verb(x.Lanes, "wait")
	switch x.Kind {
	case Stuck:
		return fmt.Sprintf("%s %s at %s", w.LanesText(x.Lanes), verb(x.Lanes, "are"), s.atText(x.At))
	case Ready:
		return text + " before " + s.atText(x.At)
	case Blocked:
		return text + " at " + s.atText(x.At)
	}
	if x.Missing != 0 {
		return fmt.Sprintf("%s at %s for %s", text, s.atText(x.At), w.LanesText(x.Missing))
	}
	return text + " at " + s.atText(x.At)
}

func (s *Strip) atText(index int) string {
	if index < 0 {
		return "the end"
	}
	return fmt.Sprintf("line %d", s.Program[index].Line)
}

// verb returns the form of a verb for a set of lanes.
func verb(lanes uint64, plural string) string {
	if lanes&(lanes-1) != 0 {
		return plural
	}
	switch plural {
	case "are":
		return "is"
	case "have":
		return "has"
	}
	return plural + "s"
}

// sentence describes the lanes of a warp from the first step of a run to the last step of another run of the same lanes: "steps
// 10 to 12, lines 20 to 21, B: the odd lanes run; the even lanes wait before line 23". before is the set of lanes that were alive
// before.
func (s *Strip) sentence(w *Warp, part []Run, before uint64) string {
	first, last := &part[0], &part[len(part)-1]
	var b strings.Builder
	if first.First == last.Last() {
		fmt.Fprintf(&b, "step %d, ", first.First)
	} else {
		fmt.Fprintf(&b, "steps %d to %d, ", first.First, last.Last())
	}
	from, to := first.From, first.To
	var letters []string
	for i := range part {
		from, to = min(from, part[i].From), max(to, part[i].To)
		if l := string(s.Blocks[part[i].Block].Letter); !slices.Contains(letters, l) {
			letters = append(letters, l)
		}
	}
	fmt.Fprintf(&b, "%s, %s: ", s.linesText(from, to), strings.Join(letters, " "))
	clauses := []string{}
	if first.Lanes != 0 {
		clauses = append(clauses, w.LanesText(first.Lanes)+" "+verb(first.Lanes, "run"))
	}
	if out := first.Active &^ first.Lanes; out != 0 {
		clauses = append(clauses, "the guard excludes "+w.LanesText(out))
	}
	for _, x := range first.Waits {
		clauses = append(clauses, s.waitText(w, x))
	}
	if ended := before &^ first.Alive(); ended != 0 {
		clauses = append(clauses, fmt.Sprintf("%s %s ended", w.LanesText(ended), verb(ended, "have")))
	}
	b.WriteString(strings.Join(clauses, "; "))
	return b.String()
}

// Sentences says in words what the lanes of a warp do: a sentence for each number of steps in which the same lanes run and the
// others wait at the same places.
func (s *Strip) Sentences(w *Warp) (list []string) {
	before := w.Lanes
	for i := 0; i < len(w.Runs); {
		k := i + 1
		for k < len(w.Runs) && w.Runs[k].Active == w.Runs[i].Active && w.Runs[k].Lanes == w.Runs[i].Lanes && slices.Equal(w.Runs[k].Waits, w.Runs[i].Waits) {
			k++
		}
		list = append(list, s.sentence(w, w.Runs[i:k], before))
		before = w.Runs[i].Alive()
		i = k
	}
	return list
}

// Describe writes strips in words: each sentence on a line.
func Describe(to io.Writer, groups []Group) {
	for i := range groups {
		g := &groups[i]
		if i > 0 {
			fmt.Fprintln(to)
		}
		fmt.Fprintf(to, "%s\n", g.Title())
		for _, w := range g.Warps {
			indent := "  "
			if t := g.WarpTitle(w); t != "" {
				fmt.Fprintf(to, "  %s\n", t)
				indent = "    "
			}
			list := g.Sentences(w)
			for _, text := range list[:min(len(list), MaxSentences)] {
				fmt.Fprintf(to, "%s%s\n", indent, text)
			}
			if n := len(list) - MaxSentences; n > 0 {
				fmt.Fprintf(to, "%sand %d more sentences, up to step %d\n", indent, n, w.Steps)
			}
			g.fprintEnd(to, w, indent, 0)
		}
		g.fprintNotes(to, 0)
	}
	fprintBlocks(to, groups, 0)
}

// wrapped breaks a text at blanks into lines of at most width characters; 0 is no limit. It does not break words.
func wrapped(text string, width int) (lines []string) {
	if width <= 0 {
		return []string{text}
	}
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && len([]rune(line))+1+len([]rune(word)) > width {
			lines = append(lines, line)
			line = ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	return append(lines, line)
}

// fprintWrapped writes a text in lines of at most width characters, each after an indent; 0 is no limit.
func fprintWrapped(to io.Writer, indent, text string, width int) {
	if width > 0 {
		width = max(width-len(indent), 20)
	}
	for _, line := range wrapped(text, width) {
		fmt.Fprintf(to, "%s%s\n", indent, line)
	}
}

// fprintEnd writes how a warp has ended, if it has not ended by itself.
func (g *Group) fprintEnd(to io.Writer, w *Warp, indent string, width int) {
	switch text := g.FinalText(w); {
	case w.Cut:
		fprintWrapped(to, indent, cutText, width)
	case text != "":
		fprintWrapped(to, indent, text, width)
	}
}

// cutText says that a warp has steps without a strip.
const cutText = "the warp executed more steps, which are not recorded"

// fprintNotes writes the error of a launch, and the number of warps that are not shown.
func (g *Group) fprintNotes(to io.Writer, width int) {
	if text := g.EndText(); text != "" {
		fprintWrapped(to, "  ", text, width)
	}
	if g.OtherWarps > 0 {
		fprintWrapped(to, "  ", notShown(g.OtherWarps)+" not shown (--cta and --warps choose)", width)
	}
}

func notShown(n int) string {
	if n == 1 {
		return "1 more warp is"
	}
	return fmt.Sprintf("%d more warps are", n)
}

// fprintBlocks writes the letters of the executed blocks, in lines of at most width characters; 0 is one block a line.
func fprintBlocks(to io.Writer, groups []Group, width int) {
	if len(groups) == 0 {
		return
	}
	fmt.Fprintln(to)
	line := ""
	for _, b := range executedBlocks(groups) {
		text := groups[0].BlockText(b)
		switch {
		case line == "":
			line = text
		case width > 0 && len([]rune(line))+3+len([]rune(text)) <= width:
			line += " · " + text
		default:
			fmt.Fprintln(to, line)
			line = text
		}
	}
	if line != "" {
		fmt.Fprintln(to, line)
	}
}
