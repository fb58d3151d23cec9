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

// Bounds of the cache: a library that no test has asked for is removed after unusedFor, and of all libraries at most
// maxEntries are kept.
const (
	unusedFor  = 24 * time.Hour
	maxEntries = 24
)

// build returns the path of a library of a package, by its name in the cache, and builds it if it is not there. inputs are
// files, in addition to Go packages, on which the result depends. Where the cache cannot be written, each test builds the
// library in a directory of its own.
func build(t *testing.T, pkg, name string, inputs []string, flags ...string) string {
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
	if err := writable(cache); err != nil {
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

// environment returns the settings of the Go toolchain and of the C compiler that a library depends on.
func environment(t *testing.T) string {
	t.Helper()
	settings := map[string]string{}
	if err := json.Unmarshal([]byte(output(t, "go", "env", "-json")), &settings); err != nil {
		t.Fatal(err)
	}
	for _, place := range []string{"GOCACHE", "GOTMPDIR", "GOGCCFLAGS", "GOTELEMETRYDIR", "GOENV"} {
		delete(settings, place) // temporary directories, or without influence on the result
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

// sources returns the paths of all files of a package and its dependencies, without the standard library, as a build with
// the flags selects them.
func sources(t *testing.T, pkg string, flags []string) (files []string) {
	t.Helper()
	const lists = ".GoFiles .CgoFiles .CFiles .HFiles .SFiles .SysoFiles .EmbedFiles"
	var format strings.Builder
	for list := range strings.FieldsSeq(lists) {
		fmt.Fprintf(&format, `{{range %s}}{{$.Dir}}/{{.}}{{"\n"}}{{end}}`, list)
	}
	list := []string{"list", "-deps", "-f", "{{if not .Standard}}" + format.String() + "{{end}}"}
	if slices.Contains(flags, "-race") {
		list = append(list, "-race")
	}
	out := output(t, "go", append(list, pkg)...)
	for file := range strings.Lines(out) {
		if file = strings.TrimSpace(file); file != "" {
			files = append(files, file)
		}
	}
	return files
}

// cacheDirectory returns the directory that has the libraries of all test processes of this user.
func cacheDirectory() string {
	if base, err := os.UserCacheDir(); err == nil {
		return filepath.Join(base, "gemu-test-libraries")
	}
	return filepath.Join(os.TempDir(), fmt.Sprintf("gemu-test-libraries-%d", os.Getuid())) // there is no home directory
}

// writable makes a directory, for this user alone, if it is missing. It returns an error if no file can be written there.
func writable(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, "probe")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// cached returns the path of the file of a name under a key. If it is missing, make must write it at the path that it
// gets; files next to it are kept, too. Of several processes that ask at the same time, the first makes the file and the
// rest wait. A file appears whole or not at all.
func cached(cache, key, name string, make func(path string) error) (path string, err error) {
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
	defer os.RemoveAll(dir) // if it could not be made
	if err := make(filepath.Join(dir, name)); err != nil {
		return "", err
	}
	return filepath.Join(entry, name), os.Rename(dir, entry)
}

// removeUnused makes room for a library: it removes libraries that no test has asked for in the last day, the oldest of
// too many, and the rests of processes that were killed. The caller must hold the lock of the cache.
func removeUnused(cache string) error {
	files, err := os.ReadDir(cache)
	if err != nil {
		return err
	}
	var entries []os.FileInfo
	for _, file := range files {
		if info, err := file.Info(); err == nil && info.IsDir() { // the directory also has the lock and the files of writable
			entries = append(entries, info)
		}
	}
	slices.SortFunc(entries, func(a, b os.FileInfo) int { return b.ModTime().Compare(a.ModTime()) }) // the latest first
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
