package corpus

// This file takes programs apart into launches that somebody else can run: a GPU above all.
// testdata/hw/record.py does, and writes down what they leave.

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"gemu/interp"
	"gemu/ptx"
)

// Launch is a launch with all that goes into it.
type Launch struct {
	ID          string   `json:"id"`     // a hash of all that goes into it, in hexadecimal
	Name        string   `json:"name"`   // the program, and which of its launches
	Module      string   `json:"module"` // its file: see Program.File
	Kernel      string   `json:"kernel"`
	Grid        [3]int   `json:"grid"`
	Block       [3]int   `json:"block"`
	Shared      int      `json:"shared"` // dynamic, in bytes
	Cooperative bool     `json:"cooperative"`
	Cluster     [3]int   `json:"cluster,omitzero"` // CTAs of one; none: zero
	Args        []Arg    `json:"args"`
	Buffers     [][]byte `json:"buffers"` // what is in them

	source string
}

// Arg is an argument: bytes, or the address of a buffer.
type Arg struct {
	Bytes  []byte `json:"bytes,omitempty"`
	Buffer int    `json:"buffer"` // -1: bytes
}

// Left is what a launch has left in its buffers.
type Left struct {
	ID      string   `json:"id"`
	Name    string   `json:"name"`
	Buffers []string `json:"buffers,omitempty"` // SHA-256 of each, the first half, in hexadecimal
	Error   string   `json:"error,omitempty"`   // instead
}

// Launches lists the launches of the programs that run without a trap, in warps of 32 lanes,
// and the sources of their modules.
func Launches(testdata string) (list []*Launch, sources map[string]string, err error) {
	programs, err := Programs(testdata)
	if err != nil {
		return nil, nil, err
	}
	return launchesOf(programs)
}

func launchesOf(programs []*Program) (list []*Launch, sources map[string]string, err error) {
	sources = map[string]string{}
	for _, p := range programs {
		if p.Width != 32 {
			continue
		}
		var of []*Launch
		o := p.RunModule(func(m *interp.Module, l *interp.Launch) {
			if usesTextures(m, l) {
				return // they are nothing that bytes describe
			}
			one, e := launchOf(p, len(of), m, l)
			if e != nil {
				err = e
				return
			}
			of = append(of, one)
		})
		if err != nil {
			return nil, nil, err
		}
		if o.Err != nil {
			continue
		}
		for _, l := range of {
			sources[l.Module] = l.source
		}
		list = append(list, of...)
	}
	return list, sources, nil
}

// usesTextures reports whether textures, surfaces or samplers are among what a launch is given.
func usesTextures(m *interp.Module, l *interp.Launch) bool {
	isObject := func(a any) bool { _, ok := a.(*interp.Object); return ok }
	return slices.ContainsFunc(l.Args, isObject) || slices.ContainsFunc(m.Vars(), func(v *ptx.Var) bool { return v.Type.Kind() == ptx.Opaque })
}

// launchOf copies a launch that is about to begin.
func launchOf(p *Program, n int, m *interp.Module, l *interp.Launch) (*Launch, error) {
	k, err := m.Kernel(l.Kernel)
	if err != nil {
		return nil, err
	}
	one := &Launch{
		Name: fmt.Sprintf("%v #%d", p, n), Module: p.File, Kernel: k.Name, Grid: extent(l.Grid), Block: extent(l.Block),
		Shared: l.Shared, Cooperative: l.Cooperative, Cluster: extent(l.Cluster), source: m.Source(),
	}
	index := map[*interp.Buffer]int{}
	for i, a := range l.Args {
		b, ok := a.(*interp.Buffer)
		if !ok {
			bytes, err := interp.ArgBytes(k.Params[i], a)
			if err != nil {
				return nil, err
			}
			one.Args = append(one.Args, Arg{Bytes: bytes, Buffer: -1})
			continue
		}
		if _, ok := index[b]; !ok {
			index[b] = len(one.Buffers)
			one.Buffers = append(one.Buffers, append([]byte{}, b.Bytes()...))
		}
		one.Args = append(one.Args, Arg{Buffer: index[b]})
	}
	all, err := json.Marshal([]any{one.source, one.Kernel, one.Grid, one.Block, one.Shared, one.Cooperative, one.Cluster, one.Args, one.Buffers})
	if err != nil {
		return nil, err
	}
	one.ID = digest32(all)
	return one, nil
}

func extent(d interp.Dim3) [3]int { return [3]int{d.X, d.Y, d.Z} }

// Run runs the launch by itself, on a new device of generation sm, 0 for the default.
func (l *Launch) Run(sm int) (*Left, error) {
	dev := interp.NewDevice(interp.Config{Workers: 1, SM: sm})
	m, err := dev.Load(l.Module, []byte(l.source))
	if err != nil {
		return nil, err
	}
	buffers := make([]*interp.Buffer, len(l.Buffers))
	for i, data := range l.Buffers {
		if buffers[i], err = interp.NewBuffer(dev, data); err != nil {
			return nil, err
		}
	}
	args := make([]any, len(l.Args))
	for i, a := range l.Args {
		if args[i] = a.Bytes; a.Buffer >= 0 {
			args[i] = buffers[a.Buffer]
		}
	}
	_, err = m.Run(context.Background(), &interp.Launch{
		Kernel: l.Kernel, Grid: interp.Dim(l.Grid[:]...), Block: interp.Dim(l.Block[:]...), Shared: l.Shared, Cooperative: l.Cooperative, Cluster: dim3(l.Cluster), Args: args,
	})
	if err != nil {
		return nil, err
	}
	left := &Left{ID: l.ID, Name: l.Name}
	for _, b := range buffers {
		left.Buffers = append(left.Buffers, digest32(b.Bytes()))
	}
	return left, nil
}

// digest32 is the first half of a hash, in 32 hexadecimal digits.
func digest32(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16])
}
