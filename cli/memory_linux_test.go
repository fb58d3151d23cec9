package cli

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"gemu/internal/part"
)

// limited runs gemu as a process with a limit of kib KiB of addresses.
func limited(kib int, args ...string) (messages string, status int) {
	script := fmt.Sprintf(`ulimit -v %d && exec gemu "$@"`, kib)
	cmd := exec.Command("sh", append([]string{"-c", script, "gemu"}, args...)...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.Env = append(os.Environ(), "GOMEMLIMIT=", "GOGC=")
	cmd.Run()
	return out.String(), cmd.ProcessState.ExitCode()
}

// addresses is the limit in KiB: Go takes more than 1 GiB of addresses for itself.
const addresses = 3000000

const emptyKernel = ".visible .entry k() { ret; }\n"

// TestOutOfMemory runs commands that need more memory than the limit. Each must end with a message that names the
// memory, and never with Go's trace.
func TestOutOfMemory(t *testing.T) {
	part.SkipShort(t)
	dir := t.TempDir()
	write := func(name, text string) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	kernel := func(name, text string) string {
		return write(name, ".version 7.0\n.target sm_80\n.address_size 64\n"+text)
	}
	sparse := write("sparse.bin", "")
	if err := os.Truncate(sparse, 15<<30); err != nil {
		t.Skip(err)
	}
	saxpy := []string{"run", "../kernels/cuda/saxpy.ptx", "-g", "1", "-b", "1", "-a", "1", "1", "f32[1]"}
	launch := []string{"-g", "1", "-b", "32"}
	global := kernel("global.ptx", ".global .align 8 .b8 a[16000000000];\n"+emptyKernel)
	large := kernel("wide.ptx", wide)
	deep := kernel("deep.ptx", recursion)
	for _, c := range []struct {
		args   []string
		want   string // part of the message
		status int
	}{
		{[]string{"check", global}, "note: " + global + ":4:22: variable a of 16000000000 bytes: out of device memory", 0},
		{append([]string{"run", global}, launch...), global + ":4:22: variable a of 16000000000 bytes: out of device memory: the host has no more memory: 16000000000 bytes requested", 2},
		{append([]string{"run", global, "--device-memory", "4G"}, launch...), "variable a of 16000000000 bytes: out of device memory: 16000000000 bytes requested, 0 of 4294967296 are in use", 2},
		{append([]string{"run", global, "--device-memory", "4G"}, launch...), "--device-memory raises the limit", 2},
		{append([]string{"debug", global, "-x", os.DevNull}, launch...), "variable a of 16000000000 bytes", 2},
		{[]string{"dump", "--stage=lowered", global}, "variable a of 16000000000 bytes", 2},
		{append([]string{"run", kernel("const.ptx", ".const .b8 a[4000000000];\n"+emptyKernel)}, launch...), "variable a of 4000000000 bytes", 2},
		{[]string{"check", kernel("param.ptx", ".visible .entry k(.param .b8 p[4000000000]) { ret; }\n")}, ":4:30: parameter p of 4000000000 bytes: the parameters of a kernel have at most 32764 bytes", 0},
		{append([]string{"run", kernel("local.ptx", ".visible .entry k() { .local .b8 a[4000000000]; ret; }\n")}, launch...), "its variables take 4000000016 bytes of each thread's local memory", 2},
		{append([]string{"run", kernel("shared.ptx", ".visible .entry k() { .shared .b8 a[4000000000]; ret; }\n")}, launch...), "4000000000 bytes of shared memory", 2},
		{[]string{"check", kernel("names.ptx", ".visible .entry k() { .reg .b32 %r<4000000000>; ret; }\n")}, "a range <N>", 2},
		{[]string{"check", kernel("dims.ptx", ".global .b32 a[4000000000][4000000000][4000000000];\n"+emptyKernel)}, "a: bad array size", 2},
		{[]string{"run", large, "-g", "1", "-b", "1024"}, "kernel k: a CTA of 1024 threads takes", 2},
		{[]string{"run", deep, "-g", "64", "-b", "1024", "--memory", "64G", "--engine", "portable", "--mode", "vector"}, "the host has no more memory: the process has", 2},
		{append(saxpy, "f32[1000000000000]"), "argument 3 (.u64 saxpy_param_3) \"f32[1000000000000]\": out of device memory: 4000000000000 bytes requested, 4 of 17179869184 are in use", 2},
		{append(saxpy, "f32[1000000x1000000x1000000x1000000]"), "too large", 2},
		{append(saxpy, "u8[4000000000]"), "the host has no more memory: 4000000000 bytes requested", 2},
		{append(saxpy, "@"+sparse), "the host has no more memory: 16106127360 bytes requested", 2},
		{append(saxpy, "tex.3d(f32x4[100000x100000x100000])"), "the image is too large", 2},
		{append(saxpy, "tex.2d(f32x4[10000x10000])"), "the host has no more memory", 2},
		{append(saxpy, "@"+write("huge.npy", npyText("{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000,), }"))), "shape (1000000000000,)", 2},
		{append(saxpy, "@"+write("bomb.png", blankPNG(t, 11000, 12000))), "the host has no more memory", 2},
		{append(saxpy, "f32[1]", "--expect", "3=f32[1000000000000]"), "--expect 3=f32[1000000000000]: the host has no more memory", 2},
		{[]string{"run", "@saxpy", "--size", "4000000000"}, "is too large", 2},
	} {
		kib := addresses
		if slices.Contains(c.args, large) {
			kib = 2200000 // a CTA fits into a larger limit
		}
		messages, status := limited(kib, c.args...)
		if !strings.Contains(messages, c.want) || status != c.status || strings.Contains(messages, "goroutine") || strings.Contains(messages, "runtime:") {
			t.Errorf("%q: status %d, want %d with %q:\n%.600s", c.args, status, c.status, c.want, messages)
		}
	}
}

// TestFewAddresses: where ulimit -v leaves less than Go maps for itself, each command ends with a message and status 2.
// Below about 1.7 GB Go's runtime may fail before any code of the program runs: it places its heap at random.
func TestFewAddresses(t *testing.T) {
	for _, kib := range []int{1800000, 2000000} {
		for _, args := range [][]string{{"check", "../kernels/cuda/saxpy.ptx"}, {"run", "@saxpy"}, {"run", "@saxpy", "--sanitize", "all"}, {"help"}} {
			for range 3 {
				messages, status := limited(kib, args...)
				if want := fmt.Sprintf("gemu: ulimit -v allows %d bytes of addresses, and gemu needs 2147483648", kib<<10); status != 2 || !strings.HasPrefix(messages, want) || strings.Count(messages, "\n") != 1 {
					t.Errorf("ulimit -v %d, %q: status %d:\n%.600s", kib, args, status, messages)
				}
			}
		}
	}
}

// TestUntouchedMemoryIsFree runs a kernel with a variable of 16 GB, whose two ends it changes, in every mode: the
// process may take no more memory than for a small variable.
func TestUntouchedMemoryIsFree(t *testing.T) {
	part.SkipShort(t)
	const size = 16000000000
	file := filepath.Join(t.TempDir(), "k.ptx")
	text := fmt.Sprintf(`.version 7.0
.target sm_80
.address_size 64
.global .align 8 .b8 a[%d] = {1, 2, 3};
.visible .entry k(.param .u64 out)
{
	.reg .b64 %%rd<4>;
	.reg .b32 %%r<3>;
	ld.param.u64 %%rd2, [out];
	mov.u64 %%rd1, a;
	ld.global.u32 %%r1, [%%rd1];
	add.u64 %%rd3, %%rd1, %d;
	st.global.u32 [%%rd3], %%r1;
	ld.global.u32 %%r2, [%%rd3];
	st.global.u32 [%%rd2], %%r2;
	ret;
}
`, size, size-8)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	commands := filepath.Join(filepath.Dir(file), "commands")
	if err := os.WriteFile(commands, []byte("step\nstep\ncontinue\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"run", "--sanitize", "all"}, {"profile"}, {"debug", "-x", commands}, {"run", "--mode", "affine"}, {"run", "--mode", "vector"}, {"run"}, {"run", "--engine", "portable"}, {"run", "--sanitize", "init"}}[:part.Count(2, 3, 8)] {
		args = append(args, file, "-g", "1", "-b", "1", "-a", "u32[1]")
		if args[0] == "run" {
			args = append(args, "--expect", "0=u32[1]=0x30201")
		}
		cmd := exec.Command("gemu", args...)
		messages, err := cmd.CombinedOutput()
		if strings.Contains(string(messages), "no more memory") && !overcommits() {
			t.Skipf("%s", messages)
		}
		if err != nil {
			t.Fatalf("%q: %v\n%s", args, err, messages)
		}
		if kib := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss; kib > 512<<10 {
			t.Errorf("%q takes %d KiB", args, kib)
		}
	}
}

// overcommits reports whether the host lets a process reserve more memory than it has (proc_sys_vm(5), setrlimit(2)).
func overcommits() bool {
	var addresses syscall.Rlimit
	mode, err := os.ReadFile("/proc/sys/vm/overcommit_memory")
	return err == nil && strings.TrimSpace(string(mode)) != "2" &&
		syscall.Getrlimit(syscall.RLIMIT_AS, &addresses) == nil && addresses.Cur >= 1<<62 // RLIM_INFINITY is above
}

// wide has 500000 bytes of local memory for each thread.
const wide = `.visible .entry k()
{
	.local .align 8 .b8 big[500000];
	.reg .b32 %r<2>;
	mov.u32 %r1, %tid.x;
	st.local.u32 [big], %r1;
	ret;
}
`

// recursion calls itself with a frame of 4 KiB, a hundred times deep.
const recursion = `.func f(.param .u32 n)
{
	.local .align 8 .b8 big[4096];
	.reg .b32 %r<4>;
	.reg .pred %p<2>;
	ld.param.u32 %r1, [n];
	st.local.u32 [big], %r1;
	setp.eq.u32 %p1, %r1, 0;
	@%p1 ret;
	add.u32 %r1, %r1, -1;
	.param .u32 q;
	st.param.u32 [q], %r1;
	call f, (q);
	bar.sync 0;
	ret;
}
.visible .entry k()
{
	.param .u32 q;
	st.param.u32 [q], 100;
	call f, (q);
	ret;
}
`

// npyText is a .npy file of a header alone.
func npyText(header string) string {
	return "\x93NUMPY\x01\x00" + string(binary.LittleEndian.AppendUint16(nil, uint16(len(header)))) + header
}

// blankPNG is a picture with 16 bits a channel, all black: few bytes for many pixels.
func blankPNG(t *testing.T, width, height int) string {
	var pixels bytes.Buffer
	z := zlib.NewWriter(&pixels)
	_, err := io.CopyN(z, zeros{}, int64(height)*int64(8*width+1))
	if err := errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	chunk := func(kind string, data []byte) string {
		b := binary.BigEndian.AppendUint32(nil, uint32(len(data)))
		b = append(append(b, kind...), data...)
		return string(binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[4:])))
	}
	head := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, uint32(width)), uint32(height))
	return "\x89PNG\r\n\x1a\n" + chunk("IHDR", append(head, 16, 6, 0, 0, 0)) + chunk("IDAT", pixels.Bytes()) + chunk("IEND", nil)
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }
