// Package reports has no code. Its tests read gemu's reports for CI systems with programs of others: SARIF by its public schema,
// JUnit XML by a parser.
package reports
