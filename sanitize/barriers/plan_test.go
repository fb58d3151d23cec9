package barriers

import (
	"fmt"
	"testing"

	"gemu/ptx"
)

// TestConstantRegisters checks which registers count as constant: those of 32 bits that a single move of a number writes on all paths.
func TestConstantRegisters(t *testing.T) {
	m, err := ptx.ParseString("k.ptx", `.version 8.0
.target sm_80
.address_size 64
.entry k()
{
	.reg .u32 %always, %twice, %guarded, %sometimes, %computed, %v;
	.reg .u64 %wide;
	.reg .pred %q;
	mov.u32 %v, %tid.x;
	setp.lt.u32 %q, %v, 16;
	mov.b32 %always, -1;
	mov.b32 %twice, -1;
	mov.b64 %wide, -1;
	@%q mov.b32 %guarded, -1;
	add.u32 %computed, %v, 1;
	@%q bra NEXT;
	mov.b32 %sometimes, 7;
	mov.b32 %twice, 1;
NEXT:
	add.u32 %v, %sometimes, %guarded;
	add.u32 %v, %twice, %always;
	ret;
}
`)
	if err != nil {
		t.Fatal(err)
	}
	f := m.Kernels()[0]
	got := map[string]uint32{}
	for r, value := range constantsOf(f) {
		got[f.Regs[r].Name] = value
	}
	if want := (map[string]uint32{"%always": 1<<32 - 1}); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the constants are %v, want %v", got, want)
	}
}
