package bounds

import (
	"slices"
	"strings"
	"testing"

	"gemu/interp"
	"gemu/probe"
	"gemu/ptx"
	"gemu/sanitize/finding"
	"gemu/sanitize/internal/planted"
)

// TestResultRules: each affine rule has a rule of origins.
func TestResultRules(t *testing.T) {
	for affine, r := range resultRules {
		if r == noRule {
			t.Errorf("resultRules lacks the affine rule %v", ptx.Affine(affine))
		}
	}
}

// TestPlantedOverruns runs kernels with planted accesses out of bounds, and correct kernels.
func TestPlantedOverruns(t *testing.T) {
	planted.CheckFiles(t, "../../testdata/sanitize/bounds/*.ptx", New)
}

// tables is a kernel that moves pointers to variables in constant and global memory.
const tables = `.version 8.0
.target sm_80
.address_size 64
.const .align 4 .u32 c[64];
.global .align 4 .u32 g[64];
.global .align 4 .u32 after[1024];
.visible .entry k(.param .u64 skip)
{
	.reg .u32 %i, %x; .reg .u64 %c, %g, %skip; .reg .pred %q;
	ld.param.u64 %skip, [skip];
	mov.u64 %c, c;
	mov.u64 %g, g;
	add.u64 %g, %g, %skip;
	mov.u32 %i, 0;
NEXT:
	ld.const.u32 %x, [%c];
	st.global.u32 [%g+4], %x;
	add.u64 %c, %c, 4;
	add.u64 %g, %g, 4;
	add.u32 %i, %i, 1;
	setp.lt.u32 %q, %i, 8;
	@%q bra NEXT;
	ret;
}
`

// TestPointersToVariablesNeedNoEvents: bounds follows a register that always points into the same variable without events of the
// instructions that move the pointer, and finds the access after the variable.
func TestPointersToVariablesNeedNoEvents(t *testing.T) {
	d := interp.NewDevice(interp.Config{})
	mod, err := d.Load("k.ptx", []byte(tables))
	if err != nil {
		t.Fatal(err)
	}
	for skip, want := range map[uint64]string{192: "", 1024: "store of 4 bytes 772 bytes after the end of g, a global variable of 256 bytes"} {
		var log finding.Log
		bounds := &tool{log: &log}
		s := &planted.Selected{Of: bounds}
		if _, err := mod.Run(t.Context(), &interp.Launch{Grid: ptx.Dim(1), Block: ptx.Dim(1), Args: []any{skip}, Probes: []probe.Probe{bounds, s}}); err != nil {
			t.Fatal(err)
		}
		if want := []string{"ld.const.u32", "st.global.u32"}; !slices.Equal(s.Opcodes, want) {
			t.Errorf("bounds selects %q, want %q", s.Opcodes, want)
		}
		got := ""
		for _, f := range log.Findings() {
			got += f.Message
		}
		if !strings.HasPrefix(got, want) || (want == "") != (got == "") {
			t.Errorf("%d bytes from the beginning: found %q, want %q", skip, got, want)
		}
	}
}
