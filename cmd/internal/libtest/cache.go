package libtest

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/lockedfile"

	"gemu/internal/part"
)

// Bounds of the cache. A new library removes others beyond them.
const (
	unusedFor  = 24 * time.Hour // time without use after which a library is removed
	maxEntries = 24             // maximum number of libraries
)

// build returns the path of the library of a package in the cache, and builds the library if it is not there. name is the
// name of the library's file; flags are arguments of go build. inputs are files on which the result depends in addition
// to the sources of Go packages. If the cache cannot be written, build makes the library in a directory of the test.
func build(t testing.TB, pkg, name string, inputs []string, flags ...string) string {
	part.SkipShort(t) // the linker takes seconds
	t.Helper()
	key := sha256.New()
	fmt.Fprintf(key, "%q %q\n%s", name, flags, environment(t))
	for _, file := range append(sources(t, pkg, flags), inputs...) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(key, "%s %d\n%s", file, len(data), data)
	}
	compile := func(path string) error {
		run(t, "go", append(append([]string{"build", "-o", path}, flags...), pkg)...)
		return nil
	}
	cache := cacheDirectory()
	if err := makeWritable(cache); err != nil {
		t.Logf("no cache of libraries: %v", err)
		path := filepath.Join(t.TempDir(), name)
		compile(path)
		return path
	}
	lib, err := cached(cache, fmt.Sprintf("%x", key.Sum(nil)), name, compile)
	if err != nil {
		t.Fatal(err)
	}
	return lib
}

// environment returns, as text, the settings of the Go toolchain and of the C compiler on which a library depends.
func environment(t testing.TB) string {
	t.Helper()
	settings := map[string]string{}
	if err := json.Unmarshal([]byte(output(t, "go", "env", "-json")), &settings); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"GOCACHE", "GOTMPDIR", "GOGCCFLAGS", "GOTELEMETRYDIR", "GOENV"} {
		delete(settings, name) // names temporary directories, or has no influence on the result
	}
	for _, name := range []string{"CPATH", "C_INCLUDE_PATH", "LIBRARY_PATH"} { // the C compiler reads them itself
		settings[name] = os.Getenv(name)
	}
	settings["version of CC"] = output(t, settings["CC"], "--version")
	text, err := json.Marshal(settings) // in the order of the keys
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// sources returns the paths of the files that a build of a package with the flags reads: those of the package and of its
// dependencies, without the standard library.
func sources(t testing.TB, pkg string, flags []string) (files []string) {
	t.Helper()
	const fields = ".GoFiles .CgoFiles .CFiles .HFiles .SFiles .SysoFiles .EmbedFiles" // of go list
	var format strings.Builder
	for field := range strings.FieldsSeq(fields) {
		fmt.Fprintf(&format, `{{range %s}}{{$.Dir}}/{{.}}{{"\n"}}{{end}}`, field)
	}
	args := []string{"list", "-deps", "-f", "{{if not .Standard}}" + format.String() + "{{end}}"}
	if slices.Contains(flags, "-race") {
		args = append(args, "-race")
	}
	out := output(t, "go", append(args, pkg)...)
	for file := range strings.Lines(out) {
		if file = strings.TrimSpace(file); file != "" {
			files = append(files, file)
		}
	}
	return files
}

// cacheDirectory returns the directory of the cache, which all test processes of this user share.
func cacheDirectory() string {
	if base, err := os.UserCacheDir(); err == nil {
		return filepath.Join(base, "gemu-test-libraries")
	}
	return filepath.Join(os.TempDir(), fmt.Sprintf("gemu-test-libraries-%d", os.Getuid())) // the user has no home directory
}

// makeWritable makes a directory that only this user can read and write, unless it exists. It returns an error if no file
// can be written there.
func makeWritable(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, "probe")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// cached returns the path of a library in the directory cache. The entry of the library is a subdirectory named key, and
// its file is name. If there is no entry, cached calls build, which must write the library to path, and may write further
// files next to it. Processes that need the same library at the same time wait for the first, which builds it. An entry
// appears only when it is complete.
func cached(cache, key, name string, build func(path string) error) (path string, err error) {
	unlock, err := lockedfile.MutexAt(filepath.Join(cache, "lock")).Lock()
	if err != nil {
		return "", err
	}
	defer unlock()
	entry := filepath.Join(cache, key)
	if _, err := os.Stat(entry); err == nil {
		now := time.Now()
		return filepath.Join(entry, name), os.Chtimes(entry, now, now)
	}
	if err := removeUnused(cache); err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp(cache, "new")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir) // without effect after the rename
	if err := build(filepath.Join(dir, name)); err != nil {
		return "", err
	}
	return filepath.Join(entry, name), os.Rename(dir, entry)
}

// removeUnused makes room for one library. It removes the entries that were not used for unusedFor, and the least recently
// used entries until fewer than maxEntries are left. Incomplete entries of killed processes count as entries. The caller
// must hold the lock of the cache.
func removeUnused(cache string) error {
	files, err := os.ReadDir(cache)
	if err != nil {
		return err
	}
	var entries []os.FileInfo
	for _, file := range files {
		if info, err := file.Info(); err == nil && info.IsDir() { // other files are the lock, and those of makeWritable
			entries = append(entries, info)
		}
	}
	slices.SortFunc(entries, func(a, b os.FileInfo) int { return b.ModTime().Compare(a.ModTime()) }) // the most recently used first
	for i, e := range entries {
		if i < maxEntries-1 && time.Since(e.ModTime()) < unusedFor {
			continue
		}
		if err := os.RemoveAll(filepath.Join(cache, e.Name())); err != nil {
			return err
		}
	}
	return nil
}
