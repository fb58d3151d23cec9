package machine

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"gemu/internal/part"
	"gemu/interp"
	"gemu/kernels"
	"gemu/machine/stream"
	"gemu/probe"
	"gemu/ptx"
)

// transferred counts the transfers of a machine, and those whose bytes are unknown.
type transferred struct{ all, unknown int }

func (n *transferred) watch(m *Machine) {
	m.OnTransfer(func(t *Transfer) {
		n.all++
		if !t.Bytes(new(stream.Line)) {
			n.unknown++
		}
	})
}

// replacesMap reports whether a program has tensormap.replace, which writes memory without an access.
func replacesMap(p probe.Program) bool {
	for i := range p.Len() {
		if instr, _ := p.At(i); strings.HasPrefix(instr.Text, "tensormap.replace") {
			return true
		}
	}
	return false
}

// TestImageOfPrograms: at the end of each launch, the image is equal to the memory of the execution.
func TestImageOfPrograms(t *testing.T) {
	part.SkipShort(t)
	var mu sync.Mutex
	var total ImageCounts
	t.Cleanup(func() {
		if part.TrySample() && total.Loads == 0 {
			t.Errorf("the programs have %+v", total)
		}
	})
	for _, p := range programs(t, 1024, 128, 4) {
		t.Run(p.String(), func(t *testing.T) {
			t.Parallel()
			spec := small
			spec.WholeLines = true
			m := New(spec, 0)
			r := stream.NewDataRecorder(m)
			p.Run(func(l *interp.Launch) { l.Probes = []probe.Probe{r} })
			for _, l := range m.Launches() {
				if l.Image.Different != 0 && l.Image.Changed == 0 && !replacesMap(l.Program) { // loops that wait for other threads need the order of the execution
					t.Errorf("%s: %+v", l.Kernel.Name, l.Image)
				}
				mu.Lock()
				total.Add(&l.Image)
				mu.Unlock()
			}
		})
	}
}

// TestImageOfWorkloads: no load of these kernels would have seen another value, and the image is equal to memory at the end. All transferred lines are known.
func TestImageOfWorkloads(t *testing.T) {
	part.SkipShort(t)
	for name, size := range map[string]int{"backprop": 256, "nw": 64, "transpose": 256, "histogram": 1 << 14, "reduce": 1 << 14, "dither": 32} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := small
			spec.WholeLines = true
			m := New(spec, 0)
			var n transferred
			n.watch(m)
			d := interp.NewDevice(interp.Config{Probes: []probe.Probe{stream.NewDataRecorder(m)}})
			defer d.Close()
			s, err := kernels.Start(t.Context(), kernels.Lookup(name), d, size)
			if err != nil {
				t.Fatal(err)
			}
			s.Prepare = func(l *interp.Launch) { l.Mode = interp.Vector }
			if err := kernels.Lookup(name).Run(s); err != nil {
				t.Fatal(err)
			}
			var total ImageCounts
			for _, l := range m.Launches() {
				total.Add(&l.Image)
			}
			if total.Loads == 0 || total.Different != 0 || total.Unknown != 0 || total.Changed != 0 || n.all == 0 || n.unknown != 0 {
				t.Errorf("%+v, %+v", total, n)
			}
		})
	}
}

