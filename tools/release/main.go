// Command release makes what users install: for each host an archive with the command, the engine of the page, the manual page,
// completions, the licenses of all parts and, for Linux and Windows, the shared libraries, and the same as a wheel for pip; for
// Linux also packages of Debian and an OCI image.
//
//	go run -C tools ./release -o /tmp/release [-hosts linux/amd64,darwin/arm64] [-kinds archive,wheel,deb,image] [-libraries=false]
//
// The same commit, version of Go and version of zig make the same bytes, in any directory.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"gemu/internal/version"
	"gemu/play/site"
)

// hosts are the hosts of a release. Machine code runs on Linux; on the others, the portable engine.
const hosts = "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64,windows/amd64,windows/arm64"

// kinds are the kinds of files that release makes.
const kinds = "archive,wheel,deb,image"

func main() {
	out := flag.String("o", "", "the directory of the files; it is made if necessary")
	list := flag.String("hosts", hosts, "the systems and processors, as SYSTEM/PROCESSOR, separated by commas")
	kind := flag.String("kinds", kinds, "the kinds of files, separated by commas; a deb and an image are for Linux")
	libraries := flag.Bool("libraries", true, "build the shared libraries with zig's C compiler")
	flag.Parse()
	if *out == "" || flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "release: -o DIR is missing, or there are other arguments")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	names, err := release(ctx, &options{root: "..", out: *out, hosts: strings.Split(*list, ","), kinds: strings.Split(*kind, ","), libraries: *libraries})
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
	for _, name := range names {
		fmt.Println(name)
	}
}

// options are the options of a release.
type options struct {
	root      string   // the root of gemu's source
	out       string   // the directory of the files
	hosts     []string // SYSTEM/PROCESSOR
	kinds     []string // of kinds
	libraries bool     // the shared libraries are part of it
}

// builder has the parts that all hosts have in common.
type builder struct {
	root    string
	program string       // the command of Go
	zig     *zigCompiler // nil: no libraries
	engine  *site.Engine
	common  tree      // manual page, completions, list of changes
	date    time.Time // the date of all files
}

// release makes the files of a release, and returns their names.
func release(ctx context.Context, o *options) (names []string, err error) {
	for _, host := range o.hosts {
		if system, processor, ok := strings.Cut(host, "/"); !ok || system == "" || processor == "" {
			return nil, fmt.Errorf("%q is no host: want SYSTEM/PROCESSOR, such as linux/amd64", host)
		}
	}
	for _, kind := range o.kinds {
		if !slices.Contains(strings.Split(kinds, ","), kind) {
			return nil, fmt.Errorf("%q is no kind of files: want some of %s", kind, kinds)
		}
	}
	if err := os.MkdirAll(o.out, 0o777); err != nil {
		return nil, err
	}
	b, err := newBuilder(ctx, o)
	if err != nil {
		return nil, err
	}
	var images []image
	for _, host := range o.hosts {
		system, processor, _ := strings.Cut(host, "/")
		files, err := b.files(ctx, system, processor)
		if err != nil {
			return names, fmt.Errorf("%s: %w", host, err)
		}
		if slices.Contains(o.kinds, "archive") {
			name, pack := fmt.Sprintf("gemu-%s-%s.tar.gz", system, processor), tarball
			if system == "windows" {
				name, pack = fmt.Sprintf("gemu-%s-%s.zip", system, processor), zipped
			}
			data, err := pack(files, b.date)
			if err != nil {
				return names, err
			}
			name = filepath.Join(o.out, name)
			if err := os.WriteFile(name, data, 0o666); err != nil {
				return names, err
			}
			names = append(names, name)
		}
		if slices.Contains(o.kinds, "wheel") {
			name, err := writeWheel(ctx, o.root, o.out, host, files, b.date)
			if err != nil {
				return names, err
			}
			names = append(names, name)
		}
		if system != "linux" {
			continue
		}
		if slices.Contains(o.kinds, "deb") {
			name := filepath.Join(o.out, fmt.Sprintf("gemu_%s_%s.deb", version.Number(), processor))
			if err := writeDeb(ctx, name, files, processor, b.date); err != nil {
				return names, err
			}
			names = append(names, name)
		}
		images = append(images, image{processor, files})
	}
	if slices.Contains(o.kinds, "image") && len(images) > 0 {
		name := filepath.Join(o.out, fmt.Sprintf("gemu-%s-oci.tar", version.Number()))
		if err := writeImage(name, images, b.date); err != nil {
			return names, err
		}
		names = append(names, name)
	}
	return names, nil
}

// newBuilder makes the parts that all hosts have in common.
func newBuilder(ctx context.Context, o *options) (b *builder, err error) {
	b = &builder{root: o.root}
	if b.program, err = exec.LookPath("go"); err != nil {
		return nil, err
	}
	if o.libraries {
		if b.zig, err = findZig(ctx); err != nil {
			return nil, err
		}
	}
	if b.date, err = commitDate(ctx, o.root); err != nil {
		return nil, err
	}
	if b.engine, err = site.BuildEngine(ctx, b.program, filepath.Join(o.root, "play", "wasm")); err != nil {
		return nil, err
	}
	b.common, err = b.accompanying(ctx)
	return b, err
}

// commitDate returns the date of the commit in a directory, or a fixed date if it is no clone: the same commit makes the same files.
func commitDate(ctx context.Context, dir string) (time.Time, error) {
	fixed := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	if _, err := os.Stat(filepath.Join(dir, ".git")); err != nil {
		return fixed, nil
	}
	text, err := output(ctx, dir, nil, "git", "show", "-s", "--format=%ct", "HEAD")
	if err != nil {
		return fixed, err
	}
	seconds, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return time.Unix(seconds, 0).UTC(), err
}

// output runs a program in a directory, with additional variables of the environment, and returns its output. The error has its messages.
func output(ctx context.Context, dir string, env []string, program string, args ...string) ([]byte, error) {
	var messages strings.Builder
	run := exec.CommandContext(ctx, program, args...)
	run.Dir, run.Stderr, run.Env = dir, &messages, append(os.Environ(), env...)
	text, err := run.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s%s", strings.Join(run.Args, " "), err, text, messages.String())
	}
	return text, nil
}
