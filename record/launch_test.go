package record

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"gemu/interp"
	"gemu/probe"
	"gemu/profile"
	"gemu/ptx"
	"gemu/texture"
	"gemu/trace"
)

// header is the head of a module.
const header = ".version 8.0\n.target sm_80\n.address_size 64\n"

// variables has parameters and variables in all state spaces, and a function with a frame.
const variables = header + `
.global .align 4 .u32 counter = 7;
.global .align 4 .u32 unnamed;
.const .align 8 .f64 scale[2] = {0d3FF0000000000000, 0d4000000000000000};
.shared .align 4 .b8 flag[3];
.extern .shared .align 16 .b8 dynamic[];

.func (.param .u32 r) twice(.param .u32 x)
{
	.local .align 8 .b8 spare[8];
	.reg .u32 %v;
	.reg .u64 %a;
	ld.param.u32 %v, [x];
	add.u32 %v, %v, %v;
	mov.u64 %a, spare;
	st.local.u32 [%a], %v;
	ld.local.u32 %v, [%a];
	st.param.u32 [r], %v;
	ret;
}

.visible .entry k(.param .u8 small, .param .u64 .ptr .global .align 4 p, .param .f32 f, .param .align 4 .b8 pair[12])
{
	.shared .align 8 .b64 words[4];
	.reg .u32 %v, %a, %t;
	.reg .f64 %d;
	.param .u32 x;
	.param .u32 r;
	mov.u32 %t, %tid.x;
	st.param.u32 [x], %t;
	call (r), twice, (x);
	ld.param.u32 %v, [r];
	st.shared.u32 [words], %v;
	ld.shared.u8 %v, [flag+2];
	mov.u32 %a, dynamic;
	st.shared.u32 [%a], %v;
	ld.global.u32 %v, [counter];
	ld.const.f64 %d, [scale+8];
	ret;
}
`

// launchVariables runs the kernel of variables.
func launchVariables(m *interp.Module) error {
	_, err := m.Run(context.Background(), &interp.Launch{Grid: ptx.Dim(2), Block: ptx.Dim(3), Shared: 4, Args: []any{0, uint64(0), 0, make([]byte, 12)}})
	return err
}

// TestLaunch: a recording has the arguments of a launch, its settings, and the places of its variables, which follow from the
// declarations: variables lie in order, each at a multiple of its alignment (PTX manual, 5.1), and dynamic shared memory after the
// static variables.
func TestLaunch(t *testing.T) {
	var counter, scale uint64
	f := opened(t, recorded(t, Options{}, func(dev *interp.Device) error {
		m, err := dev.Load("test.ptx", []byte(variables))
		if err != nil {
			return err
		}
		for name, to := range map[string]*uint64{"counter": &counter, "scale": &scale} {
			*to = m.Var(name).Addr()
		}
		pair := []byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}
		_, err = m.Run(context.Background(), &interp.Launch{
			Grid: ptx.Dim(2), Block: ptx.Dim(5), Shared: 100, Args: []any{200, uint64(0x1234), 1.5, pair},
			Cooperative: true, Seed: 9, MaxSteps: 1000, EagerEffects: true, WarpSize: 4,
		})
		return err
	}))
	launches, list := all[LaunchRow](t, f), all[VariableRow](t, f)
	if len(launches) != 1 {
		t.Fatalf("%d launches", len(launches))
	}
	l := launches[0]
	// flag takes bytes 0 to 2, words 8 to 39; 48 is the next multiple of 16, from which dynamic takes 100 bytes.
	want := LaunchRow{
		Kernel: "k", File: "test.ptx", GridX: 2, GridY: 1, GridZ: 1, BlockX: 5, BlockY: 1, BlockZ: 1, ClusterX: 1, ClusterY: 1, ClusterZ: 1,
		WarpSize: 4, Reconverge: "auto", Shared: 100, SharedBytes: 148, SM: interp.DefaultSM, Cooperative: 1, Seed: 9, MaxSteps: 1000, EagerEffects: 1,
		Variables: 14, Instructions: 18, Blocks: 2,
	}
	if l != want {
		t.Errorf("got  %+v\nwant %+v", l, want)
	}
	var got []string
	for _, v := range list[l.FirstVariable:][:l.Variables] {
		got = append(got, fmt.Sprintf("%s/%s %s %s %d bytes at %d, align %d: %s", v.Function, v.Name, v.Space, v.Type, v.Bytes, v.Offset, v.Align, v.Declaration))
	}
	wantVariables := []string{
		fmt.Sprintf("/counter global .u32 4 bytes at %d, align 4: .global .align 4 .u32 counter", counter),
		fmt.Sprintf("/scale const .f64 16 bytes at %d, align 8: .const .align 8 .f64 scale[2]", scale),
		"/flag shared .b8 3 bytes at 0, align 4: .shared .align 4 .b8 flag[3]",
		"k/words shared .b64 32 bytes at 8, align 8: .shared .align 8 .b64 words[4]",
		"/dynamic shared .b8 0 bytes at 48, align 16: .extern .shared .align 16 .b8 dynamic[]",
		"k/x param .u32 4 bytes at 0, align 4: .param .u32 x",
		"k/r param .u32 4 bytes at 4, align 4: .param .u32 r",
		"twice/x param .u32 4 bytes at 0, align 4: .param .u32 x",
		"twice/r param .u32 4 bytes at 4, align 4: .param .u32 r",
		"twice/spare local .b8 8 bytes at 8, align 8: .local .align 8 .b8 spare[8]",
		"k/small param .u8 1 bytes at 0, align 1: .param .u8 small",
		"k/p param .u64 8 bytes at 8, align 8: .param .u64 .ptr .global .align 4 p",
		"k/f param .f32 4 bytes at 16, align 4: .param .f32 f",
		"k/pair param .b8 12 bytes at 20, align 4: .param .align 4 .b8 pair[12]",
	}
	if !slices.Equal(got, wantVariables) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(wantVariables, "\n"))
	}
	data := bytesOf(all[DataRow](t, f))
	got = nil
	for _, a := range all[ArgumentRow](t, f) {
		v := list[a.Variable]
		got = append(got, fmt.Sprintf("%d %s %#x %x", a.Launch, v.Name, a.Value, data[a.Data:][:v.Bytes]))
	}
	wantArguments := []string{"0 small 0xc8 c8", "0 p 0x1234 3412000000000000", "0 f 0x3fc00000 0000c03f", "0 pair 0x0 0102030405060708090a0b0c"}
	if !slices.Equal(got, wantArguments) {
		t.Errorf("got  %q\nwant %q", got, wantArguments)
	}
}