// TestOrderOfImage has kernels whose results depend on the order of warps. A warp of 64 threads' CTA takes many steps to its store; the
// other warp waits for it, with and without a clock: in a loop that reads shared memory, for which neither machine waits; at the barrier of the
// cluster, for which the machine with a clock waits; or at a barrier of the CTA, where both have the order of the execution.
func TestOrderOfImage(t *testing.T) {
	const begin = `.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out) {
	.reg .u32 %t, %i, %x;
	.reg .u64 %a;
	.reg .pred %p, %late;
	.reg .b16 %h;
	.shared .align 4 .u32 flag;
	ld.param.u64 %a, [out];
	mov.u32 %t, %tid.x;
	setp.ge.u32 %p, %t, 32;
	@%p bra second;
	mov.u32 %i, 100;
loop:	sub.u32 %i, %i, 1;
	setp.ne.u32 %late, %i, 0;
	@%late bra loop;
`
	for _, c := range []struct {
		name, first, second string
		want                ImageCounts
	}{
		{"different lines", "st.global.u32 [%a], 1;", "st.global.u32 [%a+128], 2;", ImageCounts{}},
		{"the second store is first in the machine", "st.global.u32 [%a], 0x101;", "st.global.u32 [%a], 0x102;", ImageCounts{Different: 1}},
		{"the load sees a value that is not yet there", "st.global.u32 [%a], 1;", "ld.volatile.global.u32 %x, [%a];", ImageCounts{Loads: 1, Changed: 1}},
		{"other bytes of the line", "st.global.u32 [%a], 1;", "ld.volatile.global.u32 %x, [%a+4];", ImageCounts{Loads: 1}},
		{"atomics keep their order", "red.global.add.u32 [%a], 1;", "red.global.add.u32 [%a], 2;", ImageCounts{}},
		{"an older atomic on other bytes of a word", "atom.global.cas.b16 %h, [%a], 0, 1;", "atom.global.cas.b16 %h, [%a+2], 0, 2;", ImageCounts{}},
		{"an older atomic leaves other words", "red.global.add.u32 [%a], 1; red.global.add.u32 [%a+32], 1;", "red.global.add.u32 [%a+4], 2;", ImageCounts{}},
	} {
		for _, how := range []struct{ name, first, second string }{
			{"loop", "st.volatile.shared.u32 [flag], 1;", "again: ld.volatile.shared.u32 %x, [flag]; setp.eq.u32 %p, %x, 0; @%p bra again;"},
			{"cluster", "barrier.cluster.arrive; barrier.cluster.wait;", "barrier.cluster.arrive; barrier.cluster.wait;"},
			{"bar.sync", "bar.sync 0;", "bar.sync 0;"},
			{"a named barrier", "barrier.sync 3, 64;", "barrier.sync 3, 64;"},
			{"bar.arrive", "bar.arrive 1, 64;", "bar.sync 1, 64;"},
			{"bar.red", "bar.red.or.pred %p, 15, %p;", "bar.red.or.pred %p, 15, %p;"},
			{"the end of the first warp", "", "bar.sync 0;"},
			{"two barriers", "bar.arrive 1, 64; bar.sync 2, 64;", "bar.sync 2, 64; bar.sync 1, 64;"},
		} {
			want := c.want
			if how.name != "cluster" && want.Changed+want.Different == 0 {
				continue
			}
			if how.name != "loop" && how.name != "cluster" {
				want.Changed, want.Different = 0, 0
			}
			m := New(Spec{Name: "one", SMs: 1, SM: 70, L1: Level{0, 1, lru, "modulo"}, L2: Level{0, 1, lru, "modulo"}, WholeLines: true}, 0)
			clock, err := NewClock(Spec{Name: "one", SMs: 1, SM: 70, L1: Level{0, 1, lru, "modulo"}, L2: Level{0, 1, lru, "modulo"}, WholeLines: true}, 0)
			if err != nil {
				t.Fatal(err)
			}
			clock.CompareValues()
			recorder := stream.NewDataRecorder(stream.Consumers{m, clock})
			recorder.RecordInstructions()
			d := interp.NewDevice(interp.Config{Probes: []probe.Probe{recorder}})
			src := begin + c.first + "\n" + how.first + "\n\tret;\nsecond:\n" + how.second + "\n" + c.second + "\n\tret;\n}"
			module, err := d.Load("k.ptx", []byte(src))
			if err != nil {
				t.Fatal(err)
			}
			out, err := d.Alloc(256)
			if err != nil {
				t.Fatal(err)
			}
			var n transferred
			n.watch(m)
			if _, err := module.Run(t.Context(), &interp.Launch{Kernel: "k", Grid: ptx.Dim(1), Block: ptx.Dim(64), Args: []any{out}}); err != nil {
				t.Fatal(err)
			}
			l := m.Launches()[0]
			if l.Image != want || int64(len(l.Changed)) != want.Changed || n.unknown != 0 {
				t.Errorf("%s, %s: %+v, want %+v; changed %v, %+v", c.name, how.name, l.Image, want, l.Changed, n)
			}
			if how.name == "cluster" {
				want.Changed, want.Different = 0, 0
			}
			if v := clock.Values(clock.Launches()[0]); clock.Err() != nil || v.ImageCounts != want || int64(len(v.Changed)) != want.Changed {
				t.Errorf("%s, %s, with a clock: %+v, want %+v; changed %v; %v", c.name, how.name, v.ImageCounts, want, v.Changed, clock.Err())
			}
			d.Close()
		}
	}
}

