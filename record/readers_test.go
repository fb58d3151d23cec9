package record

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gemu/internal/part"
)

// valueLines returns each value of each table as a line, as the readers in C and Python print them.
func valueLines(t *testing.T, f *File) []byte {
	t.Helper()
	var b bytes.Buffer
	for _, table := range f.Tables() {
		for _, c := range table.Columns {
			if c.Type == Text {
				list, err := table.ReadTexts(c.Name, 0, math.MaxUint64)
				if err != nil {
					t.Fatal(err)
				}
				for i, v := range list {
					fmt.Fprintf(&b, "%s.%s[%d] = %s\n", table.Name, c.Name, i, v)
				}
				continue
			}
			list, err := table.ReadNumbers(c.Name, 0, math.MaxUint64)
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range list {
				if c.Type.IsSigned() {
					fmt.Fprintf(&b, "%s.%s[%d] = %d\n", table.Name, c.Name, i, int64(v))
				} else {
					fmt.Fprintf(&b, "%s.%s[%d] = %d\n", table.Name, c.Name, i, v)
				}
			}
		}
	}
	return b.Bytes()
}

// foreignReaders returns the command lines of the readers in C and Python. It skips the test if the host has no C compiler with
// zlib, or no Python with NumPy; the sample of CI must have both.
func foreignReaders(t *testing.T) (commands map[string][]string) {
	t.Helper()
	part.SkipShort(t)
	sources, err := os.ReadDir("readers")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sources { // so that go test does not take the result of other readers from its cache
		if _, err := os.ReadFile(filepath.Join("readers", s.Name())); err != nil {
			t.Fatal(err)
		}
	}
	commands = map[string][]string{}
	missing := func(what string, err error, out []byte) {
		if part.TrySample() {
			t.Errorf("%s: %v\n%s", what, err, out)
		} else {
			t.Logf("not tried: %s: %v", what, err)
		}
	}
	program := filepath.Join(t.TempDir(), "print_recording")
	cc := exec.Command("cc", "-std=c11", "-D_POSIX_C_SOURCE=200809L", "-Wall", "-Wextra", "-Werror", "-O1", "-fsanitize=address,undefined",
		"readers/print_recording.c", "readers/gemu_recording.c", "-lz", "-o", program)
	if out, err := cc.CombinedOutput(); err != nil {
		missing("the reader in C, which wants cc and zlib", err, out)
	} else {
		commands["C"] = []string{program}
	}
	python := "python3"
	if p := os.Getenv("GEMU_TEST_PYTHON"); p != "" {
		python = p
	}
	if out, err := exec.Command(python, "-c", "import numpy").CombinedOutput(); err != nil {
		missing("the reader in Python, which wants NumPy (GEMU_TEST_PYTHON names a Python that has it)", err, out)
	} else {
		commands["Python"] = []string{python, "-B", "readers/gemu_recording.py"}
	}
	return commands
}

// TestReadersAgree: the readers in C and Python give the same values as the reader in Go, for recordings with all encodings
// and several blocks, compressed and uncompressed, complete and truncated.
func TestReadersAgree(t *testing.T) {
	commands := foreignReaders(t)
	defer func(n int) { blockRows = n }(blockRows)
	blockRows = 500
	files := map[string][]byte{}
	for _, uncompressed := range []bool{false, true} {
		o := Options{Contents: Contents{true, true, true, true, true}, Uncompressed: uncompressed}
		files[fmt.Sprintf("histogram, uncompressed %v", uncompressed)] = recorded(t, o, workload("histogram", 500, nil))
		files[fmt.Sprintf("nested, uncompressed %v", uncompressed)] = recorded(t, o, kernel(nested, 32, ""))
	}
	whole := files["histogram, uncompressed false"]
	files["an older version"] = olderFile(t)
	files["without an end"] = whole[:len(whole)-100]
	for name, b := range files {
		file := filepath.Join(t.TempDir(), "run.gemu")
		if err := os.WriteFile(file, b, 0o666); err != nil {
			t.Fatal(err)
		}
		want := valueLines(t, opened(t, b))
		for language, command := range commands {
			var messages bytes.Buffer
			c := exec.Command(command[0], append(slices.Clone(command[1:]), file)...)
			c.Stderr = &messages
			got, err := c.Output()
			if err != nil || !bytes.Equal(got, want) {
				g, w := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
				i := 0
				for i < min(len(g), len(w))-1 && g[i] == w[i] {
					i++
				}
				t.Errorf("%s, %s: %v %s; line %d of %d: %q, want %q", name, language, err, &messages, i, len(w), g[i], w[i])
			}
		}
	}
}

// TestForeignReadersRefuse: the readers in C and Python refuse damaged files with a message, and never crash: the C program is
// compiled with the address sanitizer, whose status is not 2.
func TestForeignReadersRefuse(t *testing.T) {
	commands := foreignReaders(t)
	b := recorded(t, Options{Contents: Contents{true, true, true, true, true}}, kernel(nested, 32, ""))
	newer := bytes.Clone(b)
	newer[7]++
	files := map[string][]byte{"empty": nil, "a log": []byte("gemu-trace 2\n"), "newer": newer}
	for i := 8; i < len(b); i += 1 + len(b)/12 {
		x := bytes.Clone(b)
		x[i] ^= 0x81
		files[fmt.Sprintf("byte %d", i)] = x
	}
	for name, b := range files {
		file := filepath.Join(t.TempDir(), "run.gemu")
		if err := os.WriteFile(file, b, 0o666); err != nil {
			t.Fatal(err)
		}
		_, wantErr := Open(name, bytes.NewReader(b), int64(len(b)))
		for language, command := range commands {
			out, err := exec.Command(command[0], append(slices.Clone(command[1:]), file)...).CombinedOutput()
			status := 0
			if e, ok := err.(*exec.ExitError); ok {
				status = e.ExitCode()
			}
			if status > 2 || strings.Contains(string(out), "Traceback") || strings.Contains(string(out), "AddressSanitizer") || wantErr != nil && status == 0 {
				t.Errorf("%s, %s: status %d, Go says %v\n%s", name, language, status, wantErr, out)
			}
		}
	}
}

