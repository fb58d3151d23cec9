package corpus

import (
	"path/filepath"
	"testing"

	"gemu/internal/part"
	"gemu/interp"
)

// TestCompiledKernels runs compiler-made kernels in every mode, under every policy, and with early asynchronous
// effects: their results equal the references. Without GEMU_TEST=all, policies are tried in vector mode alone.
func TestCompiledKernels(t *testing.T) {
	part.SkipShort(t)
	paths, err := filepath.Glob("../../testdata/corpus/*.ptx")
	if err != nil || len(paths) == 0 {
		t.Fatal("no files ", err)
	}
	for _, path := range paths {
		file := "corpus/" + filepath.Base(path)
		programs, err := ProgramsOf("../../testdata", file)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range programs {
			if _, ok := compiledAs(file, p.Name); !ok {
				t.Fatalf("%s: %s has no reference", file, p.Name)
			}
			t.Run(filepath.Base(path)+"/"+p.Name, func(t *testing.T) {
				for _, mode := range []interp.Mode{interp.Vector, interp.Affine, interp.Check} {
					for i, policy := range policies() {
						if i > 0 && mode != interp.Vector && !part.TryAll() {
							break
						}
						o := p.Run(func(l *interp.Launch) { l.Mode, l.Reconverge = mode, policy })
						if o.Err != nil || o.WrongResult != nil {
							t.Errorf("%v mode, %s: %v %v", mode, policy.Name(), o.Err, o.WrongResult)
						}
					}
					if early := p.Run(func(l *interp.Launch) { l.Mode, l.EagerEffects = mode, true }); early.Err != nil || early.WrongResult != nil {
						t.Errorf("%v mode, asynchronous effects early: %v %v", mode, early.Err, early.WrongResult)
					}
				}
			})
		}
	}
}
