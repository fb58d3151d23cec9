package driver

// This file writes Accel-Sim traces of all launches of a process (GEMU_ACCELSIM).

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"gemu/accelsim"
)

// packedTraces is the prefix of GEMU_ACCELSIM for .tracez files.
const packedTraces = "tracez:"

// accelsimTraces writes the traces of a process.
type accelsimTraces struct {
	setting  string             // value of GEMU_ACCELSIM
	dir      string             // directory of the process, in the directory of GEMU_ACCELSIM
	exporter *accelsim.Exporter // nil after an error, and after close
	err      error              // error of creating the directory or the exporter
}

func newAccelsimTraces(s *Settings) *accelsimTraces {
	a := &accelsimTraces{setting: s.Accelsim}
	root, packed := strings.CutPrefix(s.Accelsim, packedTraces)
	version := accelsim.VersionFor(s.SM)
	if version == 0 {
		lowest := accelsim.Versions()[0]
		a.err = fmt.Errorf("Accel-Sim traces need compute capability %d.%d or higher; GEMU_SM is %d.%d", lowest/10, lowest%10, s.SM/10, s.SM%10)
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

// processDirectory makes a new directory for this process in root. Its name is process-1234 for process ID 1234, or
// process-1234.2 and so on if an earlier process had the same ID.
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

// close completes the traces, or removes the directory if there was no launch. The error reports failed writes, and
// launches without traces.
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
