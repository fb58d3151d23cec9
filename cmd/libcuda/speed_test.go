//go:build cgo

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"gemu/cmd/internal/libtest"
	"gemu/kernels"
	"gemu/ptx"
)

// BenchmarkAPI measures the time of calls of the library from C: testdata/speed.c lists them. Each figure is the minimum
// of several processes.
func BenchmarkAPI(b *testing.B) {
	module := filepath.Join(b.TempDir(), "large.ptx")
	if err := os.WriteFile(module, largeModule(b, 5_000_000), 0o666); err != nil {
		b.Fatal(err)
	}
	const processes = 5
	program, lib := libtest.Program(b, "testdata/speed.c"), libtest.Shared(b, "libcuda.so.1")
	var names []string
	fastest := map[string]float64{} // in nanoseconds
	for range processes {
		cmd := exec.Command(program, lib, module)
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			b.Fatal(err)
		}
		for line := range bytes.Lines(out) {
			name, text, _ := strings.Cut(strings.TrimSpace(string(line)), " ")
			time, err := strconv.ParseFloat(text, 64)
			if err != nil {
				b.Fatal(err)
			}
			if before, found := fastest[name]; !found {
				names = append(names, name)
				fastest[name] = time
			} else {
				fastest[name] = min(before, time)
			}
		}
	}
	for _, name := range names {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				// The program has measured the calls.
			}
			b.ReportMetric(0, "ns/op") // hides the time of the empty loop
			b.ReportMetric(fastest[name]/1000, "µs")
		})
	}
}

// largeModule returns a module of about size bytes. It consists of the kernels of all workloads, repeated with other names.
func largeModule(b *testing.B, size int) []byte {
	const header = ".version 8.6\n.target sm_90\n.address_size 64\n"
	var names, texts []string
	for _, w := range kernels.All() {
		for _, text := range strings.Split(w.PTX(), "\n.visible .entry ")[1:] {
			name, _, _ := strings.Cut(text, "(")
			body, _, complete := strings.Cut(text, "\n}\n")
			text = ".visible .entry " + body + "\n}\n"
			if _, err := ptx.Parse("", []byte(header+text)); !complete || err != nil {
				continue // it needs variables or functions of its module
			}
			names, texts = append(names, name), append(texts, text)
		}
	}
	if len(texts) < 20 {
		b.Fatalf("only %d kernels of the workloads parse without the other declarations of their modules", len(texts))
	}
	module := []byte(header)
	for i := 0; len(module) < size; i++ {
		name := names[i%len(names)]
		module = append(module, strings.ReplaceAll(texts[i%len(names)], name, fmt.Sprintf("%s_%d", name, i))...)
	}
	return module
}
