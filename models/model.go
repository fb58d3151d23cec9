// Package models is what models of register files have in common, those that papers propose:
// each is a package below models, watches launches as a probe, and reports tables. Models do
// not change what is executed, so that several can watch the same launch: Watch has them do
// so, and counts which of them keep which values, by instruction.
//
// A model that wants to join is a type with the methods of Model. If the sinks of its CTAs are
// Keepers, too, it stands in the comparison by line; if not, it has its report only.
package models

import "gemu/interp"

// Model is a register file that watches launches. It goes back with a launch that is restored, and its sinks
// have to be Savers for that, too, unless they keep nothing of their CTA.
type Model interface {
	interp.Probe
	interp.Saver

	// Name is how command lines and tables call it: "gscalar".
	Name() string

	// Report is what it has counted of the CTAs that have ended, of all launches so far.
	Report() *Report
}

// Sizer is a sink that says what its model keeps of the registers that an instruction has
// written: Model.CTA gives it.
type Sizer interface {
	interp.Sink

	// StoredBytes is asked after the sink was told of an event with Writes that are results: OnAfter,
	// or OnReturn or OnWake of the instructions whose results come with these. It is how many
	// bytes the model stores Writes[i] in, for all lanes of the warp together; a model that
	// stores it as the vector that it is says Bytes of it. Predicates are not asked for.
	StoredBytes(e *interp.Event, i int) int
}

// Bytes is how many bytes a register has in all lanes of a warp: four of each 32-bit register
// that it takes, whatever the type needs.
func Bytes(v *interp.Value, warp int) int { return 4 * warp * max(1, v.Type.Bits()/32) }

// Report is what a model has counted.
type Report struct {
	Model  string  `json:"model"`  // its name
	Title  string  `json:"title"`  // what it is, and who has proposed it
	Tables []Table `json:"tables"` // the figures of its paper, or what is like them
}

// Table is numbers by name: a figure of a paper, or a table.
type Table struct {
	Name    string   `json:"name"`           // short, and that of its files: "figure8"
	Title   string   `json:"title"`          // for people
	Unit    string   `json:"unit"`           // of all its values: "%", "accesses"
	Plot    Plot     `json:"plot,omitempty"` // how it is drawn: "bars", "stacked"; "": it is not
	Columns []string `json:"columns"`        // what the values of each row are
	Rows    []Row    `json:"rows"`           // in the order in which they are read
}

// Row is a row of a table.
type Row struct {
	Name   string    `json:"name"`   // what the row is about
	Values []float64 `json:"values"` // by column
}

// Plot is how a table is drawn.
type Plot string

// The plots.
const (
	NoPlot  Plot = ""
	Bars    Plot = "bars"    // a bar for each value, in groups by row
	Stacked Plot = "stacked" // a bar for each row, of its values on top of each other
)
