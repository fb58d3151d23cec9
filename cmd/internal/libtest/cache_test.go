package libtest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestCachedBuildsOnce: of many callers with the same key, a single caller makes the file; a different key gives a
// different file.
func TestCachedBuildsOnce(t *testing.T) {
	cache := t.TempDir()
	var made atomic.Int32
	// get returns the path of the library with a key, and checks its content.
	get := func(key string) string {
		path, err := cached(cache, key, "lib", func(path string) error {
			made.Add(1)
			return os.WriteFile(path, []byte(key), 0o666)
		})
		if err != nil {
			t.Error(err)
		}
		data, err := os.ReadFile(path)
		if err != nil || string(data) != key {
			t.Errorf("the file of %s holds %q, %v", key, data, err)
		}
		return path
	}
	var wait sync.WaitGroup
	for range 20 {
		wait.Go(func() { get("a") })
	}
	wait.Wait()
	if made.Load() != 1 {
		t.Errorf("made %d times, want once", made.Load())
	}
	if get("b") == get("a") || made.Load() != 2 {
		t.Errorf("made %d times for two keys", made.Load())
	}
}

// TestCachedFailure: a library that could not be built is not in the cache, and leaves only the lock file.
func TestCachedFailure(t *testing.T) {
	cache := t.TempDir()
	failure := errors.New("no compiler")
	if _, err := cached(cache, "a", "lib", func(path string) error {
		return errors.Join(failure, os.WriteFile(path, nil, 0o666))
	}); !errors.Is(err, failure) {
		t.Errorf("the error is %v", err)
	}
	if list, err := filepath.Glob(filepath.Join(cache, "*")); err != nil || len(list) != 1 || filepath.Base(list[0]) != "lock" {
		t.Errorf("left in the cache: %q, %v", list, err)
	}
}

// TestCachedRemovesUnused: a new library replaces the libraries that were unused for a day.
func TestCachedRemovesUnused(t *testing.T) {
	cache := t.TempDir()
	write := func(path string) error { return os.WriteFile(path, nil, 0o666) }
	paths := map[string]string{}
	for _, key := range []string{"old", "used"} {
		var err error
		if paths[key], err = cached(cache, key, "lib", write); err != nil {
			t.Fatal(err)
		}
		lastUse := time.Now().Add(-2 * unusedFor)
		if err := os.Chtimes(filepath.Dir(paths[key]), lastUse, lastUse); err != nil {
			t.Fatal(err)
		}
	}
	for _, key := range []string{"used", "new"} { // "used" is used again before "new" is built
		if _, err := cached(cache, key, "lib", write); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(paths["old"]); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the unused library is still in the cache: %v", err)
	}
	if _, err := os.Stat(paths["used"]); err != nil {
		t.Error(err)
	}
}

// TestCachedIsBounded: the cache keeps the maxEntries libraries that were used last.
func TestCachedIsBounded(t *testing.T) {
	cache := t.TempDir()
	for i := range 3 * maxEntries {
		path, err := cached(cache, fmt.Sprint(i), "lib", func(path string) error { return os.WriteFile(path, nil, 0o666) })
		if err != nil {
			t.Fatal(err)
		}
		lastUse := time.Now().Add(time.Duration(i-3*maxEntries) * time.Second)
		if err := os.Chtimes(filepath.Dir(path), lastUse, lastUse); err != nil {
			t.Fatal(err)
		}
	}
	list, err := filepath.Glob(filepath.Join(cache, "*", "lib"))
	if err != nil || len(list) != maxEntries {
		t.Errorf("%d libraries are in the cache, want %d: %v", len(list), maxEntries, err)
	}
	if _, err := os.Stat(filepath.Join(cache, fmt.Sprint(3*maxEntries-1), "lib")); err != nil {
		t.Error(err)
	}
}

// TestUnwritableCache: a directory that cannot be made is reported, so that the library is built elsewhere.
func TestUnwritableCache(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if makeWritable(filepath.Join(file, "cache")) == nil {
		t.Error("no error for a directory inside a file")
	}
	if err := makeWritable(filepath.Join(t.TempDir(), "cache")); err != nil {
		t.Error(err)
	}
}

// TestSourcesOfDriver: the sources of libcuda include its own Go and C files, other packages, and embedded tables.
func TestSourcesOfDriver(t *testing.T) {
	files := sources(t, "../../libcuda", nil)
	for _, want := range []string{"cmd/libcuda/doc.go", "cmd/libcuda/shims.c", "ptx/table.go", "interp/internal/native/*_amd64.txt"} {
		pattern, err := filepath.Abs("../../../" + want)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(files, func(f string) bool { ok, _ := filepath.Match(pattern, f); return ok }) {
			t.Errorf("%s is missing in the list of sources", want)
		}
	}
}
