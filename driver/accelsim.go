package driver

// This file is the traces for Accel-Sim of all launches of a process.

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"gemu/accelsim"
)

// packedTraces begins a GEMU_ACCELSIM that asks for .tracez files.
const packedTraces = "tracez:"

// accelsimTraces are traces that are being written, to a directory of the process within that of GEMU_ACCELSIM.
type accelsimTraces struct {
	setting  string
	dir      string
	exporter *accelsim.Exporter
	err      error // of beginning them
}

func newAccelsimTraces(s *Settings) *accelsimTraces {
	a := &accelsimTraces{setting: s.Accelsim}
	root, packed := strings.CutPrefix(s.Accelsim, packedTraces)
	version := accelsim.VersionFor(s.SM)
	if version == 0 {
		a.err = fmt.Errorf("GEMU_SM is %d.%d: Accel-Sim has traces of %v", s.SM/10, s.SM%10, accelsim.Versions())
		return a
	}
	if a.err = os.MkdirAll(root, 0o777); a.err != nil {
		return a
	}
	if a.dir, a.err = processDirectory(root); a.err != nil {
		return a
	}
	if a.exporter, a.err = accelsim.New(a.dir, version); a.err == nil {
		a.exporter.Packed, a.exporter.Partial = packed, true
	}
	return a
}

// processDirectory makes a directory for this process that no other process has, nor an earlier one with its
// number: process-1234, process-1234.2 …
func processDirectory(root string) (string, error) {
	base := filepath.Join(root, fmt.Sprintf("process-%d", os.Getpid()))
	dir := base
	for n := 2; ; n++ {
		err := os.Mkdir(dir, 0o777)
		if !errors.Is(err, fs.ErrExist) {
			return dir, err
		}
		dir = fmt.Sprintf("%s.%d", base, n)
	}
}

// close puts the traces in the directory, or removes that of a process without a launch. The error is that of writing
// them, and says which launches have none.
func (a *accelsimTraces) close() error {
	err := a.err
	if x := a.exporter; err == nil && x != nil {
		a.exporter = nil
		err = x.Close()
		if err == nil && x.Kernels() == 0 {
			err = os.RemoveAll(a.dir)
		}
	}
	if err != nil {
		return fmt.Errorf("GEMU_ACCELSIM=%s: %w", a.setting, err)
	}
	return nil
}
