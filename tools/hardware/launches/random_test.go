package main

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"gemu/fuzz"
	"gemu/ptx"
)

// TestRandomPrograms checks that the launch of a random program leaves the memory that package fuzz verifies.
func TestRandomPrograms(t *testing.T) {
	shape := fuzz.Options{Version: ptx.Version{Major: 8}, SM: 90, Grid: 2, Block: ptx.Dim(64), Length: 100}
	list, err := randomPrograms(2, 7, shape)
	if err != nil {
		t.Fatal(err)
	}
	if shape.Features, err = fuzz.ParseFeatures("all"); err != nil {
		t.Fatal(err)
	}
	g, err := fuzz.New(shape)
	if err != nil {
		t.Fatal(err)
	}
	for i, l := range list {
		want, err := g.Program(7 + uint64(i)).Verify(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(want)
		result, err := l.Run(90, false)
		if err != nil || result.Buffers[1] != hex.EncodeToString(sum[:8]) {
			t.Errorf("%s leaves %+v, want %x: %v", l.Name, result, sum, err)
		}
	}
}
