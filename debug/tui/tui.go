// Package tui is a full-screen front end for debugging sessions on a terminal. It shows the code, the registers
// of the thread in focus, the steps of its warp as a strip of lanes over time, the session's messages, and a command
// line with the commands of debug.Console. Panes scroll. The code is the PTX or the source from which it was compiled.
package tui

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/bubbles/textinput"
	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"

	"gemu/debug"
	_ "gemu/debug/tui/internal/background"
	"gemu/internal/input"
)

// Front is a front end for a terminal.
type Front struct {
	in           io.Reader
	out          io.Writer
	moreLaunches bool // more launches may follow

	mu      sync.Mutex
	printed bytes.Buffer // output of the kernel since the last command; guarded by mu

	lines   []string // all message lines
	history []string
	source  bool // show the source instead of the PTX, if the source can be read
	noStrip bool // the strip is hidden
}

// New returns a front end that reads keys from in and draws on out. more means that more launches may follow.
func New(in io.Reader, out io.Writer, more bool) *Front {
	return &Front{in: in, out: out, moreLaunches: more}
}

// Write receives the output of the kernel.
func (f *Front) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.printed.Write(p)
}

// maxLines is the largest number of message lines. Beyond it, the oldest are dropped.
const maxLines = 2000

func (f *Front) addLine(text string) {
	if text = strings.TrimRight(text, "\n"); text != "" {
		f.lines = append(f.lines, strings.Split(text, "\n")...)
	}
	if n := len(f.lines) - maxLines; n > 0 {
		f.lines = f.lines[n:]
	}
}

// Debug draws and handles keys until the user leaves. The last messages stay on the terminal.
func (f *Front) Debug(ctx context.Context, s *debug.Session) error {
	m := &model{ctx: ctx, front: f, session: s, input: textinput.New(), historyIndex: -1, files: s.Sources()}
	m.console = debug.NewConsole(s, &m.output)
	m.console.More = f.moreLaunches
	m.input.Prompt = "(gemu) "
	m.input.ShowSuggestions = true
	m.set("")
	m.input.Focus()
	m.console.Greet()
	m.takeOutput()
	m.update()
	_, err := tea.NewProgram(m, tea.WithInput(f.in), tea.WithOutput(f.out), tea.WithAltScreen(), tea.WithMouseCellMotion(), tea.WithoutSignalHandler(), tea.WithContext(ctx)).Run()
	for _, line := range f.lines[max(len(f.lines)-m.height, 0):] {
		fmt.Fprintln(f.out, line)
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return err
	}
	return m.end
}

// model is the state of the screen.
type model struct {
	ctx     context.Context
	front   *Front
	session *debug.Session
	console *debug.Console
	output  bytes.Buffer

	input         textinput.Model
	width, height int
	historyIndex  int   // position in the history while the user recalls a command; -1: none
	running       bool  // a command is running
	end           error // result of Debug

	files *input.Sources
	lines int  // number of lines of the PTX; 0: not counted yet
	pane  pane // the pane that keys scroll
	views [panes]view

	// The fields below are copies of the session's state at the last stop, because a running session must not be accessed.
	focusText   string
	ptx, source place // positions in the PTX and in the source; line 0: none
	registers   []string
	strip       []string // the steps of the warp in focus; empty without a strip
}

// place is a current line in a file, and the marks of the file's lines with breakpoints.
type place struct {
	file  string
	line  int
	marks map[int]rune // by line
}

// pane is a scrollable part of the screen.
type pane int

const (
	codePane pane = iota
	registerPane
	stripPane
	messagePane
	panes
)

// view is the scroll position of a pane: the number of rows below its unscrolled position, and of columns to the right.
type view struct{ rows, columns int }

// commandDone is the message at the end of a command.
type commandDone struct{ err error }

func (m *model) Init() tea.Cmd { return textinput.Blink }

