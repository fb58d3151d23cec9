// Package input reads files up to a size. A device or a pipe does not say how much it
// holds, and may have no end.
package input

import (
	"bytes"
	"fmt"
	"io"
	"os"
)

// Limits of what is read, in bytes.
const (
	MaxText   = 256 << 20 // of PTX and other sources
	MaxStream = 256 << 20 // of what is no regular file
)

// ReadFile reads a file of up to limit bytes, of up to MaxStream if it is no regular file.
func ReadFile(name string, limit int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		limit = min(limit, MaxStream)
	}
	return Read(f, limit, st.Size())
}

// Read reads to the end, which must come within limit bytes. It is expected after size.
func Read(r io.Reader, limit, size int64) ([]byte, error) {
	tooLarge := fmt.Errorf("more than %d MiB", limit>>20)
	if size > limit {
		return nil, tooLarge
	}
	var b bytes.Buffer
	b.Grow(int(size) + bytes.MinRead)
	n, err := b.ReadFrom(io.LimitReader(r, limit+1))
	if err == nil && n > limit {
		err = tooLarge
	}
	return b.Bytes(), err
}
