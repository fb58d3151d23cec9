package main

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"debug/elf"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/validate"

	"gemu/internal/part"
	"gemu/internal/version"
)

// date is the date of the tests' files.
var date = time.Date(2026, 11, 30, 8, 0, 0, 0, time.UTC)

// sample is a small release.
func sample() tree {
	return tree{
		"bin/gemu":                    {data: []byte("command"), executable: true},
		"lib/gemu/libcuda.so.1":       {data: []byte("library")},
		"lib/gemu/libcuda.so":         {link: "libcuda.so.1"},
		"share/man/man1/gemu.1":       {data: []byte(".TH GEMU 1\n")},
		"share/doc/gemu/licenses.txt": {data: []byte("licenses\n")},
	}
}

// unpack unpacks a tar archive into a new directory.
func unpack(t *testing.T, name string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	run(t, "", nil, "tar", "-x", "-f", name, "-C", dir)
	return dir
}

// run runs a program in a directory and returns its output.
func run(t *testing.T, dir string, env []string, program string, args ...string) string {
	t.Helper()
	text, err := output(t.Context(), dir, env, program, args...)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Files keep their contents, permissions and links; the same files make the same bytes.
func TestArchives(t *testing.T) {
	dir := t.TempDir()
	for name, pack := range map[string]func(tree, time.Time) ([]byte, error){"a.tar.gz": tarball, "a.zip": zipped} {
		a, err := pack(sample(), date)
		b, err2 := pack(sample(), date)
		if err != nil || err2 != nil || !bytes.Equal(a, b) {
			t.Error("the archives differ", err, err2)
		}
		if err := os.WriteFile(filepath.Join(dir, name), a, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if runtime.GOOS != "windows" {
		checkSample(t, unpack(t, filepath.Join(dir, "a.tar.gz")))
	}
	r, err := zip.OpenReader(filepath.Join(dir, "a.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	f := r.File[0]
	c, err := f.Open()
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(c); err != nil || f.Name != "bin/gemu" || f.Mode() != 0o755 || string(text) != "command" || len(r.File) != len(sample()) {
		t.Error(f.Name, f.Mode(), string(text), err)
	}
}

// checkSample checks the files of sample below a prefix.
func checkSample(t *testing.T, prefix string) {
	t.Helper()
	if i, err := os.Stat(filepath.Join(prefix, "bin", "gemu")); err != nil || i.Mode() != 0o755 {
		t.Error(i, err)
	}
	if i, err := os.Stat(filepath.Join(prefix, "lib", "gemu", "libcuda.so.1")); err != nil || i.Mode() != 0o644 || !i.ModTime().Equal(date) {
		t.Error(i, err)
	}
	if b, err := os.ReadFile(filepath.Join(prefix, "lib", "gemu", "libcuda.so")); err != nil || string(b) != "library" {
		t.Errorf("%q, %v", b, err)
	}
}

// A package of Debian has the files below /usr, a copyright file, and a compressed manual page. The same files make the same bytes.
func TestDeb(t *testing.T) {
	if _, err := exec.LookPath("dpkg-deb"); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	var packed [2][]byte
	for i := range packed {
		name := filepath.Join(dir, strconv.Itoa(i)+".deb")
		if err := writeDeb(t.Context(), name, sample(), "arm64", date); err != nil {
			t.Fatal(err)
		}
		packed[i], _ = os.ReadFile(name)
	}
	if len(packed[0]) == 0 || !bytes.Equal(packed[0], packed[1]) {
		t.Error("the packages differ")
	}
	name := filepath.Join(dir, "0.deb")
	if got, want := run(t, "", nil, "dpkg-deb", "-f", name, "Package", "Version", "Architecture"), "Package: gemu\nVersion: "+version.Number()+"\nArchitecture: arm64\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	run(t, "", nil, "dpkg-deb", "-x", name, filepath.Join(dir, "x"))
	usr := filepath.Join(dir, "x", "usr")
	checkSample(t, usr)
	if b, err := os.ReadFile(filepath.Join(usr, "share/doc/gemu/copyright")); err != nil || !strings.HasPrefix(string(b), "The owner of gemu has chosen no license") || !strings.HasSuffix(string(b), "licenses\n") {
		t.Errorf("%q, %v", b, err)
	}
	f, err := os.Open(filepath.Join(usr, "share/man/man1/gemu.1.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(z); err != nil || string(text) != ".TH GEMU 1\n" {
		t.Errorf("%q, %v", text, err)
	}
	if list := run(t, "", nil, "dpkg-deb", "-c", name); strings.Count(list, " root/root ") != strings.Count(list, "\n") {
		t.Error(list)
	}
}

// imagesOf returns the images of a layout by processor.
func imagesOf(t *testing.T, dir string) map[string]v1.Image {
	t.Helper()
	index, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(index); err != nil {
		t.Error(err)
	}
	top, err := index.IndexManifest()
	if err != nil || len(top.Manifests) != 1 || top.Manifests[0].Annotations["org.opencontainers.image.ref.name"] != "gemu:"+version.Number() {
		t.Fatal(top, err)
	}
	inner, err := index.ImageIndex(top.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	list, err := inner.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]v1.Image{}
	for _, m := range list.Manifests {
		if found[m.Platform.Architecture], err = inner.Image(m.Digest); err != nil || m.Platform.OS != "linux" {
			t.Fatal(m, err)
		}
	}
	return found
}

// unpackLayer unpacks the single layer of an image.
func unpackLayer(t *testing.T, i v1.Image) (dir string) {
	t.Helper()
	layers, err := i.Layers()
	if err != nil || len(layers) != 1 {
		t.Fatal(len(layers), err)
	}
	r, err := layers[0].Uncompressed()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	dir = t.TempDir()
	tar := exec.CommandContext(t.Context(), "tar", "-x", "-C", dir)
	tar.Stdin = r
	if text, err := tar.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return dir
}

// An image layout is valid, has an image for each processor, and the same files make the same bytes.
func TestImage(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("it unpacks links")
	}
	dir := t.TempDir()
	var packed [2][]byte
	for i := range packed {
		name := filepath.Join(dir, strconv.Itoa(i)+".tar")
		if err := writeImage(name, []image{{"amd64", sample()}, {"arm64", sample()}}, date); err != nil {
			t.Fatal(err)
		}
		packed[i], _ = os.ReadFile(name)
	}
	if len(packed[0]) == 0 || !bytes.Equal(packed[0], packed[1]) {
		t.Error("the images differ")
	}
	images := imagesOf(t, unpack(t, filepath.Join(dir, "0.tar")))
	if len(images) != 2 {
		t.Fatalf("%d images", len(images))
	}
	config, err := images["arm64"].ConfigFile()
	if err != nil || config.Architecture != "arm64" || !slices.Equal(config.Config.Entrypoint, []string{"/usr/bin/gemu"}) || !config.Created.Equal(date) {
		t.Error(config, err)
	}
	checkSample(t, filepath.Join(unpackLayer(t, images["arm64"]), "usr"))
}

func TestRefusals(t *testing.T) {
	for want, o := range map[string]*options{
		`"linux" is no host`:        {hosts: []string{"linux"}},
		`"rpm" is no kind of files`: {hosts: []string{"linux/amd64"}, kinds: []string{"archive", "rpm"}},
	} {
		o.root, o.out = "../..", t.TempDir()
		if _, err := release(t.Context(), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// glibcVersions returns the versions of glibc whose symbols a library needs.
func glibcVersions(t *testing.T, name string) (list []string) {
	t.Helper()
	f, err := elf.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.ImportedSymbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range symbols {
		if v, ok := strings.CutPrefix(s.Version, "GLIBC_"); ok {
			list = append(list, v)
		}
	}
	return list
}

// newer reports whether a version is newer than another: 2.28 is newer than 2.9.1.
func newer(a, b string) bool {
	numbers := func(s string) (list []int) {
		for part := range strings.SplitSeq(s, ".") {
			n, _ := strconv.Atoi(part)
			list = append(list, n)
		}
		return list
	}
	return slices.Compare(numbers(a), numbers(b)) > 0
}

// clone clones the commit of the repository into a directory.
func clone(t *testing.T, dir string) string {
	t.Helper()
	run(t, "", nil, "git", "clone", "--quiet", "--shared", "../..", dir)
	return dir
}

// TestRelease builds everything twice, in different directories, and runs it without Go and without the source: on this host, with
// qemu-user for the other processor (if it is installed) and with wine for Windows (if it is installed). GEMU_RELEASE names a folder
// with the files of an earlier release of all hosts and kinds, which are tried instead of new ones.
func TestRelease(t *testing.T) {
	if !part.TryAll() || runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("GEMU_TEST=all runs it on linux/amd64: it builds everything anew")
	}
	dir := t.TempDir()
	o := &options{root: clone(t, filepath.Join(dir, "one")), out: os.Getenv("GEMU_RELEASE"), hosts: strings.Split(hosts, ","), kinds: strings.Split(kinds, ","), libraries: true}
	if o.out == "" {
		buildTwice(t, dir, o)
	}
	bare := []string{"PATH=/bin", "HOME=" + dir}
	saxpy := []string{"run", "../../kernels/cuda/saxpy.ptx", "-g", "1", "-b", "8", "-a", "8", "-a", "2.0", "-a", "f32[8]=iota", "-a", "f32[8]=1", "--out", "3=-"}
	const want = "1 3 5 7 9 11 13 15"
	t.Run("this host", func(t *testing.T) {
		prefix := unpack(t, filepath.Join(o.out, "gemu-linux-amd64.tar.gz"))
		gemu := filepath.Join(prefix, "bin", "gemu")
		if text := run(t, "", bare, gemu, saxpy...); !strings.Contains(text, want) {
			t.Errorf("%q", text)
		}
		head := "" // that of an earlier release is not known
		if os.Getenv("GEMU_RELEASE") == "" {
			head = strings.TrimSpace(run(t, "..", nil, "git", "rev-parse", "HEAD")) + " of 20"
		}
		if text := run(t, "", bare, gemu, "--version"); !strings.Contains(text, "commit "+head) || strings.Contains(text, "with changes") {
			t.Errorf("%q", text)
		}
		page := filepath.Join(t.TempDir(), "page")
		run(t, filepath.Dir(page), bare, gemu, "play", "--build", page)
		for name, want := range map[string]string{
			page + "/licenses.txt":                                "\ngithub.com/alecthomas/participle/v2 v2.",
			page + "/wasm_exec.js":                                "The Go Authors",
			prefix + "/share/doc/gemu/licenses.txt":               "\ngithub.com/charmbracelet/bubbletea v1.",
			prefix + "/share/doc/gemu/CHANGELOG.md":               "# Changes",
			prefix + "/share/man/man1/gemu.1":                     ".TH GEMU 1",
			prefix + "/share/bash-completion/completions/gemu":    "complete -C 'gemu' gemu",
			prefix + "/share/fish/vendor_completions.d/gemu.fish": "'gemu'",
			prefix + "/include/gemu.h":                            "gemu_abi_version",
			prefix + "/lib/pkgconfig/gemu.pc":                     "Version: " + version.Number(),
		} {
			if b, err := os.ReadFile(name); err != nil || !strings.Contains(string(b), want) {
				t.Errorf("%s lacks %q: %v", name, want, err)
			}
		}
		b, err := os.ReadFile(prefix + "/share/doc/gemu/licenses.txt")
		if err != nil || !strings.Contains(string(b), "start files of glibc, in the shared libraries") {
			t.Error("no licenses of the libraries", err)
		}
		if text := run(t, "", bare, "python3", "../../cmd/libgemu/example/saxpy.py", prefix+"/lib/libgemu.so"); !strings.HasPrefix(text, "y[99] = 199\n") {
			t.Errorf("%q", text)
		}
		run(t, "", bare, prefix+"/lib/gemu/ptxas", "-arch=sm_80", "../../kernels/cuda/saxpy.ptx", "-o", filepath.Join(t.TempDir(), "a.cubin"))
	})
	t.Run("glibc", func(t *testing.T) {
		for _, processor := range []string{"amd64", "arm64"} {
			prefix := unpack(t, filepath.Join(o.out, "gemu-linux-"+processor+".tar.gz"))
			libraries, _ := filepath.Glob(prefix + "/lib/gemu/lib*.so*")
			if libraries = append(libraries, prefix+"/lib/libgemu.so"); len(libraries) < 7 {
				t.Fatal(libraries)
			}
			for _, library := range libraries {
				for _, v := range glibcVersions(t, library) {
					if newer(v, glibc) {
						t.Errorf("%s %s needs glibc %s", processor, filepath.Base(library), v)
					}
				}
			}
		}
	})
	t.Run("wheel", func(t *testing.T) {
		wheel := filepath.Join(o.out, "gemu-"+version.Number()+"-py3-none-"+platforms["linux/amd64"]+".whl")
		venv := t.TempDir()
		run(t, "", nil, "python3", "-m", "venv", venv)
		run(t, "", nil, venv+"/bin/pip", "install", "--quiet", wheel)
		env := []string{"PATH=" + venv + "/bin", "HOME=" + dir, "GEMU_LIBRARY=", "PYTHONPATH="}
		if text := run(t, "", env, venv+"/bin/gemu", saxpy...); !strings.Contains(text, want) {
			t.Errorf("%q", text)
		}
		if text := run(t, "", env, venv+"/bin/python", "testdata/saxpy.py", "../../kernels/cuda/saxpy.ptx"); text != "[1. 3. 5. 7.]\n" {
			t.Errorf("%q", text)
		}
		if text := run(t, "", env, venv+"/bin/gemu", "exec", "--environment"); !strings.HasPrefix(text, "LD_LIBRARY_PATH="+venv+"/lib/gemu") {
			t.Errorf("%q", text)
		}
		text := run(t, "", nil, "python3", "-m", "auditwheel", "show", wheel)
		if text = strings.Join(strings.Fields(text), " "); !strings.Contains(text, `following platform tag: "manylinux_2_17_x86_64"`) {
			t.Error(text)
		}
	})
	t.Run("deb", func(t *testing.T) {
		root := t.TempDir()
		run(t, "", nil, "dpkg-deb", "-x", filepath.Join(o.out, "gemu_"+version.Number()+"_amd64.deb"), root)
		if text := run(t, "", bare, root+"/usr/bin/gemu", saxpy...); !strings.Contains(text, want) {
			t.Errorf("%q", text)
		}
	})
	t.Run("deb in a new root", func(t *testing.T) {
		installDeb(t, filepath.Join(o.out, "gemu_"+version.Number()+"_amd64.deb"), saxpy, want)
	})
	t.Run("image", func(t *testing.T) {
		if os.Getuid() != 0 {
			t.Skip("chroot is for root")
		}
		images := imagesOf(t, unpack(t, filepath.Join(o.out, "gemu-"+version.Number()+"-oci.tar")))
		root := unpackLayer(t, images["amd64"])
		ptx, err := os.ReadFile("../../kernels/cuda/saxpy.ptx")
		if err == nil {
			err = os.WriteFile(root+"/saxpy.ptx", ptx, 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
		in := slices.Clone(saxpy)
		in[1] = "/saxpy.ptx"
		if text := run(t, "", bare, "/usr/sbin/chroot", append([]string{root, "/usr/bin/gemu"}, in...)...); !strings.Contains(text, want) {
			t.Errorf("%q", text)
		}
	})
	zig, err := findZig(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	compile := func(t *testing.T, host string, args ...string) {
		t.Helper()
		words := append(strings.Fields(zig.command), "cc", "-target", targets[host], "../../cmd/libgemu/example/saxpy.c")
		run(t, "", nil, words[0], append(words[1:], args...)...)
	}
	t.Run("arm64", func(t *testing.T) {
		qemu, err := exec.LookPath("qemu-aarch64")
		if err != nil {
			t.Skip(err)
		}
		prefix := unpack(t, filepath.Join(o.out, "gemu-linux-arm64.tar.gz"))
		if text := run(t, "", nil, qemu, append([]string{prefix + "/bin/gemu"}, saxpy...)...); !strings.Contains(text, want) {
			t.Errorf("%q", text)
		}
		if _, err := os.Stat("/usr/aarch64-linux-gnu/lib"); err != nil {
			t.Skip("the library is not tried: apt-get install libc6-arm64-cross")
		}
		compile(t, "linux/arm64", "-I", prefix+"/include", "-L", prefix+"/lib", "-lgemu", "-Wl,-rpath,"+prefix+"/lib", "-o", prefix+"/saxpy")
		if text := run(t, "", nil, qemu, "-L", "/usr/aarch64-linux-gnu", prefix+"/saxpy"); !strings.HasPrefix(text, "y[99] = 199\n") {
			t.Errorf("%q", text)
		}
	})
	t.Run("windows", func(t *testing.T) {
		windows(t, o.out, zig, compile, saxpy, want)
	})
}

// buildTwice builds a release, and compares it with one that is built in another directory with empty caches.
func buildTwice(t *testing.T, dir string, o *options) {
	o.out = filepath.Join(dir, "out")
	names, err := release(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		t.Log(filepath.Base(name))
	}
	t.Run("again", func(t *testing.T) {
		again := *o
		again.root, again.out = clone(t, filepath.Join(dir, "other", "place")), filepath.Join(dir, "out2")
		t.Setenv("GOCACHE", filepath.Join(dir, "gocache"))
		t.Setenv("ZIG_GLOBAL_CACHE_DIR", filepath.Join(dir, "zigcache"))
		others, err := release(t.Context(), &again)
		if err != nil || len(others) != len(names) {
			t.Fatal(others, err)
		}
		for i, name := range names {
			a, _ := os.ReadFile(name)
			if b, err := os.ReadFile(others[i]); err != nil || !bytes.Equal(a, b) {
				t.Errorf("%s is different in another directory, %v", filepath.Base(name), err)
			}
		}
	})
}

// installDeb installs a package in a new root of Debian, runs its command and a program that links its library, and removes it.
func installDeb(t *testing.T, deb string, saxpy []string, want string) {
	if _, err := exec.LookPath("mmdebstrap"); err != nil || os.Getuid() != 0 {
		t.Skip("it needs mmdebstrap, and root", err)
	}
	root := filepath.Join(t.TempDir(), "root")
	name := strings.TrimSpace(run(t, "", nil, "sh", "-c", ". /etc/os-release; echo $VERSION_CODENAME"))
	args := []string{"--quiet", "--variant=minbase", "--include=gcc,libc6-dev,pkg-config", name, root}
	// This machine's lists of packages, if it has its own.
	for _, pattern := range []string{"/etc/apt/sources.list", "/etc/apt/sources.list.d/*.sources"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		args = append(args, names...)
	}
	run(t, "", nil, "mmdebstrap", args...)
	for inside, outside := range map[string]string{"gemu.deb": deb, "saxpy.ptx": "../../kernels/cuda/saxpy.ptx", "saxpy.c": "../../cmd/libgemu/example/saxpy.c"} {
		data, err := os.ReadFile(outside)
		if err == nil {
			err = os.WriteFile(filepath.Join(root, inside), data, 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	in := func(args ...string) string {
		env := []string{"PATH=/usr/bin:/bin:/usr/sbin:/sbin", "HOME=/root", "DEBIAN_FRONTEND=noninteractive"}
		return run(t, "", env, "unshare", append([]string{"--mount", "--pid", "--fork", "--mount-proc", "--root=" + root}, args...)...) // with /proc of its own
	}
	in("apt-get", "install", "-y", "/gemu.deb")
	words := slices.Clone(saxpy)
	words[1] = "/saxpy.ptx"
	if text := in(append([]string{"gemu"}, words...)...); !strings.Contains(text, want) {
		t.Errorf("%q", text)
	}
	if text := in("gemu", "exec", "--environment"); !strings.HasPrefix(text, "LD_LIBRARY_PATH=/usr/lib/gemu\n") {
		t.Errorf("%q", text)
	}
	if text := in("sh", "-c", "gcc saxpy.c $(pkg-config --cflags --libs gemu) -o saxpy && ./saxpy"); !strings.HasPrefix(text, "y[99] = 199\n") {
		t.Errorf("%q", text)
	}
	in("apt-get", "remove", "-y", "gemu")
	for _, name := range []string{"usr/bin/gemu", "usr/lib/gemu", "usr/include/gemu.h", "usr/share/doc/gemu"} {
		if exists(filepath.Join(root, name)) {
			t.Errorf("%s is still there", name)
		}
	}
}

// windows runs the command and the library of Windows with wine, from the archive, and from the wheel with a Python of Windows.
func windows(t *testing.T, out string, zig *zigCompiler, compile func(*testing.T, string, ...string), saxpy []string, want string) {
	wine, err := exec.LookPath("wine64")
	if err != nil {
		if wine = "/usr/lib/wine/wine64"; !exists(wine) { // Debian's place
			t.Skip("there is no wine64")
		}
	}
	prefix := t.TempDir()
	run(t, "", nil, "python3", "-m", "zipfile", "-e", filepath.Join(out, "gemu-windows-amd64.zip"), prefix)
	env := []string{"WINEPREFIX=" + filepath.Join(prefix, "wine"), "WINEDEBUG=-all"}
	run(t, "", env, wine, "cmd", "/c", "exit")
	// Go's runtime needs a function of Windows 10 which wine has only since version 9.
	const random = `#include <stddef.h>
unsigned char __stdcall SystemFunction036(void *, unsigned long);
__declspec(dllexport) int ProcessPrng(unsigned char *p, size_t n) { return SystemFunction036(p, n); }
`
	system := filepath.Join(prefix, "wine/drive_c/windows/system32/bcryptprimitives.dll")
	if !exists(system) {
		c := filepath.Join(prefix, "random.c")
		if err := os.WriteFile(c, []byte(random), 0o666); err != nil {
			t.Fatal(err)
		}
		words := append(strings.Fields(zig.command), "cc", "-target", targets["windows/amd64"], "-shared", "-O2", c, "-ladvapi32", "-o", system)
		run(t, "", nil, words[0], words[1:]...)
	}
	// In wine, Python starts only if its standard streams are pipes. Now and then, wine 8 does not end a process with gemu.dll although
	// main has returned. Therefore the output counts, not the status.
	const piped = `wine=$1; shift; echo | timeout --kill-after=10 "$limit" "$wine" "$@" 2>&1 | cat`
	inWine := func(limit string, args ...string) string {
		return run(t, "", append(env, "limit="+limit), "bash", append([]string{"-c", piped, "bash", wine}, args...)...)
	}
	if text := run(t, "", env, wine, append([]string{prefix + "/bin/gemu.exe"}, saxpy...)...); !strings.Contains(text, want) {
		t.Errorf("%q", text)
	}
	compile(t, "windows/amd64", "-I", prefix+"/include", prefix+"/bin/gemu.dll", "-o", prefix+"/bin/saxpy.exe")
	if text := inWine("120", prefix+"/bin/saxpy.exe"); !strings.HasPrefix(text, "y[99] = 199") {
		t.Errorf("%q", text)
	}
	python := os.Getenv("GEMU_WINDOWS_PYTHON")
	if python == "" {
		t.Skip("the wheel is not tried: GEMU_WINDOWS_PYTHON names no folder that windows_python.sh has filled")
	}
	// The wheel changes the folder, which may be used again.
	run(t, "", nil, "cp", "-r", python, prefix+"/python")
	program := prefix + "/python/python.exe"
	wheel := filepath.Join(out, "gemu-"+version.Number()+"-py3-none-win_amd64.whl")
	if text := inWine("1800", program, "-m", "pip", "install", "--no-index", "--no-warn-script-location", wheel); !strings.Contains(text, "Successfully installed gemu") {
		t.Fatal(text)
	}
	if text := inWine("300", program, "testdata/saxpy.py", "../../kernels/cuda/saxpy.ptx"); strings.TrimSpace(text) != "[1. 3. 5. 7.]" {
		t.Errorf("%q", text)
	}
	if text := run(t, "", env, wine, append([]string{prefix + "/python/Scripts/gemu.exe"}, saxpy...)...); !strings.Contains(text, want) {
		t.Errorf("%q", text)
	}
}

// exists reports whether a file exists.
func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// TestCopyPackage: the copied package has the files of git, without tests, and no links: they would lead out of the package.
func TestCopyPackage(t *testing.T) {
	to := t.TempDir()
	if err := copyPackage(t.Context(), "../../python", to); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("../../record/readers/gemu_recording.py")
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(to, "src/gemu/recording.py")
	got, err := os.ReadFile(name)
	if info, statErr := os.Lstat(name); err != nil || statErr != nil || !info.Mode().IsRegular() || !bytes.Equal(got, want) {
		t.Errorf("%s is not a copy of the reader of recordings: %v", name, err)
	}
	if _, err := os.Stat(filepath.Join(to, "tests")); err == nil {
		t.Error("the tests are copied")
	}
}
