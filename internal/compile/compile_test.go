package compile

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestClangProblem: the texts that distributions' compilers print for --version.
func TestClangProblem(t *testing.T) {
	for text, want := range map[string]string{
		"Debian clang version 14.0.6\nTarget: x86_64-pc-linux-gnu\n":                                "clang 14, which is too old",
		"Apple clang version 17.0.0 (clang-1700.0.13.3)\nTarget: arm64-apple-darwin24.5.0\n":        "Apple's clang, which cannot make PTX",
		"Ubuntu clang version 18.1.3 (1ubuntu1)\nTarget: x86_64-pc-linux-gnu\n":                     "",
		"Homebrew clang version 20.1.8\nTarget: arm64-apple-darwin24.5.0\n":                         "",
		"clang version 21.1.0 (https://github.com/llvm/llvm-project abc)\nTarget: x86_64-windows\n": "",
		"": "",
	} {
		if got := clangProblem(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestMissingCompiler: the message names what is missing, and how to install it on each system.
func TestMissingCompiler(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	compiled := func(keepBranches bool) string {
		_, _, err := File(t.Context(), "../../docs/learn/ifelse.cu", keepBranches)
		if err == nil {
			t.Fatal("compiled without a compiler")
		}
		return err.Error()
	}
	for _, keepBranches := range []bool{false, true} {
		if got := compiled(keepBranches); !strings.HasPrefix(got, "../../docs/learn/ifelse.cu: ") || !strings.Contains(got, "on the path: install clang 18 or later (") {
			t.Error(got)
		}
	}
	for system, want := range map[string]string{"windows": "winget install LLVM.LLVM", "darwin": "brew install llvm", "linux": "clang-19"} {
		if got := howToInstallClang(system); !strings.Contains(got, want) {
			t.Errorf("%s: %s", system, got)
		}
	}
	if runtime.GOOS == "windows" {
		return // its programs are no scripts
	}
	old := "#!/bin/sh\ncase $1 in --version) echo Debian clang version 14.0.6 ;; *) echo error: unsupported >&2; exit 1 ;; esac\n"
	if err := os.WriteFile(filepath.Join(dir, "clang"), []byte(old), 0o777); err != nil {
		t.Fatal(err)
	}
	if got := compiled(false); !strings.Contains(got, "clang is clang 14, which is too old: install clang 18 or later") {
		t.Error(got)
	}
}
