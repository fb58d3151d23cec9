//go:build unix

package wholefile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// files lists the names in a directory.
func files(t *testing.T, dir string) (list []string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := Write(t.Context(), name, []byte(text)); err != nil {
		t.Fatal(err)
	}
}

func checkContent(t *testing.T, name, want string) {
	t.Helper()
	if b, err := os.ReadFile(name); err != nil || string(b) != want {
		t.Errorf("%s has %q, %v; want %q", filepath.Base(name), b, err, want)
	}
}

func mode(t *testing.T, name string) fs.FileMode {
	st, err := os.Lstat(name)
	if err != nil {
		t.Fatal(err)
	}
	return st.Mode()
}

// TestWriteReplaces shows that a written file has the content and the permissions of a new file, or the permissions
// of the replaced file.
func TestWriteReplaces(t *testing.T) {
	dir := t.TempDir()
	a := filepath.Join(dir, "a")
	before := syscall.Umask(0o027)
	defer syscall.Umask(before)
	write(t, a, "one")
	checkContent(t, a, "one")
	if m := mode(t, a); m != 0o640 {
		t.Errorf("a new file has mode %v", m)
	}
	os.Chmod(a, 0o604)
	write(t, a, "two")
	checkContent(t, a, "two")
	if m := mode(t, a); m != 0o604 {
		t.Errorf("a replaced file has mode %v", m)
	}
	link, loose := filepath.Join(dir, "link"), filepath.Join(dir, "loose")
	if err := errors.Join(os.Symlink("a", link), os.Symlink("b", loose)); err != nil {
		t.Fatal(err)
	}
	write(t, link, "three")
	write(t, loose, "four")
	checkContent(t, a, "three")
	checkContent(t, filepath.Join(dir, "b"), "four")
	if mode(t, link)&fs.ModeSymlink == 0 || mode(t, loose)&fs.ModeSymlink == 0 {
		t.Error("a link was replaced")
	}
	write(t, filepath.Join(dir, strings.Repeat("n", 255)), "five")
	write(t, os.DevNull, "six")
	if mode(t, os.DevNull)&fs.ModeDevice == 0 {
		t.Error("the device was replaced")
	}
	if err := Write(t.Context(), dir, nil); err == nil {
		t.Error("a directory was written")
	}
	if err := Write(t.Context(), filepath.Join(dir, "none", "c"), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a directory: %v", err)
	}
	if got := files(t, dir); len(got) != 5 {
		t.Errorf("the directory has %q", got)
	}
}

// TestFailedWriteKeepsFile: a write that fails in the middle, by a limit on the size of files, and a discarded file
// leave the previous files and nothing else.
func TestFailedWriteKeepsFile(t *testing.T) {
	dir := t.TempDir()
	a := filepath.Join(dir, "a")
	write(t, a, "old")
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Skip(err)
	}
	small := limit
	small.Cur = 1 << 12
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &small); err != nil {
		t.Skip(err)
	}
	err := Write(t.Context(), a, make([]byte, 1<<20))
	syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit)
	if !errors.Is(err, syscall.EFBIG) {
		t.Errorf("the limit is not noticed: %v", err)
	}
	checkContent(t, a, "old")
	f, err := Create(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	f.Write([]byte("new"))
	f.Discard()
	checkContent(t, a, "old")
	if got := files(t, dir); len(got) != 1 {
		t.Errorf("the directory has %q", got)
	}
}

// TestWriteToPipe writes to a pipe, and gives up on a pipe without a reader.
func TestWriteToPipe(t *testing.T) {
	name := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := Write(ctx, name, []byte("x")); !errors.Is(err, context.Canceled) {
		t.Errorf("nobody reads: %v", err)
	}
	r, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // also lets the pending open end
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	write(t, name, "text")
	b := make([]byte, 4)
	if n, err := r.Read(b); string(b[:n]) != "text" {
		t.Errorf("%q, %v", b[:n], err)
	}
	if mode(t, name)&fs.ModeNamedPipe == 0 {
		t.Error("the pipe was replaced")
	}
}

// TestUnwritableDirectory writes a file in a directory in which no file can be made.
func TestUnwritableDirectory(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may make files anywhere")
	}
	dir := t.TempDir()
	a := filepath.Join(dir, "a")
	write(t, a, "old")
	os.Chmod(dir, 0o500)
	defer os.Chmod(dir, 0o700)
	write(t, a, "new")
	checkContent(t, a, "new")
}

// TestWriteToOpenFiles writes to names of open files: after earlier output, and without replacing them.
func TestWriteToOpenFiles(t *testing.T) {
	name := filepath.Join(t.TempDir(), "out")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	f.WriteString("before\n")
	write(t, fmt.Sprintf("/dev/fd/%d", f.Fd()), "one\n")
	write(t, fmt.Sprintf("/dev/fd/%d", f.Fd()), "two\n")
	f.WriteString("after\n")
	checkContent(t, name, "before\none\ntwo\nafter\n")
	for _, name := range []string{"/dev/stdout", "/dev/stderr", "/proc/self/fd/1"} {
		if f := descriptor(name); f == nil {
			t.Errorf("%s is not that of an open file", name)
		} else {
			f.Close()
		}
	}
	if err := Write(t.Context(), "/dev/fd/12345", nil); err == nil {
		t.Error("a descriptor that is not open was written")
	}
}

// TestFilesWithLinksOrPermissions: a file that the user may not write stays, a further hard link keeps the old
// contents, and a file in a directory without permission is written in place.
func TestFilesWithLinksOrPermissions(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	write(t, a, "old")
	if err := os.Link(a, b); err != nil {
		t.Skip(err)
	}
	write(t, a, "new")
	checkContent(t, a, "new")
	checkContent(t, b, "old")
	if os.Geteuid() == 0 {
		t.Skip("root may write everything")
	}
	os.Chmod(a, 0o444)
	if err := Write(t.Context(), a, []byte("x")); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("a file that is read-only is written: %v", err)
	}
	checkContent(t, a, "new")
	os.Chmod(dir, 0o500)
	defer os.Chmod(dir, 0o700)
	write(t, b, "in place")
	checkContent(t, b, "in place")
	if err := Write(t.Context(), filepath.Join(dir, "c"), nil); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("a new file: %v", err)
	}
}
