package input

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"gemu/internal/visible"
)

// MaxSource is the maximum size of a source file in bytes.
const MaxSource = 16 << 20

// Sources reads the source files of compiled PTX. Their names come from .file directives, which are untrusted input:
// Sources only opens regular files below the directory of the PTX or below a directory allowed by the user, after
// symbolic links are resolved. Below these, files and directories whose names begin with a dot are excluded.
type Sources struct {
	roots   []root
	files   map[string]*sourceFile
	outside []string // names of existing files that are not read, in the order of the first requests
	given   bool     // no file is read: files has all of them
}

// root is a directory that may contain sources.
type root struct {
	dir     string
	allowed bool // by the user: a file is also searched by its base name
}

// sourceFile is a file named by .file.
type sourceFile struct {
	path  string // "" if it is not read
	lines []string
	err   error
}

// NewSources returns the sources of a PTX file. For standard input ("-") and workloads ("@NAME"), the directory of the
// file is the current directory. dirs are further directories.
func NewSources(ptx string, dirs ...string) *Sources {
	s := &Sources{files: map[string]*sourceFile{}}
	for _, dir := range dirs {
		s.roots = append(s.roots, root{dir, true})
	}
	s.roots = append(s.roots, root{filepath.Dir(ptx), false})
	return s
}

// GivenSources returns sources with the given texts, by name. It reads no file.
func GivenSources(texts map[string]string) *Sources {
	s := &Sources{files: map[string]*sourceFile{}, given: true}
	for name, text := range texts {
		s.files[name] = &sourceFile{path: name, lines: linesOf(text)}
	}
	return s
}

// linesOf returns the lines of a text, with control characters made visible.
func linesOf(text string) []string {
	return strings.Split(visible.Text(strings.TrimSuffix(strings.ReplaceAll(text, "\r\n", "\n"), "\n")), "\n")
}

// CheckDirs returns an error if a directory allowed by a user does not exist or is no directory.
func CheckDirs(dirs []string) error {
	for _, dir := range dirs {
		if st, err := os.Stat(dir); err != nil {
			return fmt.Errorf("%s: %w", dir, withoutPath(err))
		} else if !st.IsDir() {
			return fmt.Errorf("%s is not a directory", dir)
		}
	}
	return nil
}

// Path returns the path of a file, or its name if it is not read.
func (s *Sources) Path(name string) string {
	if f := s.file(name); f.path != "" {
		return f.path
	}
	return name
}

// Lines returns the lines of a file, with control characters made visible; none if it is not read.
func (s *Sources) Lines(name string) []string { return s.file(name).lines }

// Text returns the contents of a file, with control characters made visible, and whether it is read.
func (s *Sources) Text(name string) (string, bool) {
	f := s.file(name)
	return strings.Join(f.lines, "\n"), f.err == nil
}

// Err returns the reason why a file is not read; nil if it is.
func (s *Sources) Err(name string) error { return s.file(name).err }

// Note returns a message about existing files that were not read, and how to read them; "" if there are none.
func (s *Sources) Note() string {
	if len(s.outside) == 0 {
		return ""
	}
	message := ""
	if n := len(s.outside) - 1; n > 0 {
		message = fmt.Sprintf(", like %d more", n)
	}
	return fmt.Sprintf("the source %s is not shown%s: %v", s.outside[0], message, s.files[s.outside[0]].err)
}

func (s *Sources) file(name string) *sourceFile {
	f := s.files[name]
	if f == nil {
		f = &sourceFile{}
		f.path, f.lines, f.err = s.read(name)
		s.files[name] = f
		if f.err != nil && !errors.Is(f.err, os.ErrNotExist) {
			s.outside = append(s.outside, name)
		}
	}
	return f
}

// errOutside is the error for a file that may be secret.
var errOutside = errors.New("it lies outside the directory of the PTX; --source DIR allows the files below a directory")

// read finds and reads a file. If there is none, the error wraps os.ErrNotExist.
func (s *Sources) read(name string) (path string, lines []string, err error) {
	err = os.ErrNotExist
	if name == "" || s.given {
		return "", nil, err
	}
	for _, path := range s.candidates(name) {
		text, failed := s.open(path)
		if failed == nil {
			return path, linesOf(string(text)), nil
		}
		if errors.Is(err, os.ErrNotExist) {
			err = failed
		}
	}
	return "", nil, err
}

// candidates lists the paths at which a file is searched.
func (s *Sources) candidates(name string) (paths []string) {
	if filepath.IsAbs(name) {
		paths = append(paths, name)
	} else {
		paths = append(paths, name) // relative to the current directory, if that is below a root
		for _, r := range s.roots {
			paths = append(paths, filepath.Join(r.dir, name))
		}
	}
	for _, r := range s.roots {
		if r.allowed {
			paths = append(paths, filepath.Join(r.dir, filepath.Base(name)))
		}
	}
	return paths
}

// open reads the file at a path if it lies below a root.
func (s *Sources) open(path string) ([]byte, error) {
	resolved, err := resolve(path)
	if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
		return nil, withoutPath(err)
	}
	err = errOutside
	for _, r := range s.roots {
		dir, failed := resolve(r.dir)
		if failed != nil || !r.allowed && dir == filepath.Dir(dir) { // a PTX file in the root directory of the system does not allow everything
			continue
		}
		rel, failed := filepath.Rel(dir, resolved)
		if failed != nil || !filepath.IsLocal(rel) {
			continue
		}
		if hidden(rel) {
			err = errors.New("a part of its name begins with a dot; --source DIR allows the files below a directory")
			continue
		}
		return openBelow(dir, rel)
	}
	return nil, err
}

// resolve returns an absolute path without symbolic links.
func resolve(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(path)
}

// hidden reports whether an element of a path begins with a dot.
func hidden(rel string) bool {
	for part := range strings.SplitSeq(filepath.ToSlash(rel), "/") {
		if strings.HasPrefix(part, ".") {
			return true
		}
	}
	return false
}

// openBelow reads a regular file below a directory. A link that is created meanwhile cannot lead out of it, and a pipe
// cannot block it.
func openBelow(dir, rel string) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, withoutPath(err)
	}
	defer root.Close()
	f, err := openRegular(func() (os.FileInfo, error) { return root.Stat(rel) }, func(flags int) (*os.File, error) { return root.OpenFile(rel, flags, 0) })
	if err != nil {
		return nil, err
	}
	return readAll(f, MaxSource)
}

// withoutPath returns an error of the system without the path, because messages name the path already.
func withoutPath(err error) error {
	var pe *os.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}
