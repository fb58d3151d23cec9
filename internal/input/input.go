package input

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"gemu/internal/hostmem"
)

// Maximum sizes, in bytes.
const (
	MaxText   = 256 << 20 // PTX and source text
	MaxStream = 256 << 20 // files that are not regular
)

// ReadFile reads a file of at most limit bytes, or of at most MaxStream if it is not regular. A pipe or a device may
// block the reader; ReadFile then returns an error when the context ends.
func ReadFile(ctx context.Context, name string, limit int64) ([]byte, error) {
	if st, err := os.Stat(name); err != nil || st.Mode().IsRegular() {
		return readFile(name, limit)
	}
	return waitForRead(ctx, func() ([]byte, error) { return readFile(name, limit) })
}

// ReadStream reads standard input or another stream of at most MaxStream bytes. It returns an error when the context
// ends.
func ReadStream(ctx context.Context, r io.Reader) ([]byte, error) {
	return waitForRead(ctx, func() ([]byte, error) { return Read(r, MaxStream, 0) })
}

// waitForRead calls a function that may block for ever. If the context ends first, the call continues in its goroutine,
// because a blocking open cannot be cancelled.
func waitForRead(ctx context.Context, read func() ([]byte, error)) ([]byte, error) {
	type result struct {
		b   []byte
		err error
	}
	done := make(chan result, 1)
	go func() {
		b, err := read()
		done <- result{b, err}
	}()
	select {
	case r := <-done:
		return r.b, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func readFile(name string, limit int64) ([]byte, error) {
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

// OpenRegular opens a regular file. It refuses a pipe or a device, and so never blocks.
func OpenRegular(name string) (*os.File, error) {
	return openRegular(func() (os.FileInfo, error) { return os.Stat(name) }, func(flags int) (*os.File, error) { return os.OpenFile(name, flags, 0) })
}

// ReadRegular reads a regular file of at most limit bytes, like OpenRegular.
func ReadRegular(name string, limit int64) ([]byte, error) {
	f, err := OpenRegular(name)
	if err != nil {
		return nil, err
	}
	return readAll(f, limit)
}

// readAll reads a file of at most limit bytes, and closes it.
func readAll(f *os.File, limit int64) ([]byte, error) {
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, withoutPath(err)
	}
	return Read(f, limit, st.Size())
}

// errIrregular is the error for a pipe, a device, a socket or a directory.
var errIrregular = errors.New("not a regular file")

// openRegular checks a file before it opens it, because opening some devices has side effects, and again afterwards.
func openRegular(stat func() (os.FileInfo, error), open func(flags int) (*os.File, error)) (*os.File, error) {
	st, err := stat()
	if err != nil {
		return nil, withoutPath(err)
	}
	if !st.Mode().IsRegular() {
		return nil, errIrregular
	}
	f, err := open(os.O_RDONLY | nonBlocking)
	if err != nil {
		return nil, withoutPath(err)
	}
	if st, err = f.Stat(); err == nil && !st.Mode().IsRegular() {
		err = errIrregular
	}
	if err != nil {
		f.Close()
		return nil, withoutPath(err)
	}
	return f, nil
}

// Read reads to the end, which must come within limit bytes. size is the expected size.
func Read(r io.Reader, limit, size int64) ([]byte, error) {
	tooLarge := fmt.Errorf("more than %d MiB", limit>>20)
	if size > limit {
		return nil, tooLarge
	}
	if err := hostmem.Check(uint64(max(size, 0))); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.Grow(int(size) + bytes.MinRead)
	n, err := b.ReadFrom(io.LimitReader(r, limit+1))
	if err == nil && n > limit {
		err = tooLarge
	}
	return b.Bytes(), err
}

// FileError is an error of the system about a file: "cannot read NAME: no such file or directory".
func FileError(verb, name string, err error) error {
	var pe *os.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return fmt.Errorf("cannot %s %s: %w", verb, name, err)
}
