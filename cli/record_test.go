package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// recordSaxpy is the command line that records saxpy on 70 of 80 threads.
func recordSaxpy(extra ...string) []string {
	return append([]string{"record", "../kernels/cuda/saxpy.ptx", "-g", "2", "-b", "40", "-a", "70", "2.0", "f32[80]=iota", "f32[80]=1"}, extra...)
}

// saxpyEvents is the number of events of recordSaxpy: 2 CTAs and 4 warps begin and end (12); each warp executes the branch of
// kernels/cuda/saxpy.ptx (4). Two warps execute all 20 instructions; the warp with threads 40 to 71 executes them and, for threads 70
// and 71, the return at the branch (21); the warp with threads 72 to 79 executes 7 and the return (69 in all). Lanes exit together,
// except for those of the third warp, which exit twice (5).
const saxpyEvents = 12 + 4 + 20 + 20 + 21 + 8 + 5

// saxpyAccesses is the number of its accesses: 4 parameters, x, y and the store of y in each warp that continues, and a parameter
// in the fourth.
const saxpyAccesses = 3*(4+2+1) + 1

// TestRecord: a recording is written and shown, a log is converted, a limit that was reached is named, and a recording of a
// launch with a trap has the events before the trap.
func TestRecord(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "run.gemu")
	out, messages, status := extended(t, Extensions{}, recordSaxpy("--with", "all", "-o", file)...)
	if status != 0 || out != "" || !strings.Contains(messages, fmt.Sprintf("run.gemu: %d events in ", saxpyEvents)) {
		t.Errorf("status %d, %q, %q", status, out, messages)
	}
	out, messages, status = extended(t, Extensions{}, "record", file)
	for _, want := range []string{"a recording of gemu, ", "with results, accesses, memory, stack, source", "launch 0: saxpy, grid 2,1,1, block 40,1,1, policy auto\n", fmt.Sprintf("accesses    %d  ", saxpyAccesses)} {
		if status != 0 || !strings.Contains(out, want) {
			t.Errorf("status %d, %s, %s; want %q", status, out, messages, want)
		}
	}
	// The second load of warp 0: 32 elements of y, 128 bytes in four sectors.
	out, _, _ = extended(t, Extensions{}, "record", file, "--table", "accesses", "--rows", "5-5")
	if want := "row,event,kind,space,bytes,lanes,class,base,stride,values,sectors,passes,allocation\n5,20,load,global,4,0xffffffff,affine,0x10000400,4,0,4,0,1\n"; out != want {
		t.Errorf("got\n%swant\n%s", out, want)
	}

	log, converted := filepath.Join(dir, "run.log"), filepath.Join(dir, "log.gemu")
	trace := recordSaxpy("-o", log)
	trace[0] = "trace"
	extended(t, Extensions{}, trace...)
	_, messages, status = extended(t, Extensions{}, "record", "--from", log, "--with", "results", "-o", converted)
	if status != 0 || !strings.Contains(messages, "log.gemu: ") {
		t.Errorf("status %d, %s", status, messages)
	}
	if out, _, _ := extended(t, Extensions{}, "record", converted, "--table", "results", "--rows", "0-40"); !strings.Contains(out, "affine") {
		t.Error(out)
	}

	_, messages, status = extended(t, Extensions{}, recordSaxpy("--max-events", "10", "-o", file)...)
	if status != 0 || !strings.Contains(messages, "run.gemu: 10 events") || !strings.Contains(messages, "the recording ends at its limit of 10 events") {
		t.Errorf("status %d, %s", status, messages)
	}
	if out, _, _ := extended(t, Extensions{}, "record", file); !strings.Contains(out, "recorded up to the limit") {
		t.Error(out)
	}

	_, messages, status = extended(t, Extensions{}, "record", "../kernels/cuda/saxpy.ptx", "-g", "1", "-b", "8", "-a", "8", "2.0", "f32[8]", "f32[4]", "-o", file)
	if status != exitFailed || !strings.Contains(messages, "trap") || !strings.Contains(messages, "run.gemu: ") {
		t.Errorf("status %d, %s", status, messages)
	}
	if out, _, _ := extended(t, Extensions{}, "record", file, "--table", "traps"); !strings.Contains(out, "out-of-bounds global load") {
		t.Error(out)
	}
}

