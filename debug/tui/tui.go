// Package tui is a debugging session on a terminal: the code, the registers of the thread in focus, what
// the session says, and a line for commands, those of debug.Console.
package tui

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/charmbracelet/bubbles/textinput"
	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"

	"gemu/debug"
)

// Front is a front end for a terminal.
type Front struct {
	in   io.Reader
	out  io.Writer
	more bool // launches may follow

	mu      sync.Mutex
	printed bytes.Buffer // by the kernel, since the last command; guarded by mu

	said    []string // the lines so far
	history []string
}

// New makes one that reads keys from in and draws on out.
func New(in io.Reader, out io.Writer, more bool) *Front { return &Front{in: in, out: out, more: more} }

// Write takes what the kernel prints.
func (f *Front) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.printed.Write(p)
}

// kept is how many lines of what was said are.
const kept = 2000

func (f *Front) say(text string) {
	if text = strings.TrimRight(text, "\n"); text != "" {
		f.said = append(f.said, strings.Split(text, "\n")...)
	}
	if n := len(f.said) - kept; n > 0 {
		f.said = f.said[n:]
	}
}

// Debug draws and reads until the user has had enough. What was said stays on the terminal.
func (f *Front) Debug(ctx context.Context, s *debug.Session) error {
	m := &model{ctx: ctx, front: f, session: s, input: textinput.New(), at: -1}
	m.console = debug.NewConsole(s, &m.output)
	m.console.More = f.more
	m.input.Prompt = "(gemu) "
	m.input.ShowSuggestions = true
	m.input.SetSuggestions(debug.Commands())
	m.input.Focus()
	m.console.Greet()
	m.hear()
	m.look()
	_, err := tea.NewProgram(m, tea.WithInput(f.in), tea.WithOutput(f.out), tea.WithAltScreen(), tea.WithoutSignalHandler(), tea.WithContext(ctx)).Run()
	for _, line := range f.said[max(len(f.said)-m.height, 0):] {
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

// model is what is on the screen.
type model struct {
	ctx     context.Context
	front   *Front
	session *debug.Session
	console *debug.Console
	output  bytes.Buffer

	input         textinput.Model
	width, height int
	at            int // in the history, while it is looked through
	running       bool
	end           error // with which Debug returns

	// As the session stood last: it may not be looked at while it runs.
	where     string
	line      int
	marks     map[int]rune // breakpoints, by line
	registers []string
}

// done is told when a command has been executed.
type done struct{ err error }

func (m *model) Init() tea.Cmd { return textinput.Blink }

// hear takes over what the kernel has printed and the console has said.
func (m *model) hear() {
	m.front.mu.Lock()
	m.front.say(m.front.printed.String())
	m.front.printed.Reset()
	m.front.mu.Unlock()
	m.front.say(m.output.String())
	m.output.Reset()
}

// look notes where the session stands.
func (m *model) look() {
	m.where, m.line, m.registers, m.marks = "the launch has ended", 0, nil, map[int]rune{}
	for _, b := range m.session.Breakpoints() {
		mark := '●'
		if b.Disabled {
			mark = '○'
		}
		for _, n := range b.Lines(m.session) {
			m.marks[n] = mark
		}
	}
	c, err := m.session.Context()
	if err != nil {
		return
	}
	f := m.session.Focus()
	m.where = fmt.Sprintf("%s  block %s  thread %s  warp %d lane %d", m.session.Info().Kernel.Name, c.ID, m.session.Thread(f), f.Warp, f.Lane)
	m.line = int(c.Func.End.Line)
	if c.Instr != nil {
		m.line = int(c.Instr.Pos.Line)
	}
	for _, r := range c.Registers() {
		if r.Live {
			m.registers = append(m.registers, fmt.Sprintf("%-8s %s", r.Name, r.Text(c.Lanes)))
		}
	}
}

// Update hears of keys, of the terminal's size, and of commands that have come to their end.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
		m.input.Width = max(m.width-len(m.input.Prompt)-1, 1)
		return m, nil
	case done:
		m.running = false
		m.hear()
		switch err := msg.err; {
		case err == nil:
		case errors.Is(err, debug.ErrQuit), m.ctx.Err() != nil:
			m.end = err
			return m, tea.Quit
		case errors.Is(err, debug.ErrEnded) && m.front.more:
			return m, tea.Quit
		default:
			m.front.say(debug.Explain(err))
		}
		m.look()
		return m, nil
	case tea.KeyMsg:
		return m.key(msg)
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
		m.input.Reset()
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
	case tea.KeyUp, tea.KeyDown:
		m.recall(msg.Type == tea.KeyUp)
		return m, nil
	}
	var cmd tea.Cmd
	m.input, cmd = m.input.Update(msg)
	return m, cmd
}

// recall shows the command before, or after, of the history.
func (m *model) recall(up bool) {
	h := m.front.history
	if m.at < 0 {
		m.at = len(h)
	}
	if up {
		m.at = max(m.at-1, 0)
	} else {
		m.at = min(m.at+1, len(h))
	}
	m.input.Reset()
	if m.at < len(h) {
		m.input.SetValue(h[m.at])
		m.input.CursorEnd()
	}
}

// execute has the console execute a command, while keys are still heard.
func (m *model) execute(text string) (tea.Model, tea.Cmd) {
	m.front.say("(gemu) " + text)
	if text != "" {
		m.front.history = append(m.front.history, text)
	}
	m.at = -1
	m.input.Reset()
	m.session.Ready()
	m.running = true
	return m, func() tea.Msg { return done{m.console.Do(m.ctx, text)} }
}

var (
	heading = lipgloss.NewStyle().Bold(true)
	current = lipgloss.NewStyle().Reverse(true)
	faint   = lipgloss.NewStyle().Faint(true)
)

// View draws it all: the code and the registers above, what was said below them, the command line last.
func (m *model) View() string {
	if m.width < 20 || m.height < 6 {
		return m.input.View()
	}
	top := (m.height - 3) / 2
	bottom := m.height - 3 - top
	right := m.width / 3
	left := m.width - right - 1
	code, registers := m.code(left, top), column(m.registers, right, top)
	var rows []string
	rows = append(rows, heading.Render(cut(m.where, m.width)))
	for i := range top {
		rows = append(rows, code[i]+faint.Render("│")+registers[i])
	}
	rows = append(rows, faint.Render(strings.Repeat("─", m.width)))
	said := m.front.said
	if n := len(said) - bottom; n > 0 {
		said = said[n:]
	}
	rows = append(rows, column(said, m.width, bottom)...)
	status := m.input.View()
	if m.running {
		status = "running; Ctrl-C stops it"
	}
	return strings.Join(append(rows, status), "\n")
}

// code is the lines around the current one.
func (m *model) code(width, height int) []string {
	rows := make([]string, height)
	module := m.session.Info().Module
	first := max(m.line-height/2, 1)
	for i := range rows {
		n := first + i
		mark := ' '
		if r, ok := m.marks[n]; ok {
			mark = r
		}
		pointer := ' '
		if n == m.line {
			pointer = '▶'
		}
		text := fitted(fmt.Sprintf("%c%c%5d  %s", mark, pointer, n, strings.ReplaceAll(module.Line(n), "\t", "    ")), width)
		if n == m.line {
			text = current.Render(text)
		}
		rows[i] = text
	}
	return rows
}

// column is lines of a width, as many as it is high.
func column(lines []string, width, height int) []string {
	rows := make([]string, height)
	for i := range rows {
		text := ""
		if i < len(lines) {
			text = strings.ReplaceAll(lines[i], "\t", "    ")
		}
		rows[i] = fitted(text, width)
	}
	return rows
}

// fitted is a text of exactly so many columns.
func fitted(text string, width int) string {
	text = cut(text, width)
	return text + strings.Repeat(" ", max(width-lipgloss.Width(text), 0))
}

// cut is a text of at most so many columns.
func cut(text string, width int) string {
	if lipgloss.Width(text) <= width {
		return text
	}
	r := []rune(text)
	for len(r) > 0 && lipgloss.Width(string(r))+1 > width {
		r = r[:len(r)-1]
	}
	return string(r) + "…"
}
