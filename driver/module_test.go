package driver

// This file tests modules, libraries and occupancy.

import (
	"strings"
	"sync"
	"testing"

	"gemu/interp"
)

// TestModuleVariablesAndFunctions shows that the variables and functions of a module are found by name, and that
// invalid modules are refused.
func TestModuleVariablesAndFunctions(t *testing.T) {
	c := newClient(t, nil)
	v, size, err := c.ModuleGetGlobal(c.mod, "v")
	if err != nil || size != 16 {
		t.Fatalf("%d bytes, %v", size, err)
	}
	c.expect(v, 11, 22, 33, 0)
	c.write(v+4, 100)
	konst, _, err := c.ModuleGetGlobal(c.mod, "c")
	c.ok(err)
	c.write(konst, 1000)
	x := c.alloc(4)
	c.ok(c.launch("get", 1, 1, x))
	c.expect(x, 1100)
	again := c.load(kernels) // has its own variables
	v2, _, err := c.ModuleGetGlobal(again, "v")
	c.ok(err)
	c.expect(v2, 11, 22, 33, 0)
	f := c.function("get")
	c.ok(c.ModuleUnload(c.mod))
	c.want(InvalidHandle, "", c.LaunchKernel(launchParams(f, 1, 1, x), 0))
	c.want(InvalidHandle, "", c.ModuleUnload(c.mod))
	if _, _, err := c.MemGetAddressRange(v); err == nil {
		t.Error("the variable of an unloaded module is known")
	}

	_, err = c.ModuleLoadData(cString(".version 7.8\n.target sm_80\n.entry k() { nonsense; }"), 0)
	c.want(InvalidPTX, "3 | .entry k() { nonsense; }", err)
	_, err = c.ModuleLoad("/nonexistent")
	c.want(FileNotFound, "", err)
	_, err = c.ModuleLoad("/dev/zero")
	c.want(InvalidImage, "/dev/zero: more than 256 MiB", err)
}

// A module for a newer device than this one claims to be runs. The PTX version of a function is the version of its
// virtual architecture (driver API, CU_FUNC_ATTRIBUTE_PTX_VERSION); the text says PTX 7.8.
func TestNewerTarget(t *testing.T) {
	c := newClient(t, nil)
	for target, want := range map[string]int{"sm_70": 70, "sm_80": 80, "sm_90a": 90, "sm_120": 120} {
		c.mod = c.load(strings.Replace(kernels, "sm_80", target, 1))
		if got := must(c.FuncGetAttribute(FuncPTXVersion, c.function("poke")))(t); got != want {
			t.Errorf("%s: PTX version %d, want %d", target, got, want)
		}
		x := c.alloc(4)
		c.ok(c.launch("poke", 1, 1, x, 6))
		c.expect(x, 6)
	}
}

// Threads unload modules while kernels of the modules are launched.
func TestUnloadWhileLaunching(t *testing.T) {
	c := newClient(t, nil)
	x, ctx := c.alloc(4), c.ctx
	for range 100 {
		c.mod = c.load(kernels)
		p := launchParams(c.function("add"), 1, 1, x, 1)
		var wg sync.WaitGroup
		for range 3 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				c := &client{T: t, Thread: c.d.NewThread()}
				if err := c.CtxSetCurrent(ctx); err != nil {
					t.Error(err)
					return
				}
				for {
					if err := c.LaunchKernel(p, 0); err != nil {
						c.want(InvalidHandle, "", err)
						return
					}
				}
			}()
		}
		c.ok(c.ModuleUnload(c.mod))
		wg.Wait()
	}
	c.ok(c.CtxSynchronize(0))
}

// TestLibraryKernels shows that kernels of a library load in the current context and have the attributes of functions.
func TestLibraryKernels(t *testing.T) {
	c := newClient(t, nil)
	l := must(c.LibraryLoadData(cString(kernels)))(t)
	k := must(c.LibraryGetKernel(l, "poke"))(t)
	x := c.alloc(4)
	c.ok(c.LaunchKernel(launchParams(k, 1, 1, x, 6), 0))
	c.expect(x, 6)
	if f := must(c.KernelGetFunction(k))(t); must(c.FuncGetName(f))(t) != "poke" {
		t.Error("another function")
	}
	c.want(NotPermitted, "", c.ModuleUnload(must(c.LibraryGetModule(l))(t)))
	must(c.CtxCreate(0, 0))(t) // the same kernel in a second context
	c.ok(c.LaunchKernel(launchParams(k, 1, 1, x, 8), 0))
	c.expect(x, 8)
	c.ok(c.LibraryUnload(l))
	c.want(InvalidHandle, "", c.LaunchKernel(launchParams(k, 1, 1, x, 9), 0))
}

// TestOccupancyOfKernel shows the number of blocks that a multiprocessor holds. The numbers follow from the limits of
// compute capability 8.6.
func TestOccupancyOfKernel(t *testing.T) {
	c := newClient(t, nil)
	f := c.function("scratch")
	// Compute capability 8.6 has 100 KiB of shared memory, of which the system takes 1 KiB per block, and 1536 threads
	// in at most 16 blocks.
	for _, k := range []struct {
		threads int
		dynamic uint64
		want    int
	}{{32, 0, 16}, {512, 0, 3}, {1024, 0, 1}, {32, 23 << 10, 4}, {32, 98 << 10, 1}, {32, 99 << 10, 0}, {2000, 0, 0}} {
		if got, err := c.OccupancyMaxActiveBlocks(f, k.threads, k.dynamic); err != nil || got != k.want {
			t.Errorf("%d threads, %d bytes: %d blocks, %v, want %d", k.threads, k.dynamic, got, err, k.want)
		}
	}
	grid, block, err := c.OccupancyMaxPotentialBlockSize(f, func(int) uint64 { return 0 }, 0)
	if err != nil || block != 768 || grid != 2*interp.Multiprocessors {
		t.Errorf("%d blocks of %d, %v", grid, block, err)
	}
}