// takeOutput moves the output of the kernel and the console to the message lines.
func (m *model) takeOutput() {
	m.front.mu.Lock()
	m.front.addLine(m.front.printed.String())
	m.front.printed.Reset()
	m.front.mu.Unlock()
	m.front.addLine(m.output.String())
	m.output.Reset()
}

// update copies the state of the session to the model.
func (m *model) update() {
	info := m.session.Info()
	m.focusText, m.registers = "the launch has ended", nil
	m.ptx, m.source = place{file: info.Module.Name, marks: map[int]rune{}}, place{marks: map[int]rune{}}
	m.views[codePane].rows = 0
	c, err := m.session.Context()
	if err == nil {
		f := m.session.Focus()
		m.focusText = fmt.Sprintf("%s  block %s  thread %s  warp %d lane %d", info.Kernel.Name, c.ID, m.session.Thread(f), f.Warp, f.Lane)
		m.ptx.line = int(c.Func.End.Line)
		if c.Instr != nil {
			m.ptx.line = int(c.Instr.Pos.Line)
			if l := c.Instr.Loc; l >= 0 {
				m.source.file, m.source.line = info.Module.FileName(c.Func.Locs[l].File), int(c.Func.Locs[l].Line)
			}
		}
		m.registers = append(m.session.LaneRows(16), "R next P later W waits X exited", "")
		for _, r := range c.Registers() {
			if r.Live {
				m.registers = append(m.registers, fmt.Sprintf("%-8s %s", r.Name, r.Text(c.Lanes)))
			}
		}
	}
	m.drawStrip()
	for _, b := range m.session.Breakpoints() {
		mark := '●'
		if b.Disabled {
			mark = '○'
		}
		for _, n := range b.Lines(m.session) {
			m.ptx.marks[n] = mark
		}
		for _, n := range b.LinesOf(m.session, m.source.file) {
			m.source.marks[n] = mark
		}
	}
}

// drawStrip draws the strip of the warp in focus. The session must not be running.
func (m *model) drawStrip() {
	m.strip = nil
	var b strings.Builder
	if m.width >= leastStripWidth && m.session.WriteStrip(&b, m.width) == nil {
		m.strip = strings.Split(strings.TrimRight(b.String(), "\n"), "\n")
	}
}

// The least size of a screen with a strip.
const (
	leastStripWidth  = 40
	leastStripHeight = 16
)

// code returns the current place in the displayed file, a function that returns line n of the file, and the number of
// its lines. The file is the source if the user has chosen it and it can be read, else the PTX.
func (m *model) code() (place, func(n int) string, int) {
	if m.front.source && m.source.line > 0 {
		if lines := m.files.Lines(m.source.file); len(lines) > 0 {
			return m.source, func(n int) string { return lines[n-1] }, len(lines)
		}
	}
	module := m.session.Info().Module
	if m.lines == 0 {
		m.lines = strings.Count(module.Source(), "\n") + 1
	}
	return m.ptx, module.Line, m.lines
}

// Update handles keys, changes of the terminal's size, and ends of commands.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
		m.input.Width = max(m.width-len(m.input.Prompt)-1, 1)
		if !m.running {
			m.drawStrip()
		}
		return m, nil
	case commandDone:
		m.running = false
		m.takeOutput()
		switch err := msg.err; {
		case err == nil:
		case errors.Is(err, debug.ErrQuit), m.ctx.Err() != nil:
			m.end = err
			return m, tea.Quit
		case errors.Is(err, debug.ErrEnded) && m.front.moreLaunches:
			return m, tea.Quit
		default:
			m.front.addLine(debug.Explain(err))
		}
		m.update()
		return m, nil
	case tea.KeyMsg:
		return m.key(msg)
	case tea.MouseMsg:
		m.wheel(msg)
		return m, nil
	}
	var cmd tea.Cmd
	m.input, cmd = m.input.Update(msg)
	return m, cmd
}

