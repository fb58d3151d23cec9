package interp_test

// This file runs modules with changed tokens: the outcome must be a result, a trap, or an error with its place.

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"gemu/internal/corpus"
	"gemu/internal/random"
	"gemu/interp"
	"gemu/probe"
	"gemu/ptx"
)

const (
	tokensSource = 12 << 10 // maximum size of a changed module, in bytes
	tokensSteps  = 1 << 10  // step limit
	tokensMemory = 32 << 20 // memory of the device, in bytes
)

// tokensModules are the modules to change.
var tokensModules = sync.OnceValue(func() *random.Mutator {
	var list []string
	for _, pattern := range []string{"../testdata/*/*.ptx", "../kernels/cuda/*.ptx", "../docs/*.ptx", "testdata/tokens/*.ptx"} {
		files, _ := filepath.Glob(pattern)
		for _, file := range files {
			if src, err := os.ReadFile(file); err == nil && len(src) <= tokensSource {
				list = append(list, string(src))
			}
		}
	}
	return random.NewMutator(list)
})

// outcomeOfTokens checks the whole processing of a module, and returns an error if a check fails. seed chooses the modes
// and the arguments of kernels.
func outcomeOfTokens(src string, seed uint64) error {
	m, err := ptx.Parse("tokens.ptx", []byte(src))
	if err != nil {
		var list ptx.ErrorList
		if !errors.As(err, &list) || len(list) == 0 {
			return fmt.Errorf("not a list of errors: %w", err)
		}
		lines := strings.Count(src, "\n") + 1
		for _, e := range list {
			if e.Pos.Line < 1 || int(e.Pos.Line) > lines || e.Pos.Col < 1 || e.Msg == "" {
				return fmt.Errorf("an error without its place: %d:%d in %d lines: %w", e.Pos.Line, e.Pos.Col, lines, e)
			}
			_ = e.Error() + e.Snippet()
		}
		return nil
	}
	text := m.String()
	again, err := ptx.Parse("printed.ptx", []byte(text))
	if err != nil {
		return fmt.Errorf("the printed module does not parse: %w", err)
	}
	if second := again.String(); second != text {
		return fmt.Errorf("printing twice differs:\n%s\n%s", text, second)
	}
	programs := corpus.RandomPrograms("tokens.ptx", m, seed)
	for _, p := range programs[:min(len(programs), 2)] {
		p.Memory = tokensMemory
		if err := agreeOnTokens(p, seed, bytes.Contains([]byte(src), []byte("clock")) || strings.Contains(src, "globaltimer")); err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
	}
	return nil
}

// agreeOnTokens compares a kernel in vector mode on the portable engine with a further mode, on a random engine.
func agreeOnTokens(p *corpus.Program, seed uint64, timed bool) error {
	var messages [2]string
	var errs [2]error
	for i := range messages {
		o := p.Run(func(l *interp.Launch) {
			l.Mode, l.MaxSteps, l.Engine = interp.Vector, tokensSteps, interp.Portable
			if i == 0 {
				return
			}
			l.Mode = []interp.Mode{interp.Affine, interp.Check, interp.Vector}[seed%3]
			if interp.Native.Available() && (seed/3%2 == 0 || l.Mode == interp.Vector) {
				l.Engine = interp.Native
			}
			l.CompileEagerly = seed/6%2 == 0 && l.Mode != interp.Vector
		})
		var b strings.Builder
		o.Describe(&b)
		messages[i], errs[i] = b.String(), o.Err
		if err := answered(errors.Join(o.Err, o.WrongResult)); err != nil {
			return err
		}
	}
	if messages[0] != messages[1] {
		return fmt.Errorf("vector mode, portable: %v\n%s\nanother mode: %v\n%s", errs[0], messages[0], errs[1], messages[1])
	}
	return nil
}

// answered returns an error unless a launch ended in a valid way: with a result, a trap, a refusal, unsupported PTX, or
// without memory.
func answered(err error) error {
	var trap *probe.Trap
	var refused *interp.LaunchError
	var unsupported *ptx.Unsupported
	switch {
	case err == nil || errors.As(err, &refused) || errors.Is(err, interp.ErrOutOfMemory):
		return nil
	case errors.Is(err, probe.ErrMismatch):
		return err
	case errors.As(err, &trap):
		if trap.Kind == nil || trap.Msg == "" || trap.Instr != "" && trap.Pos.Line == 0 {
			return fmt.Errorf("a trap without its place: %w", err)
		}
		return nil
	case errors.As(err, &unsupported):
		if unsupported.Pos.Line == 0 {
			return fmt.Errorf("what does not run has no place: %w", err)
		}
		return nil
	}
	return fmt.Errorf("neither a result nor a trap nor a refusal: %T: %w", err, err)
}

// FuzzChangedModules: a module with changed tokens is an error with its place, or it survives printing and has the same
// result in two modes.
func FuzzChangedModules(f *testing.F) {
	mutator := tokensModules()
	for i := range uint64(8) {
		f.Add(i)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		src, _ := mutator.Mutant(seed)
		if err := outcomeOfTokens(src, seed); err != nil {
			t.Fatalf("%v\n%s", err, src)
		}
	})
}

// TestModulesFoundByFuzzing runs earlier findings of FuzzChangedModules, from testdata/tokens, in every pair of modes.
func TestModulesFoundByFuzzing(t *testing.T) {
	files, err := filepath.Glob("testdata/tokens/*.ptx")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for seed := range uint64(12) {
			if err := outcomeOfTokens(string(src), seed); err != nil {
				t.Errorf("%s: %v", file, err)
				break
			}
		}
	}
}