// TestBytesOfTransfers has the bytes of lines that a machine without caches transfers: memory before the launch, and after each store.
func TestBytesOfTransfers(t *testing.T) {
	const src = `.version 8.0
.target sm_90
.address_size 64
.global .align 4 .u32 v = 7;
.visible .entry k(.param .u64 out) {
	.reg .u32 %x, %y;
	.reg .u64 %a;
	.shared .align 16 .b8 s[16];
	ld.param.u64 %a, [out];
	ld.global.u32 %x, [%a];
	st.global.u32 [%a], 5;
	st.global.u8 [%a+130], 9;
	ld.global.u32 %y, [v];
	st.shared.u32 [s], 6;
	fence.proxy.async;
	cp.async.bulk.global.shared::cta.bulk_group [%a+256], [s], 16;
	cp.async.bulk.commit_group;
	cp.async.bulk.wait_group 0;
	ret;
}`
	m := New(Spec{Name: "one", SMs: 1, SM: 70, L1: Level{0, 1, lru, "modulo"}, L2: Level{0, 1, lru, "modulo"}, WholeLines: true}, 0)
	d := interp.NewDevice(interp.Config{Probes: []probe.Probe{stream.NewDataRecorder(m)}})
	defer d.Close()
	module, err := d.Load("k.ptx", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	out, err := d.Alloc(384)
	if err != nil {
		t.Fatal(err)
	}
	bytes := make([]byte, 384)
	for i := range bytes {
		bytes[i] = 0x11
	}
	if err := out.Write(0, bytes); err != nil {
		t.Fatal(err)
	}
	var got []string
	m.OnTransfer(func(tr *Transfer) {
		var line stream.Line
		known := tr.Bytes(&line)
		text := "read"
		if tr.Write {
			text = "write"
		}
		if !known {
			text, line = text+" ?", stream.Line{}
		}
		for i, b := range line {
			if b != 0 && b != 0x11 {
				text += " " + string(rune('0'+b)) + "@" + string(rune('0'+i))
			}
		}
		got = append(got, text)
	})
	if _, err := module.Run(t.Context(), &interp.Launch{Kernel: "k", Grid: ptx.Dim(1), Block: ptx.Dim(1), Args: []any{out}}); err != nil {
		t.Fatal(err)
	}
	// The machine decides the order after the execution. The asynchronous copy writes unknown bytes: nothing is known after it.
	want := "read; read; write 5@0; read; write 9@2; read 7@0; read; write ?"
	if text := strings.Join(got, "; "); text != want {
		t.Errorf("transfers %s, want %s", text, want)
	}
}

// TestWholeLines has the transfers of a machine that transfers lines: an L2 of a single line.
func TestWholeLines(t *testing.T) {
	type access struct {
		kind           probe.AccessKind
		line           uint64
		sectors, whole uint8
	}
	load, store, atomic := probe.AccessLoad, probe.AccessStore, probe.AccessAtomic
	for _, c := range []struct {
		name string
		list []access
		want string
		// reads because of stores: of partly written sectors, and of the other sectors
		storeReads, storeExtra int64
	}{
		{"a load reads the line", []access{{load, 1, 1, 1}, {load, 1, 0b1110, 0b1110}}, "R1:1111", 0, 0},
		{"a whole line is overwritten", []access{{store, 1, 15, 15}, {load, 2, 1, 1}}, "W1:1111 R2:1111", 0, 0},
		{"a sector is overwritten", []access{{store, 1, 1, 1}, {load, 2, 1, 1}}, "R1:1111 W1:1111 R2:1111", 0, 4},
		{"some bytes of all sectors", []access{{store, 1, 15, 7}, {load, 2, 1, 1}}, "R1:1111 W1:1111 R2:1111", 1, 3},
		{"a store to a line in the L2", []access{{load, 1, 1, 1}, {store, 1, 2, 0}, {load, 2, 1, 1}}, "R1:1111 W1:1111 R2:1111", 0, 0},
		{"an atomic", []access{{atomic, 1, 2, 2}, {load, 2, 1, 1}}, "R1:1111 W1:1111 R2:1111", 0, 0},
	} {
		m := New(Spec{Name: "one", SMs: 1, SM: 70, L1: Level{0, 1, lru, "modulo"}, L2: Level{128, 1, lru, "modulo"}, WholeLines: true}, 0)
		var got []string
		m.OnTransfer(func(t *Transfer) {
			got = append(got, fmt.Sprintf("%s%d:%b", map[bool]string{false: "R", true: "W"}[t.Write], t.Line, t.Sectors))
		})
		var w stream.Warp
		for i, a := range c.list {
			w.Requests = append(w.Requests, stream.Request{Step: int64(i + 1), Kind: a.kind, First: int32(i), N: 1})
			w.Transactions = append(w.Transactions, stream.Transaction{Line: a.line, Sectors: a.sectors, Whole: a.whole})
		}
		w.Instructions = int64(len(c.list))
		l := &stream.Launch{LaunchInfo: &probe.LaunchInfo{Grid: ptx.Dim(1), Cluster: ptx.Dim(), Block: ptx.Dim(32), WarpSize: 32, Program: instructions{n: 1}, Kernel: &ptx.Func{}}, Buffers: []stream.Buffer{{Name: "b"}}}
		m.BeginLaunch(l)
		m.CTA(l, &stream.CTA{Warps: []stream.Warp{w}})
		m.EndLaunch(l, nil)
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s: %s, want %s", c.name, text, c.want)
		}
		if n := m.Launches()[0].Counts; n.StoreReads != c.storeReads || n.StoreExtra != c.storeExtra {
			t.Errorf("%s: %d and %d reads because of stores, want %d and %d", c.name, n.StoreReads, n.StoreExtra, c.storeReads, c.storeExtra)
		}
		if err := m.Verify(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
