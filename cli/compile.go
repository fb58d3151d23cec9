package cli

// This file has sources in CUDA C++: their compilation, and their lines.

import (
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"gemu/internal/compile"
	"gemu/ptx"
)

// compile makes PTX of a file of CUDA C++. Messages of the compiler, such as warnings, go to standard error.
func (a *app) compile(name string, flags compileFlags) (string, error) {
	text, messages, err := compile.File(a.ctx, name, flags.Branches)
	io.WriteString(a.stderr, messages)
	return text, err
}

// sourceName returns the name of a file's PTX in messages.
func sourceName(file string) string {
	if filepath.Ext(file) == ".cu" {
		return file + ".ptx"
	}
	return file
}

// origin returns the source line of a place in the PTX, "" if the source is not read.
func (a *app) origin(place string) string {
	parts := strings.Split(place, ":")
	if len(parts) < 3 || a.sources == nil {
		return ""
	}
	line, err1 := strconv.Atoi(parts[len(parts)-2])
	col, err2 := strconv.Atoi(parts[len(parts)-1])
	lines := a.sources.Lines(strings.Join(parts[:len(parts)-2], ":"))
	if err1 != nil || err2 != nil || line < 1 || line > len(lines) {
		return ""
	}
	return ptx.Snippet(lines[line-1], ptx.Pos{Line: int32(line), Col: int32(col)})
}
