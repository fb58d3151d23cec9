// Package papers repeats the measurements of papers on workloads of the library and compares them with the printed values.
//
// A [Paper] has tables and figures ([Table]): columns, rows with the printed values, and interpretations, which are the ways of
// measuring that the paper's text leaves open. The first interpretation is the headline. A [Meter] runs the workloads; several
// tables share its runs. [Table.Start] starts the measurements of a table, and [Measurement.Compare] puts the results next to the
// paper's values, with rank correlations ([Agreement]).
//
//	m := papers.NewMeter(ctx, 0, 0, paper.Tables)
//	defer m.Close()
//	table, err := paper.Tables[0].Start(m).Compare(nil)
//
// Read paper.go, meter.go and comparison.go first, then agreement.go (statistics) and csv.go. The remaining files describe
// a paper each; the pages docs/avc.md, docs/gscalar.md, docs/kim2013.md and docs/kim2013-time.md define their columns.
package papers
