// Package repository finds the folder of gemu's sources.
package repository

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
)

// Root returns the folder of module gemu: the working directory or the nearest folder above it whose go.mod declares the module.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if text, err := os.ReadFile(filepath.Join(dir, "go.mod")); err == nil && bytes.HasPrefix(text, []byte("module gemu\n")) {
			return dir, nil
		}
		if filepath.Dir(dir) == dir {
			return "", errors.New("no folder above the working directory has the module gemu: run this in a checkout of gemu")
		}
		dir = filepath.Dir(dir)
	}
}
