// Package compile compiles CUDA C++ to PTX, with a compiler of the host.
package compile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"gemu/internal/cleanup"
	"gemu/internal/input"
	"gemu/kernels/cuda"
)

// A compiler is a program that compiles to PTX, and its arguments before the name of the source.
type compiler struct {
	program string
	args    func(sm int, headers string) []string
	// branches has the arguments that keep branches; nil if the compiler has none.
	branches []string
}

// oldestClang is the first version of clang whose PTX gemu's header supports.
const oldestClang = 18

// compilers lists the supported compilers in the order of preference. nvcc comes with CUDA's
// headers; clang gets the small header of the workload library instead, which has device code only.
var compilers = []compiler{
	{"nvcc", nvccArgs, nil},
	{"clang-19", clangArgs, clangBranches}, {"clang-20", clangArgs, clangBranches}, {"clang-21", clangArgs, clangBranches},
	{"clang-18", clangArgs, clangBranches}, {"clang", clangArgs, clangBranches},
}

// clangBranches keeps the branches of the source. At -O2 clang turns small ifs into selections and unrolls loops; at -O1 only
// the folding of phi nodes does so. (At -O0 each variable would be in local memory.)
var clangBranches = []string{"-O1", "-mllvm", "-phi-node-folding-threshold=0", "-mllvm", "-two-entry-phi-node-folding-threshold=0"}

func nvccArgs(sm int, _ string) []string {
	return []string{"-ptx", "-lineinfo", fmt.Sprintf("-arch=compute_%d", sm), "-o", "-"}
}

func clangArgs(sm int, headers string) []string {
	return []string{
		"-x", "cuda", "--cuda-device-only", fmt.Sprintf("--cuda-gpu-arch=sm_%d", sm), "--cuda-feature=+ptx70", "-nocudainc", "-nocudalib", "-Wno-unknown-cuda-version",
		"-O2", "-gline-tables-only", "-I", headers, "-include", "gemu.h", "-S", "-o", "-",
	}
}

// DefaultArch is the compute capability of compiled CUDA C++: old enough for every supported
// device, new enough for the default device.
const DefaultArch = 80

// File makes PTX of a file of CUDA C++, with further arguments for the compiler. If keepBranches is set, the PTX has the
// branches of the source, and the compiler is clang. File also returns the messages of the compiler, such as warnings.
func File(ctx context.Context, name string, keepBranches bool, further ...string) (text, messages string, err error) {
	if _, err := os.Stat(name); err != nil {
		return "", "", input.FileError("read", name, errors.Unwrap(err))
	}
	var c *compiler
	var program string
	for i := range compilers {
		if keepBranches && compilers[i].branches == nil {
			continue
		}
		if path, err := exec.LookPath(compilers[i].program); err == nil {
			c, program = &compilers[i], path
			break
		}
	}
	if c == nil && keepBranches {
		return "", "", fmt.Errorf("%s: keeping the branches of the source needs clang, and there is none on the path: %s", name, howToInstallClang(runtime.GOOS))
	}
	if c == nil {
		return "", "", fmt.Errorf("%s: no compiler for CUDA C++ (nvcc, clang) is on the path: %s or nvcc. Or compile to PTX on another machine:\n   nvcc -ptx -arch=sm_%d %s -o %s.ptx", name, howToInstallClang(runtime.GOOS),
			DefaultArch, name, strings.TrimSuffix(filepath.Base(name), ".cu"))
	}
	dir, remove, err := cleanup.Dir("", "gemu-*")
	if err != nil {
		return "", "", err
	}
	defer remove()
	// Sources that include CUDA's headers get the small header, which is included already.
	for _, h := range []string{"gemu.h", "cuda_runtime.h", "cuda.h", "device_launch_parameters.h"} {
		text := cuda.Header
		if h != "gemu.h" {
			text = "#pragma once\n"
		}
		if err := os.WriteFile(filepath.Join(dir, h), []byte(text), 0o644); err != nil {
			return "", "", err
		}
	}
	source := name
	if strings.HasPrefix(source, "-") { // a compiler would read the name as an option
		source = "./" + source
	}
	args := c.args(DefaultArch, dir)
	if keepBranches {
		args = append(args, c.branches...)
	}
	cmd := exec.CommandContext(ctx, program, append(append(args, further...), source)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = runGroup(cmd)
	messages = stderr.String()
	if ctx.Err() != nil {
		return "", messages, fmt.Errorf("%s: %s stopped: %w", name, c.program, context.Cause(ctx))
	}
	if err != nil {
		if c.program == "clang" { // the other names of clang contain a version that is new enough
			text, _ := exec.CommandContext(ctx, program, "--version").Output()
			if problem := clangProblem(string(text)); problem != "" {
				return "", messages, fmt.Errorf("%s: %s is %s: %s or nvcc", name, program, problem, howToInstallClang(runtime.GOOS))
			}
		}
		return "", messages, fmt.Errorf("%s: %s: %w", name, c.program, err)
	}
	return stdout.String(), messages, nil
}

// clangProblem returns the reason why a clang cannot make PTX, by its text of --version; "" if there is none.
func clangProblem(text string) string {
	if strings.Contains(text, "Apple clang") {
		return "Apple's clang, which cannot make PTX"
	}
	_, text, _ = strings.Cut(text, "clang version ")
	number, _, _ := strings.Cut(text, ".")
	if version, err := strconv.Atoi(number); err == nil && version < oldestClang {
		return fmt.Sprintf("clang %d, which is too old", version)
	}
	return ""
}

// howToInstallClang says how to install clang on an operating system.
func howToInstallClang(system string) string {
	how := "such as the package clang-19"
	switch system {
	case "windows":
		how = "winget install LLVM.LLVM, and add its folder bin to the path"
	case "darwin":
		how = `brew install llvm, and export PATH="$(brew --prefix llvm)/bin:$PATH"`
	}
	return fmt.Sprintf("install clang %d or later (%s)", oldestClang, how)
}
