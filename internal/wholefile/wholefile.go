package wholefile

import (
	"context"
	"errors"
	"fmt"
	"gemu/internal/cleanup"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// Mode has the permissions of a new file before the umask is applied.
const Mode fs.FileMode = 0o666

// File is a file under construction. It gets its name by Commit.
type File struct {
	file          *os.File
	name          string // final name; "": it already has it
	writeErr      error  // the first error of Write
	removeCleanup func() // cancels the removal at the end of the process; nil: it has its final name
}

// Create begins a file. If it must wait for the reader of a pipe, it returns an error when the context ends.
func Create(ctx context.Context, name string) (*File, error) {
	if f := descriptor(name); f != nil {
		return &File{file: f}, nil
	}
	st, err := os.Stat(name)
	switch {
	case err == nil && st.IsDir():
		return nil, &fs.PathError{Op: "write", Path: name, Err: errors.New("it is a directory")}
	case err == nil && !st.Mode().IsRegular():
		return openInPlace(ctx, name)
	}
	if err == nil {
		old, err := os.OpenFile(name, os.O_WRONLY, 0) // replacing it would bypass its permissions
		if err != nil {
			return nil, err
		}
		old.Close()
	}
	to, failed := filepath.EvalSymlinks(name)
	if failed != nil {
		if _, link := os.Readlink(name); link == nil { // a link without a target
			return openInPlace(ctx, name)
		}
		to = name
	}
	f, failed := createTemp(to)
	if failed != nil {
		if errors.Is(failed, fs.ErrPermission) || readOnly(failed) { // a full disk must not destroy the old file
			return openInPlace(ctx, name)
		}
		return nil, &fs.PathError{Op: "write", Path: name, Err: withoutPath(failed)}
	}
	if err == nil { // as far as the system allows
		f.Chmod(st.Mode().Perm())
	}
	return &File{file: f, name: to, removeCleanup: cleanup.Add(func() { os.Remove(f.Name()) })}, nil
}

// createTemp makes a temporary file in the directory of name.
func createTemp(name string) (f *os.File, err error) {
	base := filepath.Base(name)
	for range 100 {
		f, err = os.OpenFile(filepath.Join(filepath.Dir(name), fmt.Sprintf(".%.100s.%08x", base, rand.Uint32())), os.O_WRONLY|os.O_CREATE|os.O_EXCL, Mode)
		if !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	return f, err
}

// openInPlace opens a file for writing in place.
func openInPlace(ctx context.Context, name string) (*File, error) {
	type opened struct {
		f   *os.File
		err error
	}
	done := make(chan opened, 1)
	go func() {
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, Mode)
		done <- opened{f, err}
	}()
	select {
	case o := <-done:
		if o.err != nil {
			return nil, o.err
		}
		return &File{file: o.f}, nil
	case <-ctx.Done(): // the open continues in its goroutine: it cannot be cancelled
		return nil, ctx.Err()
	}
}

// Write appends to the file. Commit returns its error, too.
func (f *File) Write(b []byte) (int, error) {
	n, err := f.file.Write(b)
	if err != nil && f.writeErr == nil {
		f.writeErr = err
	}
	return n, err
}

// Commit completes the file and gives it its name. After an error, the previous file is unchanged.
func (f *File) Commit() error {
	err := f.writeErr
	if closed := f.file.Close(); err == nil {
		err = closed
	}
	if f.name == "" {
		return err
	}
	defer f.removeCleanup()
	if err == nil {
		err = os.Rename(f.file.Name(), f.name)
	}
	if err != nil {
		os.Remove(f.file.Name())
	}
	return err
}

// Discard abandons the file: the previous file is unchanged.
func (f *File) Discard() {
	f.file.Close()
	if f.name != "" {
		os.Remove(f.file.Name())
		f.removeCleanup()
	}
}

// Write writes a complete file.
func Write(ctx context.Context, name string, data []byte) error {
	f, err := Create(ctx, name)
	if err != nil {
		return err
	}
	f.Write(data)
	return f.Commit()
}

// withoutPath returns an error of the system without the path.
func withoutPath(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}
