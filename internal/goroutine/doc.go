// Package goroutine identifies goroutines, to detect a call from inside a callback.
package goroutine