// TestPythonNames: the Python reader gives names of values, the lanes of results and of stored values, and columns whose names are
// also those of its own attributes.
func TestPythonNames(t *testing.T) {
	command := foreignReaders(t)["Python"]
	if command == nil {
		t.Skip("there is no Python with NumPy")
	}
	file := filepath.Join(t.TempDir(), "run.gemu")
	if err := os.WriteFile(file, recorded(t, Options{Contents: Contents{Results: true, Accesses: true}, Uncompressed: true}, kernel(asynchronous, 1, "")), 0o666); err != nil {
		t.Fatal(err)
	}
	const script = `
import sys
sys.path.insert(0, "readers")
import gemu_recording
run = gemu_recording.open(sys.argv[1])
names = run.names("events", "kind")
print(names[0], names[2])
print(run.registers.name[0], run.instructions.column[0], len(run.registers))
print(run.lanes("results", 2))
print(run.events.read("kind", 0, 2).tolist(), run.events.lanes.base is not None)
`
	out, err := exec.Command(command[0], "-B", "-c", script, file).CombinedOutput()
	// The third result is that of ld.shared: word 8 of the buffer, in lane 0.
	if want := "instruction split\n%p 2 3\n{0: 8}\n[9, 11] True\n"; err != nil || string(out) != want {
		t.Errorf("%v\n%s\nwant\n%s", err, out, want)
	}
}

// rowByRow is a C program that reads two columns of numbers and one of texts row by row, twice, and prints their sums and the number
// of inflated columns.
const rowByRow = `
#include <stdio.h>
#include <string.h>
#include <zlib.h>
#include "gemu_recording.h"

static int inflated;
int __real_inflateInit2_(z_streamp z, int bits, const char *version, int size);
int __wrap_inflateInit2_(z_streamp z, int bits, const char *version, int size) {
	inflated++;
	return __real_inflateInit2_(z, bits, version, size);
}

int main(int argc, char **argv) {
	char error[512];
	gemu_recording *r = argc == 2 ? gemu_recording_open(argv[1], error, sizeof error) : NULL;
	if (!r)
		return 2;
	uint64_t sums[2] = {0}, letters = 0;
	inflated = 0;
	int results = gemu_recording_table(r, "results"), instructions = gemu_recording_table(r, "instructions");
	for (uint64_t row = 0; row < gemu_recording_rows(r, results); row++)
		for (int i = 0; i < 2; i++) {
			uint64_t v;
			if (gemu_recording_numbers(r, results, gemu_recording_column(r, results, i ? "event" : "base"), row, 1, &v) != 1)
				return 2;
			sums[i] += v;
		}
	for (int pass = 0; pass < 2; pass++)
		for (uint64_t row = 0; row < gemu_recording_rows(r, instructions); row++) {
			const char *text;
			if (gemu_recording_texts(r, instructions, gemu_recording_column(r, instructions, "text"), row, 1, &text) != 1)
				return 2;
			letters += strlen(text);
		}
	printf("%llu %llu %llu %d\n", (unsigned long long)sums[0], (unsigned long long)sums[1], (unsigned long long)letters, inflated);
	gemu_recording_close(r);
	return 0;
}
`

// TestRowByRow: the reader in C decodes each block of a column once, also for a program that reads several columns row by row.
func TestRowByRow(t *testing.T) {
	if foreignReaders(t)["C"] == nil {
		t.Skip("there is no C compiler with zlib")
	}
	defer func(n int) { blockRows = n }(blockRows)
	blockRows = 100
	b := recorded(t, Options{Contents: Contents{Results: true}}, workload("histogram", 3000, nil))
	dir := t.TempDir()
	file, source, program := filepath.Join(dir, "run.gemu"), filepath.Join(dir, "rows.c"), filepath.Join(dir, "rows")
	for name, content := range map[string][]byte{file: b, source: []byte(rowByRow)} {
		if err := os.WriteFile(name, content, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	cc := exec.Command("cc", "-std=c11", "-D_POSIX_C_SOURCE=200809L", "-Wall", "-Wextra", "-Werror", "-fsanitize=address,undefined", "-Ireaders", "-Wl,--wrap=inflateInit2_",
		source, "readers/gemu_recording.c", "-lz", "-o", program)
	if out, err := cc.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := exec.Command(program, file).CombinedOutput()
	f := opened(t, b)
	var base, event, letters, inflated uint64
	for _, r := range all[ResultRow](t, f) {
		base, event = base+r.Base, event+r.Event
	}
	for _, x := range all[InstructionRow](t, f) {
		letters += 2 * uint64(len(x.Text))
	}
	for table, columns := range map[string][]string{"results": {"base", "event"}, "instructions": {"text"}} {
		for _, b := range f.Table(table).blocks {
			for _, name := range columns {
				inflated += uint64(b.columns[f.Table(table).column(name)].flags & isDeflated)
			}
		}
	}
	if want := fmt.Sprintf("%d %d %d %d\n", base, event, letters, inflated); err != nil || string(out) != want || inflated < 10 {
		t.Errorf("%v\n%s\nwant\n%s", err, out, want)
	}
}
