package corpus

// This file makes programs from modules without a host program: launches with invented arguments. It finds out by
// trying which arguments are addresses.

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"path/filepath"
	"sync"

	"gemu/internal/cases"
	"gemu/interp"
	"gemu/probe"
	"gemu/ptx"
)

// RandomPrograms lists a program for each kernel of a module. Arguments, contents of buffers, and extents follow from
// the seed and the kernel's name.
func RandomPrograms(file string, m *ptx.Module, seed uint64) []*Program {
	var list []*Program
	for _, k := range m.Kernels() {
		name := fnv.New64a()
		name.Write([]byte(k.Name))
		u := &randomProgram{module: m, kernel: k, seed: [2]uint64{seed, name.Sum64()}}
		for i, p := range k.Params {
			if p.Size() == 8 && !p.Type.IsFloat() || p.Size() > 8 && p.Type.Size() <= 8 {
				for at := 0; at+8 <= min(p.Size(), maxSlots*8); at += 8 {
					u.slots = append(u.slots, slot{param: i, offset: at, address: p.IsPtr && p.PtrSpace != ptx.Shared})
				}
			}
		}
		u.program = &Program{File: filepath.Base(file), Name: k.Name, Block: u.block(), Width: 32}
		u.program.run = func(r *run) error {
			u.triedOnce.Do(u.findAddresses)
			return r.launch(u.module, u.launch(), func(dev *interp.Device, k *ptx.Func) ([]any, func() error, error) {
				args, buffers, err := u.arguments(dev, false)
				for _, b := range buffers {
					r.buffers = append(r.buffers, b)
				}
				return args, func() error { return nil }, err
			})
		}
		list = append(list, u.program)
	}
	return list
}

// randomProgram is a kernel with arguments to be invented.
type randomProgram struct {
	module    *ptx.Module
	kernel    *ptx.Func
	program   *Program
	seed      [2]uint64
	slots     []slot
	triedOnce sync.Once
}

// slot is eight bytes of a parameter, possibly an address.
type slot struct {
	param, offset int
	address       bool
}

const (
	maxSlots    = 64      // maximum number of slots of a parameter
	bufferBytes = 1 << 16 // after an address
	trySteps    = 1 << 12 // step limit of a trial run

	// In a trial run, slot i holds tagBase + i<<tagShift: no memory of a device is there.
	tagBase  = 0x7a << 56
	tagShift = 40
)

func (u *randomProgram) random() *rand.Rand { return rand.New(rand.NewPCG(u.seed[0], u.seed[1])) }

// block returns the size of CTAs: the size that the kernel requires, or at most its maximum.
func (u *randomProgram) block() cases.Extent {
	if _, ok := u.kernel.Directive(".reqntid"); ok {
		return requiredBlock(u.kernel)
	}
	n := []int{32, 48, 64, 128}[u.random().IntN(4)]
	if args, ok := u.kernel.Directive(".maxntid"); ok {
		maxThreads := 1
		for _, a := range args {
			var extent int
			fmt.Sscan(a, &extent)
			maxThreads *= extent
		}
		n = min(n, maxThreads)
	}
	return cases.Extent{n, 1, 1}
}

// launch makes a launch of two clusters, or two CTAs.
func (u *randomProgram) launch() *interp.Launch {
	grid := [3]int{2, 1, 1}
	if args, ok := u.kernel.Directive(".reqnctapercluster"); ok {
		for i, a := range args {
			fmt.Sscan(a, &grid[i])
		}
		grid[0] *= 2
	}
	return &interp.Launch{Kernel: u.kernel.Name, Grid: dim3(grid), Shared: 64 << 10}
}

// findAddresses finds the slots that are addresses: kernels access memory at their tags.
func (u *randomProgram) findAddresses() {
	for range u.slots {
		r := &run{program: u.program, stdout: fnv.New32a(), prepare: func(_ *interp.Module, l *interp.Launch) { l.Mode, l.MaxSteps = interp.Vector, trySteps }}
		r.launch(u.module, u.launch(), func(dev *interp.Device, k *ptx.Func) ([]any, func() error, error) {
			args, _, err := u.arguments(dev, true)
			return args, func() error { return nil }, err
		})
		var trap *probe.Trap
		if !errors.As(r.Err, &trap) {
			return
		}
		i := int((trap.Addr - tagBase + 1<<(tagShift-1)) >> tagShift)
		if i < 0 || i >= len(u.slots) || u.slots[i].address {
			return
		}
		u.slots[i].address = true
	}
}

// arguments makes buffers and small numbers, or tags instead of possible addresses.
func (u *randomProgram) arguments(dev *interp.Device, tags bool) (args []any, buffers []*interp.Buffer, err error) {
	random := u.random()
	data := make([][]byte, len(u.kernel.Params))
	for i, p := range u.kernel.Params {
		data[i] = make([]byte, p.Size())
		args = append(args, data[i])
		numbers(random, data[i], p.Type)
	}
	for i, s := range u.slots {
		d := data[s.param][s.offset:]
		switch {
		case s.address:
			b, err := interp.NewBuffer(dev, content(random))
			if err != nil {
				return nil, nil, err
			}
			buffers = append(buffers, b)
			binary.LittleEndian.PutUint64(d, b.Addr())
		case tags:
			binary.LittleEndian.PutUint64(d, tagBase+uint64(i)<<tagShift)
		case len(data[s.param]) > 8 && random.IntN(2) == 0: // two numbers
			binary.LittleEndian.PutUint32(d, 1+random.Uint32N(16))
			binary.LittleEndian.PutUint32(d[4:], 1+random.Uint32N(16))
		default:
			binary.LittleEndian.PutUint64(d, 1+random.Uint64N(64))
		}
	}
	return args, buffers, nil
}

// numbers fills a parameter with small numbers of its type.
func numbers(random *rand.Rand, data []byte, t ptx.Type) {
	size := max(t.Size(), 1)
	for at := 0; at+size <= len(data); at += size {
		switch v := 1 + random.Uint64N(64); {
		case t == ptx.F32:
			binary.LittleEndian.PutUint32(data[at:], math.Float32bits(float32(v)/16))
		case t == ptx.F64:
			binary.LittleEndian.PutUint64(data[at:], math.Float64bits(float64(v)/16))
		default:
			data[at] = byte(v)
		}
	}
}

// content returns the initial content of a buffer: small integers of 32 or 64 bits, numbers of f32 or f16, or bytes.
func content(random *rand.Rand) []byte {
	data := make([]byte, bufferBytes)
	kind := random.IntN(5)
	for at := 0; at < len(data); at += 8 {
		v := random.Uint64()
		switch kind {
		case 0:
			v &= 0x0000001f_0000001f
		case 1:
			v &= 0x3f
		case 2:
			v = v&0x807fffff_807fffff | 0x3f000000_3f000000
		case 3:
			v = v&0x83ff83ff83ff83ff | 0x3800380038003800
		}
		binary.LittleEndian.PutUint64(data[at:], v)
	}
	return data
}
