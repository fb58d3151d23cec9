package models

import "gemu/probe"

// Model is a model of a register file that watches launches. When a launch is restored to an earlier state, the model is,
// too (probe.Saver). The sinks that its method CTA returns must be Savers, too, unless they have no state.
type Model interface {
	probe.Probe
	probe.Saver

	// Name returns the name on command lines and in tables: "gscalar".
	Name() string

	// Report returns the counts of all CTAs that have ended, of all launches so far.
	Report() *Report
}

// Sizer is a sink, returned by Model.CTA, that knows the size in which its model stores a written register.
type Sizer interface {
	probe.Sink

	// StoredBytes returns the number of bytes in which the model stores e.Writes[i], for all lanes of the warp
	// together. A model that stores a value for each lane returns Bytes. StoredBytes is called after OnEvent with the
	// same event, for events with results (HasResults), and not for predicates.
	StoredBytes(e *probe.Event, i int) int
}

// Bytes returns the size in bytes of a register with a value for each of warp lanes: in each lane four bytes for each 32
// bits of the type, and at least four.
func Bytes(v *probe.Value, warp int) int { return 4 * warp * max(1, v.Type.Bits()/32) }

// Report is the counts of a model.
type Report struct {
	Model  string  `json:"model"`  // the model's name
	Title  string  `json:"title"`  // subject of the model, and authors of the proposal
	Tables []Table `json:"tables"` // the figures of the model's paper, or similar tables
}

// Table is a figure or a table with named rows and columns.
type Table struct {
	Name    string   `json:"name"`           // short name, also of files with the table: "figure8"
	Title   string   `json:"title"`          // heading of the table
	Unit    string   `json:"unit"`           // unit of all values: "%", "accesses"
	Plot    Plot     `json:"plot,omitempty"` // kind of plot: "bars", "stacked"; "": none
	Columns []string `json:"columns"`        // headings of the values
	Rows    []Row    `json:"rows"`           // rows in reading order
}

// Row is a row of a table.
type Row struct {
	Name   string    `json:"name"`   // subject of the row
	Values []float64 `json:"values"` // by column
}

// Plot is a kind of plot.
type Plot string

// The kinds of plot.
const (
	NoPlot  Plot = ""        // no picture
	Bars    Plot = "bars"    // a bar for each value, in groups by row
	Stacked Plot = "stacked" // a bar for each row, with its values stacked
)