// TestRecordAnyName: the first bytes of a file or of standard input decide whether it is a recording, not its name. A
// setting in the environment does not count as a flag.
func TestRecordAnyName(t *testing.T) {
	dir := t.TempDir()
	other, kernel := filepath.Join(dir, "recording"), filepath.Join(dir, "saxpy.gemu")
	if _, messages, status := extended(t, Extensions{}, recordSaxpy("-o", other)...); status != 0 {
		t.Fatal(messages)
	}
	t.Setenv("GEMU_ENGINE", "portable")
	if out, messages, status := extended(t, Extensions{}, "record", other, "--table", "launches"); status != 0 || !strings.Contains(out, "\n0,saxpy,") {
		t.Errorf("status %d, %s, %s", status, out, messages)
	}
	source, err := os.ReadFile("../kernels/cuda/saxpy.ptx")
	if err != nil {
		t.Fatal(err)
	}
	recording, err := os.ReadFile(other)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		input []byte
		args  []string
		want  string
	}{
		{recording, []string{"record", "-", "--table", "launches"}, "\n0,saxpy,"},
		{recording[:len(recording)/2], []string{"record", "-"}, "launch 0"},
		{source, append([]string{"record", "-"}, recordSaxpy("-o", kernel)[2:]...), fmt.Sprintf("%d events", saxpyEvents)},
	} {
		var out bytes.Buffer
		if status := Run(t.Context(), Extensions{}, c.args, bytes.NewReader(c.input), &out, &out); status != 0 || !strings.Contains(out.String(), c.want) {
			t.Errorf("%d bytes of standard input: status %d, %s; want %q", len(c.input), status, &out, c.want)
		}
	}
	if err := os.WriteFile(kernel, source, 0o666); err != nil {
		t.Fatal(err)
	}
	line := recordSaxpy("-o", other)
	line[1] = kernel
	if _, messages, status := extended(t, Extensions{}, line...); status != 0 || !strings.Contains(messages, fmt.Sprintf("recording: %d events", saxpyEvents)) {
		t.Errorf("status %d, %s", status, messages)
	}
}

