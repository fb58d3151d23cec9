package tui

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/bubbles/textinput"
	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"

	"gemu/debug"
	"gemu/interp"
	"gemu/ptx"
)

// open begins a session on a kernel with many registers, whose source own.cu has long lines. strip is debug.Options.Strip.
func open(t *testing.T, strip func(to io.Writer, cta, warp, width int) bool) *model {
	t.Helper()
	dir := t.TempDir()
	source := "void k(int *out) {\n\tout[t] = t; // " + strings.Repeat("long ", 40) + "end\n}\n"
	if err := os.WriteFile(filepath.Join(dir, "own.cu"), []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	var src strings.Builder
	src.WriteString(".version 8.0\n.target sm_80\n.address_size 64\n.file 1 \"own.cu\"\n.visible .entry k(.param .u64 out)\n{\n\t.reg .u32 %r<31>;\n\t.reg .u64 %p;\n\t.loc 1 2 1\n\tmov.u32 %r0, %tid.x; // " + strings.Repeat("wide ", 40) + "end\n")
	for i := range 29 {
		fmt.Fprintf(&src, "\tmad.lo.u32 %%r%d, %%r%d, %%r0, %d;\n", i+1, i, i)
	}
	src.WriteString("\tld.param.u64 %p, [out];\n")
	for i := range 29 {
		fmt.Fprintf(&src, "\tadd.u32 %%r30, %%r30, %%r%d;\n", i+1)
	}
	src.WriteString("\tst.global.u32 [%p], %r30;\n\tret;\n}\n")
	dev := interp.NewDevice(interp.Config{})
	mod, err := dev.Load(filepath.Join(dir, "own.ptx"), []byte(src.String()))
	if err != nil {
		t.Fatal(err)
	}
	b, err := dev.Alloc(4)
	if err != nil {
		t.Fatal(err)
	}
	s, err := debug.Start(t.Context(), mod, &interp.Launch{Grid: ptx.Dim(1), Block: ptx.Dim(32), Args: []any{b}}, debug.Options{Strip: strip})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	m := &model{ctx: t.Context(), front: New(nil, nil, false), session: s, input: textinput.New(), historyIndex: -1, files: s.Sources()}
	m.console = debug.NewConsole(s, &m.output)
	m.update()
	return m
}

// do executes a command.
func (m *model) do(text string) {
	_, cmd := m.execute(text)
	m.Update(cmd())
}

// keys presses keys.
func (m *model) keys(list ...tea.KeyType) {
	for _, k := range list {
		m.Update(tea.KeyMsg{Type: k})
	}
}

// TestScreenFitsAnySize: the screen fits at any size, and scrolls to the hidden part.
func TestScreenFitsAnySize(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}, {40, 12}, {20, 6}, {7, 3}} {
		m := open(t, nil)
		m.Update(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
		m.do("break 39")
		m.do("run")
		rows := func() []string {
			t.Helper()
			rows := strings.Split(m.View(), "\n")
			for _, r := range rows[:len(rows)-1] {
				if lipgloss.Width(r) > size[0] {
					t.Errorf("%v: %d columns: %q", size, lipgloss.Width(r), r)
				}
			}
			if len(rows) > size[1] {
				t.Errorf("%v: %d rows", size, len(rows))
			}
			return rows
		}
		shows := func(want string) {
			t.Helper()
			if got := rows(); !slices.ContainsFunc(got, func(r string) bool { return strings.Contains(r, want) }) {
				t.Errorf("%v: %q is not on\n%s", size, want, strings.Join(got, "\n"))
			}
		}
		if rows(); size[0] < 40 {
			m.keys(tea.KeyPgUp, tea.KeyShiftRight, tea.KeyShiftTab, tea.KeyPgDown, tea.KeyF2)
			rows()
			continue
		}
		shows("●▶   39")
		for range 40 {
			m.keys(tea.KeyPgUp)
		}
		shows("      1  .version")
		for range 40 {
			m.keys(tea.KeyPgDown)
		}
		shows("72  }")
		m.keys(tea.KeyShiftUp)
		shows("71  ")
		m.do("info breakpoints")
		shows("●▶   39") // back to the current place
		m.do("start")
		for range 60 {
			m.keys(tea.KeyShiftRight)
		}
		shows("end")
		for range 60 {
			m.keys(tea.KeyShiftLeft)
		}
		m.do("continue")
		m.keys(tea.KeyShiftTab)
		for range 40 {
			m.keys(tea.KeyPgDown)
		}
		shows("│%r30")
		m.keys(tea.KeyShiftTab)
		m.do("help")
		for range 80 {
			m.keys(tea.KeyPgUp)
		}
		if m.wrapped()[0] == "" || !strings.Contains(rows()[(size[1]-3)/2+2], m.wrapped()[0]) {
			t.Errorf("%v: the first that was said is not there:\n%s", size, strings.Join(rows(), "\n"))
		}
		m.keys(tea.KeyF2)
		shows("─ own.cu")
		shows("●▶    2      out[")
		m.do("print 1")
		shows("$1 = 1")
		m.Update(tea.MouseMsg{Button: tea.MouseButtonWheelUp, X: 1, Y: size[1] - 3})
		if m.views[messagePane].rows != -wheelLines {
			t.Errorf("%v: the wheel scrolls to %+v", size, m.views)
		}
	}
}

