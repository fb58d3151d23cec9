//go:build !linux

package sharedmem

import (
	"errors"
	"os"
	"time"
)

// Processes share memory on Linux only. On other systems the callers test Supported, and do not call these functions.

// Supported reports whether processes can share memory on this system.
const Supported = false

func ReserveAddresses(uint64) ([]byte, error) { return nil, errors.ErrUnsupported }

func FreeAddresses([]byte) {}

func Create(string, uint64) (*os.File, error) { return nil, errors.ErrUnsupported }

func KeepsBytes(*os.File, uint64) bool { return false }

func Open(string, int) (*os.File, uint64, error) { return nil, 0, errors.ErrUnsupported }

func Duplicate(int) (int, error) { return 0, errors.ErrUnsupported }

func MapAt([]byte, *os.File) error { return errors.ErrUnsupported }

func UnmapAt([]byte) {}

func toFile([]byte, string) (*os.File, error) { return nil, errors.ErrUnsupported }

func toPrivate([]byte) {}

func Map(*os.File, uint64, uint64) ([]byte, error) { return nil, errors.ErrUnsupported }

func Discard(*os.File, uint64, uint64) error { return errors.ErrUnsupported }

func FileID(*os.File) (uint64, error) { return 0, errors.ErrUnsupported }

func ProcessStart(int) (uint64, error) { return 0, errors.ErrUnsupported }

func OpenFromProcess(int, int, string) (*os.File, uint64, error) {
	return nil, 0, errors.ErrUnsupported
}

func Lock(*os.File) error { return errors.ErrUnsupported }

func Unlock(*os.File) {}

func Sleep(*uint32, uint32, time.Duration) {}

func Wake(*uint32) {}
