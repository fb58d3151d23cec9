package fuzz

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"gemu/internal/part"
	"gemu/internal/random"
	"gemu/ptx"
)

// TestAssemblerTakesPrograms: NVIDIA's assembler takes all programs, for targets and versions that just suffice.
// GEMU_PTXAS is its path.
func TestAssemblerTakesPrograms(t *testing.T) {
	assembler := os.Getenv("GEMU_PTXAS")
	if assembler == "" {
		t.Skip("GEMU_PTXAS does not say where ptxas is")
	}
	for _, target := range []struct {
		sm      int
		version ptx.Version
	}{{75, ptx.Version{Major: 6, Minor: 3}}, {80, ptx.Version{Major: 7}}, {86, ptx.Version{Major: 7, Minor: 2}}, {90, ptx.Version{Major: 7, Minor: 8}}, {100, ptx.Version{Major: 8, Minor: 8}}} {
		for _, semantics := range []Semantics{Manual, Hardware} {
			g, err := New(Options{Features: random.AllFeatures, Version: target.version, SM: target.sm, Grid: 2, Block: ptx.Dim(64), Length: 300, Semantics: semantics})
			if err != nil {
				t.Fatal(err)
			}
			for seed := range uint64(part.Count(3, 10, 200)) {
				file := filepath.Join(t.TempDir(), "program.ptx")
				if err := os.WriteFile(file, []byte(g.Program(seed).Source), 0o666); err != nil {
					t.Fatal(err)
				}
				if text, err := exec.Command(assembler, fmt.Sprintf("-arch=sm_%d", target.sm), "-O0", file, "-o", os.DevNull).CombinedOutput(); err != nil {
					t.Errorf("sm_%d, seed %d: %v\n%s", target.sm, seed, err, text)
				}
			}
		}
	}
}
