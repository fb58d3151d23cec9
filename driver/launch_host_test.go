package driver

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"gemu/driver/internal/sharedmem"
	"gemu/interp"
	"gemu/probe"
	"gemu/ptx"
)

// pagesOf makes memory outside the Go heap, like the memory of a C client.
func pagesOf(t *testing.T, size uint64) []byte {
	t.Helper()
	data, release, err := new(sharedmem.Allocator).Allocate(size)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(release)
	return data
}

func hostLaunch(block int, args ...uint64) *HostLaunch {
	return &HostLaunch{PTX: []byte(kernels), Args: args, Grid: ptx.Dim(1), Block: ptx.Dim(block)}
}

// TestHostMemoryInKernels shows that a kernel reads and writes memory of the process at its host addresses, in every
// mode.
func TestHostMemoryInKernels(t *testing.T) {
	for _, mode := range interp.Modes() {
		s := DefaultSettings()
		s.Mode = mode
		d := New(s)
		mem := pagesOf(t, 1<<17)
		at := address(pointerTo(mem))
		mem[4] = 30
		// 7 is the low four bytes of the argument.
		if err := d.RunHost(hostLaunch(64, at, 7|1<<40)); err != nil {
			t.Fatal(err)
		}
		if mem[0] != 7 || mem[4] != 37 || mem[252] != 7 || mem[256] != 0 {
			t.Errorf("%s: got %v", mode, mem[:260])
		}
		bad := func(r Result, reason string, l *HostLaunch) {
			t.Helper()
			err := d.RunHost(l)
			if ResultOf(err) != r || err != nil && !strings.Contains(err.Error(), reason) {
				t.Errorf("%s: got %v, want %s with %q", mode, err, r.Name(), reason)
			}
		}
		// Address 0, an unmapped address, and an address that no host has.
		bad(IllegalAddress, "ld.global.u32 %r4, [%rd0]", hostLaunch(1, 0, 1))
		bad(IllegalAddress, "out-of-bounds", hostLaunch(1, 1<<36, 1))
		bad(IllegalAddress, "out-of-bounds", hostLaunch(1, 1<<63, 1))
		bad(MisalignedAddress, "", hostLaunch(1, at+2, 1))
		bad(InvalidValue, "2 parameters, 1 argument", hostLaunch(1, at))
		bad(InvalidPTX, "does not look like PTX", &HostLaunch{PTX: []byte("hello"), Grid: ptx.Dim(1), Block: ptx.Dim(1)})
		bad(InvalidValue, "no kernel", &HostLaunch{PTX: []byte(".version 7.8 .target sm_80 .address_size 64"), Grid: ptx.Dim(1), Block: ptx.Dim(1)})
		if err := d.RunHost(hostLaunch(1, at, 1)); err != nil || mem[0] != 8 {
			t.Errorf("%s, after faults: %v, %d", mode, err, mem[0])
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Variables have their initial values in every launch.
func TestVariablesBeginAnew(t *testing.T) {
	const src = `.version 7.8 .target sm_80 .address_size 64 .global .u32 n = 5;
	.entry k(.param .u64 x) { .reg .u64 %rd; .reg .u32 %r; ld.param.u64 %rd, [x]; atom.global.add.u32 %r, [n], 1; st.global.u32 [%rd], %r; ret; }`
	d := New(DefaultSettings())
	defer d.Close()
	mem := pagesOf(t, 4)
	for range 3 {
		if err := d.RunHost(&HostLaunch{PTX: []byte(src), Args: []uint64{address(pointerTo(mem))}, Grid: ptx.Dim(1), Block: ptx.Dim(1)}); err != nil || mem[0] != 5 {
			t.Fatalf("got %d, %v", mem[0], err)
		}
	}
}

// TestLaunchesFromManyThreads shows that threads launch at the same time, each on its own memory.
func TestLaunchesFromManyThreads(t *testing.T) {
	d := New(DefaultSettings())
	defer d.Close()
	mem := pagesOf(t, 8*1024)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range 10 {
				if err := d.RunHost(hostLaunch(32, address(pointerTo(mem[1024*i:])), uint64(i))); err != nil {
					t.Error(err)
				}
			}
		}()
	}
	wg.Wait()
	for i := range 8 {
		if got := mem[1024*i]; got != byte(10*i) {
			t.Errorf("thread %d has %d", i, got)
		}
	}
}

// The statistics of a program are the sums over its launches.
func TestStatisticsAddUp(t *testing.T) {
	file := filepath.Join(t.TempDir(), "stats.json")
	s := DefaultSettings()
	if err := s.Environment(func(name string) string {
		return map[string]string{"GEMU_STATS": file, "GEMU_REGFILE": "gscalar,kim"}[name]
	}); err != nil {
		t.Fatal(err)
	}
	d := New(s)
	mem := pagesOf(t, 4096)
	for range 3 {
		if err := d.RunHost(hostLaunch(64, address(pointerTo(mem)), 1)); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got Statistics
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	// The kernel has 12 instructions, and a launch has 2 full warps.
	if got.Mode != "vector" || got.Policy != "gemu" || len(got.Kernels) != 1 || got.Kernels[0].Kernel != "add" {
		t.Fatalf("got %s", b)
	}
	k := got.Kernels[0]
	if k.Launches != 3 || k.WarpInstructions != 3*2*12 || k.ThreadInstructions != 32*k.WarpInstructions || k.ActiveLanesMean != 32 {
		t.Errorf("got %s", b)
	}
	// The address is affine, and loads of parameters do not count.
	if k.Structure == nil || k.Structure.Instructions != k.WarpInstructions || k.Structure.MemoryOps != 100 {
		t.Errorf("got %s", b)
	}
	if got.Total.WarpInstructions != k.WarpInstructions {
		t.Errorf("got %s", b)
	}
	if len(got.Models) != 2 || got.Models[0].Model != "gscalar" || got.Models[1].Model != "kim" || len(got.Models[0].Tables) == 0 {
		t.Errorf("got %s", b)
	}
}

// TestInvalidEnvironment shows the message for each invalid value of an environment variable.
func TestInvalidEnvironment(t *testing.T) {
	for _, k := range []struct{ env, want string }{
		{"GEMU_SM=8", "GEMU_SM=8: want a compute capability"},
		{"GEMU_DRIVER=13", "GEMU_DRIVER=13: want a version of CUDA"},
		{"GEMU_MEMORY=lots", "GEMU_MEMORY=lots: want a size"},
		{"GEMU_MODE=fast", "GEMU_MODE=fast: want vector, affine or check"},
		{"GEMU_RECONVERGE=ipdom", "The policies are auto, stack"},
		{"GEMU_RECONVERGE=its:0", "a time slice of 0 instructions"},
		{"GEMU_POLICY=none", "want one of gemu, kim"},
		{"GEMU_REGFILE=kim,nobody", "unknown model \"nobody\": want some of kim, avc"},
		{"GEMU_REGFILE=kim,kim GEMU_STATS=s.json", "model kim is given twice"},
		{"GEMU_REGFILE=kim", "GEMU_REGFILE=kim: the reports of models go to the file of GEMU_STATS, which is not set"},
		{"GEMU_MACHINE=v200 GEMU_STATS=s.json", "GEMU_MACHINE=v200: v200: no such machine or file; want one of v100"},
		{"GEMU_MACHINE=v100+ldesc=auto GEMU_STATS=s.json", "GEMU_MACHINE=v100+ldesc=auto: v100+ldesc=auto: a program's launches run while they are recorded"},
		{"GEMU_MACHINE=v100+ldsc GEMU_STATS=s.json", "GEMU_MACHINE=v100+ldsc: v100+ldsc: unknown system \"ldsc\" (did you mean ldesc?); want one of ldesc, xmem"},
		{"GEMU_MACHINE_VALUES=1", "GEMU_MACHINE_VALUES=1: the machines are those of GEMU_MACHINE, which is not set"},
		{"GEMU_MACHINE=v100 GEMU_STATS=s.json GEMU_MACHINE_VALUES=x", "GEMU_MACHINE_VALUES=x: want 0 or 1"},
		{"GEMU_MACHINE=v100", "GEMU_MACHINE=v100: the counts go to the file of GEMU_STATS, which is not set"},
		{"GEMU_MACHINE=v100 GEMU_STATS=s.json GEMU_DEBUG=1", "GEMU_MACHINE=v100: a machine cannot go back with the debugger; unset GEMU_DEBUG"},
		{"GEMU_WORKERS=0", "want a number from 1"},
		{"GEMU_TOLERATE=everything", "the faults that can be tolerated are wmma-alignment,shared-unit"},
		{"GEMU_TIME_LIMIT=soon", "GEMU_TIME_LIMIT=soon: want a time such as 90s, 1m30s or 500ms; a number without a unit is seconds"},
		{"GEMU_TIME_LIMIT=-1s", "want a time such as 90s"},
		{"GEMU_EXIT_WAIT=soon", "GEMU_EXIT_WAIT=soon: want a time such as 90s, 1m30s or 500ms; a number without a unit is seconds"},
		{"GEMU_SM=9.0 GEMU_DRIVER=13.1 GEMU_MEMORY=512M GEMU_DEVICES=2 GEMU_MODE=affine GEMU_STEPS=1000 GEMU_TIME_LIMIT=90 GEMU_EXIT_WAIT=2m GEMU_TOLERATE=shared-unit GEMU_TRACE=2", ""},
	} {
		env := map[string]string{}
		for _, f := range strings.Fields(k.env) {
			name, value, _ := strings.Cut(f, "=")
			env[name] = value
		}
		s := DefaultSettings()
		err := s.Environment(func(name string) string { return env[name] })
		if k.want == "" {
			if err != nil || s.SM != 90 || s.Version != 13010 || s.Memory != 512<<20 || s.Devices != 2 || s.Mode != interp.Affine || s.Steps != 1000 || s.TimeLimit != 90*time.Second || s.ExitWait != 2*time.Minute || s.Tolerate != probe.SharedUnit || s.Trace != 2 {
				t.Errorf("%s: %+v, %v", k.env, s, err)
			}
		} else if err == nil || !strings.Contains(err.Error(), k.want) {
			t.Errorf("%s: %v", k.env, err)
		}
	}
}

func pointerTo(b []byte) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(b)) }

