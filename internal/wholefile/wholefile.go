// Package wholefile writes files whole or not at all. A file is written under another name in the same directory, and gets its name
// when the system has taken all of it: after a write that fails, the file that was there before is as it was. The package does not
// wait for the disk: after a crash of the system a new file may be empty.
//
// A file that is replaced keeps its permissions; a new one has those of the umask. It belongs to the user of the process, and
// other hard links to the old file keep its old contents. A file that the user may not write is not replaced. A symbolic link stays,
// and the file that it leads to is replaced. Pipes, devices and other files that are not regular are written directly, and so is a
// file in a directory where none can be made. Names of open files of the process (/dev/stdout, /dev/fd/3) mean these: what is
// written comes after what the process has written there before.
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

// Mode has the permissions of a new file, from which the umask takes some.
const Mode fs.FileMode = 0o666

// File is a file that is being written. It has its name after Commit.
type File struct {
	file          *os.File
	name          string // that it is to have; "": it has it
	writeErr      error  // of a write
	removeCleanup func() // takes back that the end of the process removes it; nil: it has its name
}

// Create begins to write a file. Where a pipe waits for its reader, the end of the context is the error.
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
		old, err := os.OpenFile(name, os.O_WRONLY, 0) // a new file in its place would pass over its permissions
		if err != nil {
			return nil, err
		}
		old.Close()
	}
	to, failed := filepath.EvalSymlinks(name)
	if failed != nil {
		if _, link := os.Readlink(name); link == nil { // it leads to a file that is not there
			return openInPlace(ctx, name)
		}
		to = name
	}
	f, failed := createTemp(to)
	if failed != nil {
		if errors.Is(failed, fs.ErrPermission) || readOnly(failed) { // a full disk must not cost the old file
			return openInPlace(ctx, name)
		}
		return nil, &fs.PathError{Op: "write", Path: name, Err: withoutPath(failed)}
	}
	if err == nil { // as well as the system allows
		f.Chmod(st.Mode().Perm())
	}
	return &File{file: f, name: to, removeCleanup: cleanup.Add(func() { os.Remove(f.Name()) })}, nil
}

// createTemp makes a new file in the directory of another.
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
	case <-ctx.Done(): // the open goes on alone: the system does not let a process leave it
		return nil, ctx.Err()
	}
}

// Write writes on. An error is that of Commit, too.
func (f *File) Write(b []byte) (int, error) {
	n, err := f.file.Write(b)
	if err != nil && f.writeErr == nil {
		f.writeErr = err
	}
	return n, err
}

// Commit ends the file and gives it its name. After an error the file that was there before is as it was.
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

// Discard gives the file up: the file that was there before is as it was.
func (f *File) Discard() {
	f.file.Close()
	if f.name != "" {
		os.Remove(f.file.Name())
		f.removeCleanup()
	}
}

// Write writes a whole file.
func Write(ctx context.Context, name string, data []byte) error {
	f, err := Create(ctx, name)
	if err != nil {
		return err
	}
	f.Write(data)
	return f.Commit()
}

// withoutPath is an error of the system without a path.
func withoutPath(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}
