package corpus

// This file makes further launches for GPUs: more than are recorded with the repository.

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"gemu/interp"
	"gemu/interp/fuzz"
	"gemu/ptx"
)

// Vary lists n variations of each launch whose kernel makes its operands of a seed, as those of
// matrices do: of a third all bits of factors are random, and of another those of the
// accumulator, too; else they are masked as they were.
func Vary(list []*Launch, n int) (varied []*Launch, err error) {
	random := rand.New(rand.NewPCG(1, 0))
	for _, l := range list {
		m, err := ptx.ParseString(l.Module, l.Source)
		if err != nil {
			return nil, err
		}
		at := slices.IndexFunc(m.Kernels(), func(k *ptx.Func) bool { return k.Name == l.Kernel })
		if at < 0 {
			return nil, fmt.Errorf("%s: no kernel %s", l.Module, l.Kernel)
		}
		k := m.Kernels()[at]
		if len(k.Params) == 0 || k.Params[0].Name != "seed" {
			continue
		}
		for i := range n {
			one := *l
			one.Args = append([]Arg{}, l.Args...)
			set := func(at int, v uint32) {
				one.Args[at] = Arg{Bytes: binary.LittleEndian.AppendUint32(nil, v), Buffer: -1}
			}
			set(0, random.Uint32())
			for at, p := range k.Params {
				matrix, and := strings.CutSuffix(p.Name, "and")
				matrix, or := strings.CutSuffix(matrix, "or")
				factors := matrix == "a" || matrix == "b" || matrix == "s"
				switch all := i%3 == 1 && factors || i%3 == 2 && (factors || matrix == "c" || matrix == "d"); {
				case all && and:
					set(at, 1<<32-1)
				case all && or:
					set(at, 0)
				}
			}
			one.Name = fmt.Sprintf("%s, variation %d", l.Name, i)
			if err := one.identify(); err != nil {
				return nil, err
			}
			varied = append(varied, &one)
		}
	}
	return varied, nil
}

// Random lists the launches of n random programs (package fuzz), from a seed on, for GPUs of generation sm.
func Random(n int, seed uint64, sm int) (list []*Launch, err error) {
	features, err := fuzz.ParseFeatures("all")
	if err != nil {
		return nil, err
	}
	g, err := fuzz.New(fuzz.Options{Features: features, Version: ptx.Version{Major: 8}, SM: sm, Grid: 2, Block: interp.Dim(64), Length: 100})
	if err != nil {
		return nil, err
	}
	for i := range uint64(n) {
		p := g.Program(seed + i)
		if _, err := p.Verify(context.Background()); err != nil {
			return nil, err
		}
		name := fmt.Sprintf("random program %d", p.Seed)
		one := &Launch{
			Name: name, Module: name, Source: p.Source, Kernel: fuzz.Kernel, Grid: extent(p.Grid), Block: extent(p.Block),
			Buffers: [][]byte{p.In, make([]byte, p.OutBytes)},
			Args: []Arg{
				{Buffer: 0}, {Buffer: 1}, {Bytes: binary.LittleEndian.AppendUint32(nil, fuzz.ArgN), Buffer: -1},
				{Bytes: binary.LittleEndian.AppendUint64(nil, fuzz.ArgM), Buffer: -1},
			},
		}
		if err := one.identify(); err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	return list, nil
}
