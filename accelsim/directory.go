package accelsim

// This file manages the target directory: it removes the traces of earlier exports, and keeps all further files.

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// madeBy is the header line that identifies a trace of gemu.
const madeBy = "-nvbit version = none, by gemu"

// headerBytes is the size of the part of a trace in which the header is searched: the header is shorter, unless the
// kernel's name is very long.
const headerBytes = 1 << 16

// isOurs reports whether gemu has written a trace.
func isOurs(name string) (bool, error) {
	f, err := os.Open(name)
	if err != nil {
		return false, err
	}
	defer f.Close()
	head := make([]byte, headerBytes)
	n, err := io.ReadFull(f, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return false, err
	}
	head, _, _ = bytes.Cut(head[:n], []byte{0})
	head, _, _ = bytes.Cut(head, []byte("\n#"))
	return bytes.Contains(head, []byte("\n"+madeBy+"\n")), nil
}

// isTrace reports whether a file has the name of a trace.
func isTrace(name string) bool {
	number, ok := strings.CutPrefix(name, "kernel-")
	number, suffix, _ := strings.Cut(number, ".")
	return ok && number != "" && strings.Trim(number, "0123456789") == "" && (suffix == "traceg" || suffix == "tracez")
}

// earlier lists the traces of earlier exports in the directory. It is an error if kernelslist.g names a file that gemu
// has not written, or if a file of this kind has a name of the trace.
func (x *Exporter) earlier(names []string) (list []string, err error) {
	entries, err := os.ReadDir(x.dir)
	if err != nil {
		return nil, err
	}
	foreign := map[string]bool{}
	for _, e := range entries {
		name := e.Name()
		if !strings.HasPrefix(name, "kernel") || name == listName {
			continue
		}
		own := false
		if isTrace(name) && e.Type().IsRegular() {
			if own, err = isOurs(filepath.Join(x.dir, name)); err != nil {
				return nil, err
			}
		}
		if own {
			list = append(list, name)
		} else {
			foreign[name] = true
		}
	}
	for _, name := range names {
		if foreign[name] {
			return nil, x.checkName(name)
		}
	}
	text, err := os.ReadFile(filepath.Join(x.dir, listName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		if name := strings.TrimSpace(line); foreign[name] {
			return nil, x.checkName(listName + ", which names " + name)
		}
	}
	return list, nil
}

func (x *Exporter) checkName(name string) error {
	return fmt.Errorf("%s contains %s, which gemu did not write: choose another directory", x.dir, name)
}

// install moves the files to the directory and removes the files of earlier exports. The list is removed first and
// written last: a directory with a list has all files of the list, and no further traces of gemu.
func (x *Exporter) install(names []string) error {
	old, err := x.earlier(names)
	if err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(x.dir, listName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, name := range old {
		if slices.Contains(names, name) {
			continue
		}
		if err := os.Remove(filepath.Join(x.dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	for _, name := range append(slices.Clone(names), listName) {
		if err := os.Rename(filepath.Join(x.tempDir, name), filepath.Join(x.dir, name)); err != nil {
			return err
		}
	}
	return nil
}
