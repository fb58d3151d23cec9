// Package report makes reports for CI from the findings of runs: text, JSON, JUnit XML, SARIF 2.1.0 and annotations of GitHub's
// workflow commands. New and NewSingle make a Report; rules of suppressions and of a baseline (rules.go) mark findings that do not
// count; the files named after a format write it.
//
// The package runs nothing: gemu exec, gemu run and the tests fill the reports.
package report
