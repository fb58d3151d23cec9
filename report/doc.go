// Package report makes reports of runs: New makes a Report from the reports of processes, and Text prints it. The package runs
// nothing; gemu exec and the tests fill the reports.
package report
