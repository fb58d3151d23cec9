package driver

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"gemu/internal/part"
)

// An unloaded module leaves little memory allocated, however long its source was: the names kept for messages about
// freed memory are copies. A substring would keep the whole source alive.
func TestUnloadedModulesKeepNoSource(t *testing.T) {
	part.SkipShort(t)
	c := newClient(t, nil)
	const loads, commentBytes = 500, 200_000
	heap := func() uint64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	comment := "\n// " + strings.Repeat("x", commentBytes)
	load := func(i int) {
		c.mod = c.load(fmt.Sprintf(`.version 8.0
.target sm_80
.address_size 64
.file 1 "kernel%d.cu"%s
.visible .global .align 4 .u32 variable%d[4] = {1, 2, 3};
.const .u32 constant%d = 5;
.visible .entry k%d(.param .u64 parameter%d)
{
	.local .u32 place%d[4];
	.shared .u32 common%d[4];
	.reg .u64 %%d<3>; .reg .u32 %%r;
	.loc 1 1 1
label%d:
	ld.param.u64 %%d0, [parameter%d]; ld.global.u32 %%r, [variable%d]; st.shared.u32 [common%d], %%r; st.local.u32 [place%d], %%r;
	ld.const.u32 %%r, [constant%d]; st.global.u32 [%%d0], %%r;
	ret;
}
`, i, comment, i, i, i, i, i, i, i, i, i, i, i, i))
		if _, _, err := c.ModuleGetGlobal(c.mod, fmt.Sprint("variable", i)); err != nil {
			t.Fatal(err)
		}
		c.ok(c.LaunchKernel(launchParams(c.function(fmt.Sprint("k", i)), 1, 1, c.alloc(4)), 0))
		c.ok(c.CtxSynchronize(0))
		c.ok(c.ModuleUnload(c.mod))
	}
	// The driver caches parsed sources up to a limit, which the first loads reach.
	for i := range loads {
		load(i)
	}
	before := heap()
	for i := range loads {
		load(loads + i)
	}
	c.mod = 0
	if after := heap(); after > before+loads*commentBytes/4 {
		t.Errorf("%d modules with more than %d bytes of source each were loaded and unloaded; the heap grew from %d to %d bytes", loads, commentBytes, before, after)
	}
}
