// Package background keeps a process from asking its terminal for the colour of the background. Package bubbletea asks when it is
// initialised, in all processes that link it, and waits five seconds for the answer. Terminals without an answer, such as those of
// docker run -t in CI, would delay each command. Import it for that effect alone.
//
// It is initialised before bubbletea, as the specification of Go requires: both import lipgloss, and its path is the lesser one.
package background

import "github.com/charmbracelet/lipgloss"

// The front end has no colour that depends on the background.
func init() { lipgloss.SetHasDarkBackground(true) }