// The manual documents every variable.
func TestVariablesAreDocumented(t *testing.T) {
	b, err := os.ReadFile("../docs/libraries.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range Variables {
		row := "| `" + v.Name + "` | " + v.Values + " | " + v.Default + " | " + v.Doc + " |\n"
		if !strings.Contains(string(b), row) {
			t.Errorf("docs/libraries.md lacks\n%s", row)
		}
	}
}

// BenchmarkHost measures kernels on memory of the process, as ptx_run runs them: add reads and writes an element per thread, and
// repeat does so 256 times.
func BenchmarkHost(b *testing.B) {
	for _, engine := range interp.Engines() {
		if !engine.Available() {
			continue
		}
		s := DefaultSettings()
		s.Engine = engine
		d := New(s)
		mem := make([]uint32, 1<<16)
		run := func(name, text string) {
			b.Run(engine.String()+"/"+name, func(b *testing.B) {
				for b.Loop() {
					if err := d.RunHost(&HostLaunch{PTX: []byte(text), Args: []uint64{uint64(uintptr(unsafe.Pointer(&mem[0])))}, Grid: ptx.Dim(len(mem) / 256), Block: ptx.Dim(256)}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		const head = `.version 7.8 .target sm_80 .address_size 64 .entry k(.param .u64 p) { .reg .u32 %r<4>; .reg .u64 %rd<3>; .reg .pred %p;
			ld.param.u64 %rd0, [p]; mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mad.lo.u32 %r0, %r1, 256, %r0; mad.wide.u32 %rd0, %r0, 4, %rd0; mov.u32 %r3, 256; `
		const access = "ld.global.u32 %r2, [%rd0]; add.u32 %r2, %r2, 1; st.global.u32 [%rd0], %r2; "
		run("add", head+access+"ret; }")
		run("repeat", head+"again: "+access+"sub.u32 %r3, %r3, 1; setp.ne.u32 %p, %r3, 0; @%p bra again; ret; }")
	}
}
