package main

import (
	"context"
	"encoding/binary"
	"fmt"

	"gemu/fuzz"
	"gemu/internal/corpus"
)

// randomPrograms lists the launches of n random programs (package fuzz) with all features, for the seeds from seed on.
func randomPrograms(n int, seed uint64, o fuzz.Options) (list []*corpus.Launch, err error) {
	if o.Features, err = fuzz.ParseFeatures("all"); err != nil {
		return nil, err
	}
	g, err := fuzz.New(o)
	if err != nil {
		return nil, err
	}
	for i := range uint64(n) {
		p := g.Program(seed + i)
		if _, err := p.Verify(context.Background()); err != nil {
			return nil, err
		}
		name := fmt.Sprintf("random program %d", p.Seed)
		launch := &corpus.Launch{
			Name: name, Module: name, Source: p.Source, Kernel: fuzz.Kernel, Grid: [3]int{p.Grid.X, p.Grid.Y, p.Grid.Z}, Block: [3]int{p.Block.X, p.Block.Y, p.Block.Z},
			Buffers: [][]byte{p.Input, make([]byte, p.OutBytes)},
			Args: []corpus.Arg{
				{Buffer: 0}, {Buffer: 1}, {Bytes: binary.LittleEndian.AppendUint32(nil, fuzz.ArgN), Buffer: -1},
				{Bytes: binary.LittleEndian.AppendUint64(nil, fuzz.ArgM), Buffer: -1},
			},
		}
		if err := launch.Identify(); err != nil {
			return nil, err
		}
		list = append(list, launch)
	}
	return list, nil
}
