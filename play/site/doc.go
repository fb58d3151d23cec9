// Package site delivers the page of package play: a Server on the loopback address, files for any web server (Build), or one file
// that works without a server (Single). The engine in WebAssembly comes from FindEngine.
//
// # Errors and compatibility
//
// Errors in reading and writing files wrap the errors of package os. The error of FindEngine names the missing file or program and a
// remedy. Later versions may add files to a built page.
package site
