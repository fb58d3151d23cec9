//go:build !linux

package driver

import (
	"errors"
	"os"
)

// Virtual memory management exists on Linux only. These functions are not called on other systems.

const haveVirtual = false

func reserveAddresses(uint64) ([]byte, error) { return nil, errors.ErrUnsupported }

func freeAddresses([]byte) {}

func createMemory(string, uint64) (*os.File, error) { return nil, errors.ErrUnsupported }

func openMemory(string, int) (*os.File, uint64, error) { return nil, 0, errors.ErrUnsupported }

func duplicate(int) (int, error) { return 0, errors.ErrUnsupported }

func mapMemory([]byte, *os.File) error { return errors.ErrUnsupported }

func unmapMemory([]byte) {}
