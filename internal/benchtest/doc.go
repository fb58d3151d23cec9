// Package benchtest measures workloads with a probe, and encoders, by processor time, for benchmarks of several packages.
package benchtest
