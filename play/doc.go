// Package play runs kernels for the page on which gemu shows execution. Package play/site delivers the page.
//
//	Request (JSON)              Engine.Run            Response (JSON) + recording
//	program, launch, limits ──▶ parse, bind, launch ──▶ outcome, message, place,
//	                            with a Recorder        outputs; package record
//
// The page draws recordings and nothing else. It gets them in three ways, with the same bytes:
//
//   - from a Server of package site, which runs kernels in this process ("http");
//   - from the command of play/wasm in a worker of the browser ("wasm");
//   - from recordings inside the page ("none").
//
// Read play.go first (a run), then outcome.go (messages), start.go (the page's start) and page.go (its files).
//
// # Errors
//
// Engine.Run puts errors of the request and of the kernel into the Response, because a page shows them; its own error means that
// the context has ended.
//
// # Concurrency
//
// An Engine is safe for concurrent use. A run is bounded by Limits, and ends at once with its context, except in
// the WebAssembly engine: its page ends the worker instead.
//
// # Compatibility
//
// Fields of the Request and the Response may be added at any time; unknown fields of a Request are ignored.
package play
