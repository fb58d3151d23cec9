// Command release makes the archives of a release: the command gemu for each host, with the engine in WebAssembly, which gemu play
// finds next to the command, and the licenses of all parts. It builds with Go alone, on any host. The same source and version of Go
// make the same bytes.
//
//	go run -C tools ./release -o /tmp/release [-hosts linux/amd64,darwin/arm64]
package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gemu/play/site"
)

// hosts are the hosts of a release. Machine code runs on Linux; on the others, the portable engine.
const hosts = "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64,windows/amd64,windows/arm64"

func main() {
	out := flag.String("o", "", "the directory of the archives; it is made if necessary")
	list := flag.String("hosts", hosts, "the systems and processors, as SYSTEM/PROCESSOR, separated by commas")
	flag.Parse()
	if *out == "" || flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "release: -o DIR is missing, or there are other arguments")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	names, err := release(ctx, "..", *out, strings.Split(*list, ","))
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
	for _, name := range names {
		fmt.Println(name)
	}
}

// release writes the archives of hosts to a directory, and returns their names. root is the root of gemu's source.
func release(ctx context.Context, root, out string, hosts []string) (names []string, err error) {
	for _, host := range hosts {
		if system, processor, ok := strings.Cut(host, "/"); !ok || system == "" || processor == "" {
			return nil, fmt.Errorf("%q is no host: want SYSTEM/PROCESSOR, such as linux/amd64", host)
		}
	}
	if err := os.MkdirAll(out, 0o777); err != nil {
		return nil, err
	}
	program, err := exec.LookPath("go")
	if err != nil {
		return nil, err
	}
	engine, err := site.BuildEngine(ctx, program, filepath.Join(root, "play", "wasm"))
	if err != nil {
		return nil, err
	}
	for _, host := range hosts {
		system, processor, _ := strings.Cut(host, "/")
		files, err := filesOf(ctx, program, root, system, processor)
		if err != nil {
			return names, err
		}
		maps.Copy(files, engine.Files())
		name := filepath.Join(out, fmt.Sprintf("gemu-%s-%s", system, processor))
		pack := tarball
		if name += ".tar.gz"; system == "windows" {
			name, pack = strings.TrimSuffix(name, ".tar.gz")+".zip", zipped
		}
		b, err := pack(files)
		if err != nil {
			return names, err
		}
		if err := os.WriteFile(name, b, 0o666); err != nil {
			return names, err
		}
		names = append(names, name)
	}
	return names, nil
}

// filesOf returns the files of a host by name: the command, and the licenses of its parts.
func filesOf(ctx context.Context, program, root, system, processor string) (map[string][]byte, error) {
	dir, err := os.MkdirTemp("", "gemu-release-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	command := "gemu"
	if system == "windows" {
		command += ".exe"
	}
	build := exec.CommandContext(ctx, program, "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "-o", filepath.Join(dir, command), "./cmd/gemu")
	build.Dir = root
	build.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+processor, "CGO_ENABLED=0")
	if text, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%s/%s: %s: %w\n%s", system, processor, strings.Join(build.Args, " "), err, text)
	}
	b, err := os.ReadFile(filepath.Join(dir, command))
	if err != nil {
		return nil, err
	}
	texts, err := site.Licenses(ctx, program, filepath.Join(root, "cmd", "gemu"), system, processor)
	if err != nil {
		return nil, err
	}
	return map[string][]byte{command: b, command + ".licenses.txt": texts}, nil
}

// date is the date of all files in archives, so that the same files make the same archive.
var date = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// modeOf returns the permissions of a file.
func modeOf(name string) os.FileMode {
	if strings.HasPrefix(name, "gemu") && (filepath.Ext(name) == "" || filepath.Ext(name) == ".exe") {
		return 0o755
	}
	return 0o644
}

// tarball packs files with tar and gzip.
func tarball(files map[string][]byte) ([]byte, error) {
	var to bytes.Buffer
	z, err := gzip.NewWriterLevel(&to, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	w := tar.NewWriter(z)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: int64(modeOf(name)), Size: int64(len(files[name])), ModTime: date}); err != nil {
			return nil, err
		}
		if _, err := w.Write(files[name]); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	err = z.Close()
	return to.Bytes(), err
}

// zipped packs files with zip.
func zipped(files map[string][]byte) ([]byte, error) {
	var to bytes.Buffer
	w := zip.NewWriter(&to)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		h := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: date}
		h.SetMode(modeOf(name))
		f, err := w.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := f.Write(files[name]); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return to.Bytes(), err
}
