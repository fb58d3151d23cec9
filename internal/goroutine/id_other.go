//go:build !amd64 && !arm64

package goroutine

import (
	"bytes"
	"runtime"
	"strconv"
)

// ID returns a number that no other goroutine has: the number that stack traces print ("goroutine 7 [running]:"). It takes
// about a microsecond.
func ID() uint64 {
	var buf [64]byte
	text, _ := bytes.CutPrefix(buf[:runtime.Stack(buf[:], false)], []byte("goroutine "))
	digits, _, _ := bytes.Cut(text, []byte(" "))
	id, err := strconv.ParseUint(string(digits), 10, 64)
	if err != nil {
		panic("BUG: a stack trace without the number of the goroutine: " + string(text))
	}
	return id
}
