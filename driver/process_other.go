//go:build !linux

package driver

import (
	"errors"
	"os"
	"time"
)

// Memory is shared between processes on Linux only. These functions are not called on other systems.

func shareMemory([]byte) (*os.File, error) { return nil, errors.ErrUnsupported }

func privateMemory([]byte) {}

func mapFile(*os.File, uint64, uint64) ([]byte, error) { return nil, errors.ErrUnsupported }

func emptyFile(*os.File, uint64, uint64) error { return errors.ErrUnsupported }

func fileID(*os.File) (uint64, error) { return 0, errors.ErrUnsupported }

func startOf(int) (uint64, error) { return 0, errors.ErrUnsupported }

func openOf(int, int, string) (*os.File, uint64, error) { return nil, 0, errors.ErrUnsupported }

func lockFile(*os.File) error { return errors.ErrUnsupported }

func unlockFile(*os.File) {}

func sleepOn(*uint32, uint32, time.Duration) {}

func wake(*uint32) {}
