package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"
)

// mode returns the permissions of a file.
func (f file) mode() os.FileMode {
	switch {
	case f.link != "":
		return 0o777
	case f.executable:
		return 0o755
	}
	return 0o644
}

// directories returns the directories of files, each after its parent.
func (files tree) directories() []string {
	found := map[string]bool{}
	for name := range files {
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			found[dir] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// write writes files below a directory. All users can read them, whatever the umask is.
func (files tree) write(dir string) error {
	if err := makeDir(dir); err != nil {
		return err
	}
	for _, below := range files.directories() {
		if err := makeDir(filepath.Join(dir, filepath.FromSlash(below))); err != nil {
			return err
		}
	}
	for below, f := range files {
		to := filepath.Join(dir, filepath.FromSlash(below))
		err := error(nil)
		if f.link != "" {
			err = os.Symlink(f.link, to)
		} else if err = os.WriteFile(to, f.data, f.mode()); err == nil {
			err = os.Chmod(to, f.mode())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// makeDir makes a directory, unless it exists, that all users can read.
func makeDir(name string) error {
	if err := os.MkdirAll(name, 0o755); err != nil {
		return err
	}
	return os.Chmod(name, 0o755)
}

// writeTar writes files as a tar archive, below a directory: "" or a path that ends with a slash.
func writeTar(to io.Writer, files tree, prefix string, date time.Time) error {
	w := tar.NewWriter(to)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		f := files[name]
		h := &tar.Header{Name: prefix + name, Mode: int64(f.mode()), Size: int64(len(f.data)), ModTime: date, Format: tar.FormatPAX}
		if f.link != "" {
			h.Typeflag, h.Linkname = tar.TypeSymlink, f.link
		}
		if err := w.WriteHeader(h); err != nil {
			return err
		}
		if _, err := w.Write(f.data); err != nil {
			return err
		}
	}
	return w.Close()
}

// tarball packs files with tar and gzip.
func tarball(files tree, date time.Time) ([]byte, error) {
	var to bytes.Buffer
	z, err := gzip.NewWriterLevel(&to, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if err := writeTar(z, files, "", date); err != nil {
		return nil, err
	}
	err = z.Close()
	return to.Bytes(), err
}

// zipped packs files with zip.
func zipped(files tree, date time.Time) ([]byte, error) {
	var to bytes.Buffer
	w := zip.NewWriter(&to)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		h := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: date}
		h.SetMode(files[name].mode())
		f, err := w.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := f.Write(files[name].data); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return to.Bytes(), err
}