// TestCursorSequencesAreRemoved: text with cursor sequences does not move the cursor.
func TestCursorSequencesAreRemoved(t *testing.T) {
	if got := plain("a\tb\x1b[2J\x07\xff"); got != "a    b·[2J··" {
		t.Errorf("%q", got)
	}
}

// TestStrip: the strip of the warp is on the screen at each stop, also back in time, if there is room; F3 hides it.
func TestStrip(t *testing.T) {
	steps := 0
	m := open(t, func(to io.Writer, cta, warp, width int) bool {
		fmt.Fprintf(to, "warp %d of %d\n\x1b[97;44m%s\x1b[0m\n", warp, cta, strings.Repeat("A", min(steps, width)))
		for i := range 20 {
			fmt.Fprintf(to, "lane %d\n", i)
		}
		return true
	})
	rows := func() []string { return strings.Split(m.View(), "\n") }
	find := func(want string) int {
		return slices.IndexFunc(rows(), func(r string) bool { return strings.Contains(r, want) })
	}
	for _, size := range [][2]int{{80, 24}, {120, 40}, {40, 16}, {39, 24}, {80, 15}, {20, 6}} {
		steps = 1000
		m.Update(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
		m.do("start")
		shown := size[0] >= 40 && size[1] >= 16
		if got := find("warp 0 of 0") > 0; got != shown {
			t.Errorf("%v: the strip is shown: %t, want %t\n%s", size, got, shown, m.View())
		}
		m.Update(tea.WindowSizeMsg{Width: size[0] - 1, Height: size[1]}) // narrower than the strip, while the command runs
		for _, r := range rows()[:len(rows())-1] {
			if lipgloss.Width(r) > size[0] {
				t.Errorf("%v: %d columns: %q", size, lipgloss.Width(r), r)
			}
		}
		if n := len(rows()); n > size[1] {
			t.Errorf("%v: %d rows", size, n)
		}
	}
	m.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	steps = 3
	m.do("stepi")
	if find("\x1b[97;44mAAA\x1b[0m") < 0 {
		t.Errorf("after a step:\n%s", m.View())
	}
	steps = 2
	m.do("reverse-stepi")
	if find("\x1b[97;44mAA\x1b[0m") < 0 {
		t.Errorf("a step back:\n%s", m.View())
	}
	m.keys(tea.KeyShiftTab, tea.KeyShiftTab, tea.KeyPgDown, tea.KeyPgDown, tea.KeyPgDown, tea.KeyPgDown)
	if m.pane != stripPane || find("lane 19") < 0 || find("warp 0 of 0") >= 0 {
		t.Errorf("pane %d, scrolled:\n%s", m.pane, m.View())
	}
	m.Update(tea.MouseMsg{Button: tea.MouseButtonWheelUp, X: 1, Y: find("lane 19")})
	if find("lane 19") >= 0 || find("lane 16") < 0 {
		t.Errorf("the wheel does not scroll the strip:\n%s", m.View())
	}
	m.keys(tea.KeyF3)
	if m.pane == stripPane || find("lane 16") >= 0 || find("every step") >= 0 || find("F3: strip") < 0 {
		t.Errorf("hidden:\n%s", m.View())
	}
	m.keys(tea.KeyF3)
	if find("lane 16") < 0 {
		t.Errorf("shown again:\n%s", m.View())
	}
}