// TestRecordBadInput: a wrong command line is an error with status 2, and leaves an earlier recording as it was.
func TestRecordBadInput(t *testing.T) {
	dir := t.TempDir()
	file, text := filepath.Join(dir, "run.gemu"), filepath.Join(dir, "text.gemu")
	if _, messages, status := extended(t, Extensions{}, recordSaxpy("-o", file)...); status != 0 {
		t.Fatal(messages)
	}
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(text, []byte("gemu-trace 2\nlaunch 0 kernel=k grid=1,1,1 block=1,1,1 warp=32\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(dir, "run.log")
	trace := recordSaxpy("-o", log)
	trace[0] = "trace"
	if _, messages, status := extended(t, Extensions{}, trace...); status != 0 {
		t.Fatal(messages)
	}
	broken := filepath.Join(dir, "broken.ptx")
	if err := os.WriteFile(broken, []byte("no PTX"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		line []string
		want string
	}{
		{[]string{"record"}, "give one input: a kernel to run"},
		{recordSaxpy(), "-o FILE is missing"},
		{[]string{"record", broken, "-g", "1", "-b", "1", "-o", file}, "broken.ptx:1:1"},
		{[]string{"record", "../kernels/cuda/saxpy.ptx", "-g", "1", "-o", file}, "-b X[,Y[,Z]] is missing"},
		{recordSaxpy("-o", file, "--shared", "99999999"), "shared memory"},
		{[]string{"record", "--from", file, "-o", file}, "--from and -o are the same file"},
		{recordSaxpy("-o", filepath.Join(dir, "none", "run.gemu")), "no directory"},
		{recordSaxpy("-o", file, "--with", "colours"), `--with: unknown part "colours" of a recording: want some of results, accesses, memory, stack, source, or all`},
		{recordSaxpy("-o", file, "--max-events=-1"), "--max-events -1: want a number from 0 on"},
		{recordSaxpy("-o", file, "--class", "colour"), "--class colour"},
		{recordSaxpy("-o", file, "--table", "events"), "--table and --rows show a recording (gemu record FILE --table NAME), and ../kernels/cuda/saxpy.ptx is not a recording"},
		{recordSaxpy("-o", file, "--rows", "1"), "--table and --rows show a recording"},
		{[]string{"record", "--from", log, "-o", file, "--table", "events"}, "--from converts a log: --table does not apply; the flags are --from, --out, --with,"},
		{[]string{"record", "--from", log, "-o", file, "--rows", "1"}, "--from converts a log: --rows does not apply"},
		{[]string{"record", "--from", log, "-o", file, "-g", "1"}, "--from converts a log: --grid does not apply"},
		{[]string{"record", "--from", log, "-o", file, "--warp", "32"}, "--from converts a log: --warp does not apply"}, // also the default
		{[]string{"record", "--from", log, "-o", file, "--mode", "vector"}, "--from converts a log: --mode does not apply"},
		{[]string{"record", "--from", log, "-o", file, "-a", "1"}, "--from converts a log: --arg does not apply"},
		{[]string{"record", "--from", log, "-o", file, "--with", "results,memory"}, "a log has no memory"},
		{[]string{"record", "--from", log, "-o", file, "--with", "stack"}, "a log has no stack"},
		{[]string{"record", "--from", log, "-o", file, "--cta", "9"}, "no event passes the filters"},
		{recordSaxpy("-o", file, "--cta", "9"), "no event passes the filters"},
		{recordSaxpy("-o", file, "--from", text), "give one input: a kernel to run"},
		{[]string{"record", "--from", text, "-o", file}, "text.gemu:3: at byte"},
		{[]string{"record", "--from", filepath.Join(dir, "none"), "-o", file}, "none: no such file"},
		{[]string{"record", text}, "text.gemu is not a recording: it does not begin as recordings do"},
		{[]string{"record", filepath.Join(dir, "none.gemu")}, "none.gemu: no such file"},
		{[]string{"record", file, "--table", "colours"}, "--table colours: unknown; the tables of a recording are recording, enumerations"},
		{[]string{"record", file, "--table", "events", "--rows", "x"}, "--rows x: want the first and the last row, such as 0-99"},
		{[]string{"record", file, "--rows", "1"}, "--rows needs --table NAME"},
		{[]string{"record", file, "--table", "events", "--rows", "90"}, "--rows 90: the table events has 90 rows"},
		{[]string{"record", file, "--table", "stack", "--rows", "0"}, "--rows 0: the table stack has 0 rows"},
		{[]string{"record", file, "--table", "stack", "--rows", "x"}, "--rows x: want the first and the last row, such as 0-99"},
		{[]string{"record", file, "-o", text}, "run.gemu is a recording: --out does not apply; the flags are --table, --rows"},
		{[]string{"record", file, "--from", log}, "run.gemu is a recording: --from does not apply"},
		{[]string{"record", file, "--cta", "1"}, "run.gemu is a recording: --cta does not apply"},
		{[]string{"record", file, "--table", "events", "--only-kernel", "saxpy"}, "run.gemu is a recording: --only-kernel does not apply"},
		{[]string{"record", file, "--engine", "portable"}, "run.gemu is a recording: --engine does not apply"},
		{[]string{"record", file, "--max-events", "10000000"}, "run.gemu is a recording: --max-events does not apply"}, // also the default
		{[]string{"record", file, "--uncompressed"}, "run.gemu is a recording: --uncompressed does not apply"},
		{[]string{"record", file, "7"}, "run.gemu is a recording: kernel arguments do not apply to it"},
	} {
		_, messages, status := extended(t, Extensions{}, c.line...)
		if status != exitBad || !strings.Contains(messages, c.want) {
			t.Errorf("%q: status %d, %s; want %s", c.line[1:], status, messages, c.want)
		}
		if after, err := os.ReadFile(file); err != nil || string(after) != string(before) {
			t.Fatalf("%q: the recording before is lost: %v", c.line[1:], err)
		}
	}
}