func (m *model) key(msg tea.KeyMsg) (tea.Model, tea.Cmd) {
	switch msg.Type {
	case tea.KeyCtrlC:
		if m.running {
			m.session.Interrupt()
			return m, nil
		}
		m.set("")
		return m, nil
	case tea.KeyCtrlD:
		if !m.running && m.input.Value() == "" {
			return m.execute("quit")
		}
	case tea.KeyEnter:
		if !m.running {
			return m.execute(m.input.Value())
		}
		return m, nil
	case tea.KeyF2:
		m.toggle()
		return m, nil
	case tea.KeyF3:
		m.front.noStrip = !m.front.noStrip
		m.leaveHidden()
		return m, nil
	case tea.KeyShiftTab:
		m.pane = (m.pane + 1) % panes
		m.leaveHidden()
		return m, nil
	case tea.KeyPgUp, tea.KeyPgDown, tea.KeyShiftUp, tea.KeyShiftDown, tea.KeyShiftLeft, tea.KeyShiftRight:
		page := max(m.sizes().rows(m.pane)-1, 1)
		delta := map[tea.KeyType]view{
			tea.KeyPgUp: {-page, 0}, tea.KeyPgDown: {page, 0}, tea.KeyShiftUp: {-1, 0}, tea.KeyShiftDown: {1, 0}, tea.KeyShiftLeft: {0, -columnStep}, tea.KeyShiftRight: {0, columnStep},
		}[msg.Type]
		m.scroll(m.pane, delta)
		return m, nil
	case tea.KeyUp, tea.KeyDown:
		m.recall(msg.Type == tea.KeyUp)
		return m, nil
	}
	var cmd tea.Cmd
	m.input, cmd = m.input.Update(msg)
	return m, cmd
}

// leaveHidden chooses the pane after the strip if the strip is hidden.
func (m *model) leaveHidden() {
	if m.pane == stripPane && m.sizes().strip == 0 {
		m.pane = messagePane
	}
}

// Scroll steps: columns of a key, and lines of a mouse wheel.
const (
	columnStep = 8
	wheelLines = 3
)

// toggle switches between the PTX and its source.
func (m *model) toggle() {
	m.front.source = !m.front.source
	m.views[codePane] = view{}
	if m.front.source && m.source.line == 0 {
		m.front.addLine("The PTX names no source line here.")
	} else if m.front.source && len(m.files.Lines(m.source.file)) == 0 {
		m.front.addLine(fmt.Sprintf("%s cannot be read: %v. The PTX is shown instead.", m.source.file, m.files.Err(m.source.file)))
	}
}

// scroll scrolls a pane within its contents.
func (m *model) scroll(p pane, delta view) {
	v, z := &m.views[p], m.sizes()
	minimum, maximum := 0, 0
	switch p {
	case codePane:
		pos, _, count := m.code()
		first := z.first(pos.line)
		minimum, maximum = 1-first, max(count-z.top+1-first, 0)
	case registerPane:
		maximum = max(len(m.registers)-z.top, 0)
	case stripPane:
		maximum = max(len(m.strip)-z.strip, 0)
	case messagePane:
		minimum = min(z.bottom-len(m.wrapped()), 0)
	}
	v.rows = min(max(v.rows+delta.rows, minimum), maximum)
	v.columns = max(v.columns+delta.columns, 0)
	if longest := m.longest(p); v.columns > max(longest-1, 0) {
		v.columns = max(longest-1, 0) / columnStep * columnStep
	}
}

// longest returns the width of a pane's longest line in columns. Strips and messages do not scroll sideways.
func (m *model) longest(p pane) (n int) {
	switch p {
	case codePane:
		_, text, count := m.code()
		for i := range count {
			n = max(n, lipgloss.Width(plain(text(i+1))))
		}
	case registerPane:
		for _, r := range m.registers {
			n = max(n, lipgloss.Width(r))
		}
	}
	return n
}

// wheel scrolls the pane under the mouse.
func (m *model) wheel(msg tea.MouseMsg) {
	delta := map[tea.MouseButton]view{tea.MouseButtonWheelUp: {-wheelLines, 0}, tea.MouseButtonWheelDown: {wheelLines, 0}, tea.MouseButtonWheelLeft: {0, -columnStep}, tea.MouseButtonWheelRight: {0, columnStep}}[msg.Button]
	if delta == (view{}) {
		return
	}
	z, p := m.sizes(), messagePane
	switch {
	case msg.Y > z.top+z.separated():
	case msg.Y > z.top:
		p = stripPane
	case msg.X < z.left:
		p = codePane
	default:
		p = registerPane
	}
	m.scroll(p, delta)
}

// recall shows the previous or next command of the history.
func (m *model) recall(up bool) {
	h := m.front.history
	if m.historyIndex < 0 {
		m.historyIndex = len(h)
	}
	if up {
		m.historyIndex = max(m.historyIndex-1, 0)
	} else {
		m.historyIndex = min(m.historyIndex+1, len(h))
	}
	if m.historyIndex < len(h) {
		m.set(h[m.historyIndex])
	} else {
		m.set("")
	}
}

// set replaces the command line and its suggestions.
func (m *model) set(text string) {
	m.input.SetValue(text)
	m.input.CursorEnd()
	m.input.SetSuggestions(debug.Commands())
}

// execute starts a command, which runs concurrently with the handling of keys.
func (m *model) execute(text string) (tea.Model, tea.Cmd) {
	m.front.addLine("(gemu) " + text)
	if text != "" {
		m.front.history = append(m.front.history, text)
	}
	m.historyIndex = -1
	m.set("")
	m.views[messagePane].rows = 0
	m.session.Ready()
	m.running = true
	return m, func() tea.Msg { return commandDone{m.console.Do(m.ctx, text)} }
}

var (
	heading = lipgloss.NewStyle().Bold(true)
	current = lipgloss.NewStyle().Reverse(true)
	faint   = lipgloss.NewStyle().Faint(true)
)

// sizes has the sizes of the panes: rows of the upper panes, of the strip and of the lower pane, columns of the upper panes.
type sizes struct{ top, strip, bottom, left, right int }

func (m *model) sizes() sizes {
	z := sizes{right: m.width / 3}
	if !m.front.noStrip && m.width >= leastStripWidth && m.height >= leastStripHeight {
		z.strip = min(len(m.strip), (m.height-3)/3)
	}
	rest := m.height - 3 - z.separated()
	z.top = rest / 2
	z.bottom, z.left = rest-z.top, m.width-z.right-1
	return z
}

// separated returns the number of rows of the strip and of the line above it.
func (z sizes) separated() int {
	if z.strip == 0 {
		return 0
	}
	return z.strip + 1
}

// rows returns the number of lines of a pane.
func (z sizes) rows(p pane) int {
	switch p {
	case messagePane:
		return z.bottom
	case stripPane:
		return z.strip
	}
	return z.top
}

// first returns the first displayed line of code if line is in the middle of the pane.
func (z sizes) first(line int) int { return max(line-z.top/2, 1) }

// View draws the screen: the code and the registers at the top, the messages below, the command line last.
func (m *model) View() string {
	if m.width < 20 || m.height < 6 {
		return m.input.View()
	}
	z := m.sizes()
	code, registers := m.codeRows(z), m.registerRows(z)
	rows := []string{heading.Render(cutRight(m.focusText, m.width))}
	for i := range z.top {
		rows = append(rows, code[i]+faint.Render("│")+registers[i])
	}
	if z.strip > 0 {
		rows = append(rows, m.separator("─ every step of the warp's lanes ─ F3: hide "))
		from := min(m.views[stripPane].rows, len(m.strip)-z.strip)
		for _, line := range m.strip[from : from+z.strip] {
			rows = append(rows, lipgloss.NewStyle().MaxWidth(m.width).Render(line))
		}
	}
	pos, _, _ := m.code()
	keys := fmt.Sprintf("─ %s ─ %s: PgUp PgDn Shift-arrows ", filepath.Base(pos.file), [...]string{"code", "registers", "strip", "output"}[m.pane])
	if m.front.noStrip && len(m.strip) > 0 {
		keys += "─ F3: strip "
	}
	keys += "─ Shift-Tab: another pane ─ F2: source "
	rows = append(rows, m.separator(keys))
	lines := m.wrapped()
	last := min(max(len(lines)+m.views[messagePane].rows, z.bottom), len(lines))
	lines = lines[max(last-z.bottom, 0):last]
	for i := range z.bottom {
		text := ""
		if i < len(lines) {
			text = lines[i]
		}
		rows = append(rows, fitted(text, m.width))
	}
	status := m.input.View()
	if m.running {
		status = "running; Ctrl-C stops it"
	}
	return strings.Join(append(rows, status), "\n")
}

