// Package models is the contract of models of register files, and runs several on one execution.
//
// A [Model] is a register file that a paper or gemu proposes. It watches launches as a probe, counts, and reports tables
// ([Report]). A model does not change the execution, so several models can watch the same launch: [Watch] returns a
// [Comparison], which passes events to all models and counts, by instruction, the writes that each model stores
// compressed.
//
//	launch ── events ──▶ Comparison ──▶ Model.CTA ──▶ sink of the CTA, per model
//	                          │                          │ StoredBytes, if the sink is a Sizer
//	                          ▼                          ▼
//	                       Instrs: bytes by model     Report: tables of the model
//
// A new model is a type with the methods of Model, in a package below models, and an entry in package models/catalog. If its
// sinks implement [Sizer], the model takes part in the comparison by instruction; otherwise it has only a report.
//
// Read model.go, then comparison.go. The packages below models are avc (Collange and Kouyoumdjian 2011), gscalar (Liu et
// al. 2017), kim (Kim et al. 2013), tags (register files with a tag for base and stride), traffic (accesses to the engine's
// own rows) and catalog (models by name).
package models