// bytesOf returns the bytes of the table data.
func bytesOf(list []DataRow) (b []byte) {
	for _, d := range list {
		b = append(b, d.Byte)
	}
	return b
}

// TestFrames: a variable in the frame of a function lies at the offset of the variable from the frame of the event.
func TestFrames(t *testing.T) {
	f := opened(t, recorded(t, Options{Contents: Contents{Accesses: true}}, func(dev *interp.Device) error {
		m, err := dev.Load("test.ptx", []byte(variables))
		if err != nil {
			return err
		}
		return launchVariables(m)
	}))
	events, list, instructions := all[EventRow](t, f), all[VariableRow](t, f), all[InstructionRow](t, f)
	parameters := int(all[ArgumentRow](t, f)[0].Variable) // rows from here on are parameters of the kernel
	var got []string
	for _, a := range all[AccessRow](t, f) {
		e := events[a.Event]
		for _, v := range list {
			function := instructions[e.Instruction].Function
			if e.CTA == 0 && a.Space == Local && v.Function == function && uint64(e.Frame)+v.Offset == a.Base && slices.Index(list, v) < parameters {
				got = append(got, fmt.Sprintf("%s %s.%s", a.Kind, v.Function, v.Name))
			}
		}
	}
	if want := []string{"store k.x", "load twice.x", "store twice.spare", "load twice.spare", "store twice.r", "load k.r"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// memory is the memory of a launch that a replay computes, by thread or CTA and address.
type memory map[Space]map[[2]uint64]byte

func (m memory) write(s Space, owner, addr uint64, b []byte) {
	if m[s] == nil {
		m[s] = map[[2]uint64]byte{}
	}
	for i, x := range b {
		m[s][[2]uint64{owner, addr + uint64(i)}] = x
	}
}

func (m memory) read(s Space, owner, addr, n uint64) uint64 {
	var b [8]byte
	for i := range n {
		b[i] = m[s][[2]uint64{owner, addr + i}]
	}
	return binary.LittleEndian.Uint64(b[:])
}

// ownerOf returns the CTA or thread to which memory of a state space belongs.
func ownerOf(e *EventRow, s Space, lane int) uint64 {
	switch s {
	case Shared:
		return uint64(e.CTA)
	case Local:
		return 1<<40 + uint64(e.CTA)<<20 + uint64(e.Warp)<<6 + uint64(lane)
	}
	return 0
}

// replay computes the memory of the launches of a recording from its images, arguments, stores, atomic additions and writes. It
// returns the number of loaded elements in each state space, and the elements that differ from the recorded results.
func replay(t *testing.T, f *File) (loaded map[Space]int, wrong []string) {
	t.Helper()
	loaded = map[Space]int{}
	instructions, registers, allocations, list := all[InstructionRow](t, f), all[RegisterRow](t, f), all[AllocationRow](t, f), all[VariableRow](t, f)
	values, data, writes := all[ValueRow](t, f), bytesOf(all[DataRow](t, f)), all[WriteRow](t, f)
	results, accesses, stores := all[ResultRow](t, f), all[AccessRow](t, f), all[StoreRow](t, f)
	images, arguments := all[ImageRow](t, f), all[ArgumentRow](t, f)
	var m memory
	launch := -1
	row := uint64(0)
	for i, e := range all[EventRow](t, f) {
		if launch < int(e.Launch) {
			launch, m = int(e.Launch), memory{}
			for _, x := range images {
				if x.Launch == e.Launch {
					space := Global
					if a := &allocations[x.Allocation]; a.Kind == "constant" {
						space = Const
					}
					m.write(space, 0, allocations[x.Allocation].Base, data[x.Data:][:x.Bytes])
				}
			}
			for _, a := range arguments {
				if v := &list[a.Variable]; a.Launch == e.Launch {
					m.write(Param, 0, v.Offset, data[a.Data:][:v.Bytes])
				}
			}
		}
		var destinations []ResultRow
		for ; len(results) > 0 && results[0].Event == uint64(i); results = results[1:] {
			destinations = append(destinations, results[0])
		}
		for ; len(accesses) > 0 && accesses[0].Event == uint64(i); accesses, row = accesses[1:], row+1 {
			a := &accesses[0]
			opcode := strings.Fields(strings.TrimLeft(instructions[e.Instruction].Text, "@!"))
			if strings.HasPrefix(instructions[e.Instruction].Text, "@") {
				opcode = opcode[1:]
			}
			addresses := lanesOf(values, a.Class, a.Base, a.Stride, a.Values, a.Lanes)
			for ; len(writes) > 0 && writes[0].Access == row; writes = writes[1:] {
				m.write(a.Space, ownerOf(&e, a.Space, 0), a.Base, data[writes[0].Data:][:writes[0].Bytes])
			}
			// A call copies its arguments to the frame of the callee, and its results back, without accesses.
			isOfCall := a.Space == Local && strings.HasPrefix(opcode[0], "ld.param")
			if a.Kind == Load && strings.HasPrefix(opcode[0], "ld.") && len(destinations) > 0 && !isOfCall {
				size := uint64(a.Bytes) / uint64(len(destinations))
				for k, r := range destinations {
					got := lanesOf(values, r.Class, r.Base, r.Stride, r.Values, r.Lanes)
					for lane, addr := range addresses {
						loaded[a.Space]++
						want := m.read(a.Space, ownerOf(&e, a.Space, lane), addr+uint64(k)*size, size)
						if mask := uint64(math.MaxUint64) >> (64 - 8*size); got[lane]&mask != want {
							wrong = append(wrong, fmt.Sprintf("event %d, %s, lane %d: %s is %#x, memory has %#x", i, instructions[e.Instruction].Text, lane, registers[r.Register].Name, got[lane]&mask, want))
						}
					}
				}
			}
			offset := uint64(0)
			for ; len(stores) > 0 && stores[0].Access == row; stores = stores[1:] {
				s := &stores[0]
				size := uint64(s.Bits) / 8
				stored := lanesOf(values, s.Class, s.Base, s.Stride, s.Values, a.Lanes)
				for _, lane := range slices.Sorted(maps.Keys(addresses)) {
					v, owner, addr := stored[lane], ownerOf(&e, a.Space, lane), addresses[lane]+offset
					if a.Kind == Atomic {
						if !strings.Contains(opcode[0], ".add.") {
							t.Fatalf("%s is no addition", opcode[0])
						}
						v += m.read(a.Space, owner, addr, size)
					}
					var b [8]byte
					binary.LittleEndian.PutUint64(b[:], v)
					m.write(a.Space, owner, addr, b[:size])
				}
				offset += size
			}
		}
	}
	return loaded, wrong
}

// lanesOf returns the value of each lane of a row.
func lanesOf(values []ValueRow, class Class, base uint64, stride int64, first, lanes uint64) map[int]uint64 {
	list := map[int]uint64{}
	for lane := range 64 {
		if lanes>>lane&1 == 0 {
			continue
		}
		switch class {
		case Affine:
			list[lane] = base + uint64(lane)*uint64(stride)
		case Generic:
			list[lane] = values[first].Low
			first++
		default:
			list[lane] = base
		}
	}
	return list
}

// TestReplay: every load of a recording has the value that images, arguments, and earlier stores, atomic additions and asynchronous
// writes leave in memory, if shared and local memory begin as zeros. So a program can follow memory without the machine.
func TestReplay(t *testing.T) {
	for name, c := range map[string]struct {
		run    func(dev *interp.Device) error
		spaces []Space // in which there must be loads
	}{
		"histogram":            {workload("histogram", 500, nil), []Space{Global, Shared, Param}},
		"transpose":            {workload("transpose", 32, nil), []Space{Global, Shared, Param}},
		"reduce":               {workload("reduce", 300, nil), []Space{Global, Shared, Param}},
		"an asynchronous copy": {kernel(asynchronous, 1, ""), []Space{Shared, Param}},
		"nqueens":              {workload("nqueens", 6, nil), []Space{Param}},
		"variables": {func(dev *interp.Device) error {
			m, err := dev.Load("test.ptx", []byte(variables))
			if err != nil {
				return err
			}
			return launchVariables(m)
		}, []Space{Global, Shared, Const, Local}},
	} {
		loaded, wrong := replay(t, opened(t, recorded(t, Options{Contents: Contents{true, true, true, true, true}}, c.run)))
		for _, s := range c.spaces {
			if loaded[s] == 0 {
				t.Errorf("%s: no loads in the space %s", name, s)
			}
		}
		if len(wrong) > 0 {
			t.Errorf("%s: %d wrong elements: %s", name, len(wrong), strings.Join(wrong[:min(len(wrong), 5)], "\n"))
		}
	}
}

// texels fetches a texture between its texels, and loads and stores a surface.
const texels = header + `
.visible .entry k(.param .u64 picture, .param .u64 surface)
{
	.reg .u64 %t, %s;
	.reg .u32 %i, %x, %v;
	.reg .f32 %f<5>;
	ld.param.u64 %t, [picture];
	ld.param.u64 %s, [surface];
	mov.u32 %i, %tid.x;
	shl.b32 %x, %i, 2;
	add.u32 %v, %i, 1;
	cvt.rn.f32.u32 %f0, %v;
	tex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%t, {%f0}];
	suld.b.1d.b32.trap %v, [%s, {%x}];
	sust.b.1d.b32.trap [%s, {%x}], %i;
	ret;
}`

// fetchAndStore returns a run of a module such as texels, which sets the addresses of the arrays of the texture and of the surface.
func fetchAndStore(module string, picture, surface *uint64) func(dev *interp.Device) error {
	return func(dev *interp.Device) error {
		m, err := dev.Load("test.ptx", []byte(module))
		if err != nil {
			return err
		}
		image := texture.Image{Geometry: texture.Image1D, Format: texture.Format{Channels: 1, Bits: 32, Kind: texture.Float}, Width: 4}
		a, err := dev.NewArray("picture", image)
		if err != nil {
			return err
		}
		b, err := dev.NewArray("answers", image)
		if err != nil {
			return err
		}
		*picture, *surface = a.Addr(), b.Addr()
		sampler := texture.DefaultSampler()
		sampler.Linear = true
		fetched, err := dev.NewTexture(interp.TextureDesc{Array: a, Sampler: sampler})
		if err != nil {
			return err
		}
		stored, err := dev.NewSurface("answers", b, 0, false)
		if err != nil {
			return err
		}
		_, err = m.Launch(context.Background(), "k", ptx.Dim(1), ptx.Dim(4), fetched, stored)
		return err
	}
}

// TestTexels: a fetch with a linear filter at i+1 reads texels i and i+1, or the last one twice (CUDA C++ Programming Guide,
// "Linear Filtering": between texels floor(x-0.5) and the next). Accesses of surfaces are in a space of their own. Neither has
// sectors, as in profiles.
func TestTexels(t *testing.T) {
	var picture, surface uint64
	run := fetchAndStore(texels, &picture, &surface)
	p := profile.New()
	f := opened(t, recorded(t, Options{Contents: Contents{Accesses: true}}, run, p))
	var got []string
	values, allocations := all[ValueRow](t, f), all[AllocationRow](t, f)
	for _, a := range all[AccessRow](t, f) {
		if a.Space == Param {
			continue
		}
		base, name := picture, "nothing"
		if a.Space == Surface {
			base = surface
		}
		if a.Allocation >= 0 {
			name = allocations[a.Allocation].Name
		}
		line := fmt.Sprintf("%s %s of %s, %d bytes, %d sectors:", a.Kind, a.Space, name, a.Bytes, a.Sectors)
		lanes := lanesOf(values, a.Class, a.Base, a.Stride, a.Values, a.Lanes)
		for _, lane := range slices.Sorted(maps.Keys(lanes)) {
			line += fmt.Sprintf(" %d", (lanes[lane]-base)/4)
		}
		got = append(got, line)
	}
	want := []string{
		"load texture of picture, 4 bytes, 0 sectors: 0 1 2 3", "load texture of picture, 4 bytes, 0 sectors: 1 2 3 3",
		"load surface of answers, 4 bytes, 0 sectors: 0 1 2 3", "store surface of answers, 4 bytes, 0 sectors: 0 1 2 3",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if total := p.Profile().Total(); total.Global.Sectors != 0 || total.Texture != 3 {
		t.Errorf("the profile has %d sectors and %d requests of textures and surfaces", total.Global.Sectors, total.Texture)
	}
	// The texels of a fetch that the filter leaves out do not appear at the next instruction.
	load := uint64(1 + strings.Count(texels[:strings.Index(texels, "suld")], "\n"))
	f = opened(t, recorded(t, Options{Contents: Contents{Accesses: true}, Filter: trace.Filter{Lines: trace.Ranges{{From: load, To: load}}}}, run))
	if list := all[AccessRow](t, f); len(list) != 1 || list[0].Space != Surface {
		t.Errorf("accesses of line %d: %+v", load, list)
	}
}

// TestDevices: a recorder of two devices gives each a number, and a launch has the memory images of its own device only.
// Launches of two devices may run at the same time.
func TestDevices(t *testing.T) {
	var b bytes.Buffer
	r, err := NewRecorder(&b, Options{Contents: Contents{true, true, true, true, true}})
	if err != nil {
		t.Fatal(err)
	}
	// The launches of both devices run in turns, three instructions at a time.
	type run struct {
		module *interp.Module
		buffer *interp.Buffer
		launch *interp.Execution
	}
	runs := []*run{{}, {}}
	for i, sm := range []int{interp.DefaultSM, 90} {
		dev := interp.NewDevice(interp.Config{Probes: []probe.Probe{r}, SM: sm})
		if runs[i].module, err = dev.Load("test.ptx", []byte(header+nested)); err != nil {
			t.Fatal(err)
		}
		if runs[i].buffer, err = dev.Alloc(64); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		for _, x := range runs {
			if x.launch, err = x.module.Start(&interp.Launch{Grid: ptx.Dim(1), Block: ptx.Dim(32), Args: []any{x.buffer}}); err != nil {
				t.Fatal(err)
			}
		}
		running := len(runs)
		for step := int64(3); running > 0; step += 3 {
			for _, x := range runs {
				if x.launch == nil {
					continue
				}
				ended, err := x.launch.ContinueTo(context.Background(), step)
				if err != nil {
					t.Fatal(err)
				}
				if ended {
					x.launch, running = nil, running-1
				}
			}
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	f := opened(t, b.Bytes())
	launches, allocations := all[LaunchRow](t, f), all[AllocationRow](t, f)
	deviceOf := map[uint16]uint32{}
	count := map[uint32]int{}
	for _, l := range launches {
		deviceOf[l.SM] = l.Device
		count[l.Device]++
	}
	if len(launches) != 6 || count[0] != 3 || count[1] != 3 || deviceOf[interp.DefaultSM]+deviceOf[90] != 1 {
		t.Errorf("launches by device: %v; devices by compute capability: %v", count, deviceOf)
	}
	images := map[uint32]int{}
	for _, x := range all[ImageRow](t, f) {
		if images[x.Launch]++; allocations[x.Allocation].Device != launches[x.Launch].Device {
			t.Errorf("launch %d of device %d has an image of %+v", x.Launch, launches[x.Launch].Device, allocations[x.Allocation])
		}
	}
	for i := range launches {
		if images[uint32(i)] != 1 {
			t.Errorf("launch %d has %d images, want that of its buffer", i, images[uint32(i)])
		}
	}
	// Every launch has the events of a launch alone: its steps count its own instructions.
	alone := all[EventRow](t, opened(t, recorded(t, Options{}, kernel(nested, 32, ""))))
	byLaunch := map[uint32][]EventRow{}
	for _, e := range all[EventRow](t, f) {
		l := &launches[e.Launch]
		for _, i := range []*int32{&e.Instruction, &e.Reconverge} {
			if *i >= 0 {
				*i -= int32(l.FirstInstruction)
			}
		}
		launch := e.Launch
		e.Launch = 0
		byLaunch[launch] = append(byLaunch[launch], e)
	}
	for launch, list := range byLaunch {
		if !slices.Equal(list, alone) {
			t.Errorf("launch %d has other events than a launch alone", launch)
		}
	}
}