// separator returns a line across the screen that begins with a text.
func (m *model) separator(text string) string {
	text = cutRight(text, m.width)
	return faint.Render(text + strings.Repeat("─", max(m.width-lipgloss.Width(text), 0)))
}

// codeRows returns the displayed lines of code.
func (m *model) codeRows(z sizes) []string {
	rows := make([]string, z.top)
	pos, text, count := m.code()
	v := m.views[codePane]
	first := max(z.first(pos.line)+v.rows, 1)
	for i := range rows {
		n := first + i
		if n > count {
			rows[i] = fitted("", z.left)
			continue
		}
		mark, pointer := ' ', ' '
		if r, ok := pos.marks[n]; ok {
			mark = r
		}
		if n == pos.line {
			pointer = '▶'
		}
		head := cutRight(fmt.Sprintf("%c%c%5d  ", mark, pointer, n), z.left)
		row := head + fitted(cutLeft(plain(text(n)), v.columns), max(z.left-lipgloss.Width(head), 0))
		if n == pos.line {
			row = current.Render(row)
		}
		rows[i] = row
	}
	return rows
}

// registerRows returns the displayed registers.
func (m *model) registerRows(z sizes) []string {
	rows := make([]string, z.top)
	v := m.views[registerPane]
	down := min(v.rows, max(len(m.registers)-z.top, 0)) // after the last scroll, the number of registers may have become smaller
	for i := range rows {
		text := ""
		if n := i + down; n < len(m.registers) {
			text = m.registers[n]
		}
		rows[i] = fitted(cutLeft(text, v.columns), z.right)
	}
	return rows
}

// wrapped returns the messages wrapped to the width of the screen.
func (m *model) wrapped() (rows []string) {
	for _, line := range m.front.lines {
		line = plain(line)
		for lipgloss.Width(line) > m.width {
			n, columns := 0, 0
			for i, r := range line {
				w := lipgloss.Width(string(r))
				if columns+w > m.width && i > 0 {
					break
				}
				n, columns = i+len(string(r)), columns+w
			}
			rows, line = append(rows, line[:n]), line[n:]
		}
		rows = append(rows, line)
	}
	return rows
}

// plain replaces tabs by blanks, and each other character that cannot be displayed by a dot.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsGraphic(r) || r == utf8.RuneError {
			return '·'
		}
		return r
	}, strings.ReplaceAll(strings.TrimRight(text, "\r"), "\t", "    "))
}

// cutLeft removes columns from the left and marks the cut with "…".
func cutLeft(text string, columns int) string {
	if columns == 0 || text == "" {
		return text
	}
	for i, r := range text {
		if columns -= lipgloss.Width(string(r)); columns < 0 {
			return "…" + text[i+len(string(r)):]
		}
	}
	return "…"
}

// fitted returns the text with exactly width columns.
func fitted(text string, width int) string {
	text = cutRight(text, width)
	return text + strings.Repeat(" ", max(width-lipgloss.Width(text), 0))
}

// cutRight returns the text with at most width columns; "…" marks the cut.
func cutRight(text string, width int) string {
	if lipgloss.Width(text) <= width {
		return text
	}
	columns := 0
	for i, r := range text {
		if columns += lipgloss.Width(string(r)); columns > width-1 {
			return text[:i] + "…"
		}
	}
	return text
}
