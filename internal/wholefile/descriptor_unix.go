//go:build unix

package wholefile

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// descriptor returns a new descriptor of the open file that a name stands for; nil if it stands for none.
func descriptor(name string) *os.File {
	fd := -1
	switch dir, last := filepath.Split(filepath.Clean(name)); {
	case dir == "/dev/" && last == "stdout":
		fd = 1
	case dir == "/dev/" && last == "stderr":
		fd = 2
	case dir == "/dev/fd/" || dir == "/proc/self/fd/":
		n, err := strconv.Atoi(last)
		if err != nil || strconv.Itoa(n) != last {
			return nil
		}
		fd = n
	}
	if fd < 0 {
		return nil
	}
	copied, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil // it is not open; opening the name will fail
	}
	return os.NewFile(uintptr(copied), name)
}

// readOnly reports whether an error comes from a read-only file system.
func readOnly(err error) bool { return errors.Is(err, unix.EROFS) }
