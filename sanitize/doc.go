// Package sanitize finds errors of kernels that do not trap. Each tool is a probe for one class of errors
// and adds its findings to a log. No tool changes the behaviour of a kernel. Failed launches are findings,
// too, and the watched launches are counted (package outcome).
//
//	tool      package    finds
//	race      race       unordered accesses of different threads
//	init      validity   uses of uninitialised values
//	bounds    bounds     accesses outside the variable or buffer of the address
//	sync      barriers   misuses of barriers, membermasks, mbarriers and copies
//	leak      leak       memory that is never freed
//
// Use: Parse a list of tools, New, pass Sanitizer.Probes to interp.Config, run launches, Finish, then Print
// or Report.
//
// Errors: Parse returns an error for an unknown tool. It has no type for errors.As, because it is a usage
// error for people. Print returns the error of the writer. Errors of launches come from interp.Module.Run;
// pass the error of a launch that could not begin to Sanitizer.Fail.
//
// Concurrency: a Sanitizer and the log in it may be used by concurrent launches of a device. Tools and the
// Tool values are read-only.
//
// Between versions, tools, kinds of findings and their messages may change, and tools may find more. The
// schema of Report changes only with its number. The meaning of a tool's name stays.
package sanitize
