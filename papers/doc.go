// Package papers repeats the measurements of papers on workloads of the library and compares them with the printed values.
//
// A [Paper] has tables and figures ([Table]) with columns, rows of printed values, and interpretations: methods of
// measurement between which the paper's text does not decide. The first interpretation is the headline. A [Meter] runs the
// workloads; several tables share its runs. [Table.Start] starts the measurements of a table. [Measurement.Compare] returns
// the results together with the paper's values, and rank correlations ([Agreement]).
//
//	m := papers.NewMeter(ctx, 0, 0, paper.Tables)
//	defer m.Close()
//	table, err := paper.Tables[0].Start(m).Compare(nil)
//
// Read paper.go, meter.go and comparison.go first, then agreement.go (statistics) and csv.go. Each of the remaining files
// describes a paper. The pages docs/avc.md, docs/caba.md, docs/gscalar.md, docs/gv100.md, docs/kim2013.md and docs/kim2013-time.md define
// the columns.
package papers
