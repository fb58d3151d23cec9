// Package site delivers the page of package play: a Server on the loopback address, files for any web server (Build), or one file
// that works without a server (Single). The engine in WebAssembly comes from FindEngine.
//
// # Errors and compatibility
//
// Errors of files wrap the errors of package os. An error of FindEngine says what is missing and what to do. Files may be added to a
// built page at any time.
package site
