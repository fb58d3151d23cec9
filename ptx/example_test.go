package ptx_test

import (
	"fmt"
	"log"

	"gemu/ptx"
)

// The main use: parse and check a module, and walk its instructions.
func Example() {
	m, err := ptx.ParseString("example.ptx", `.version 7.0
.target sm_70
.address_size 64
.visible .entry scale(.param .u64 data)
{
	.reg .b64 %p;
	.reg .b32 %v;
	ld.param.u64 %p, [data];
	ld.global.u32 %v, [%p];
	shl.b32 %v, %v, 1;
	st.global.u32 [%p], %v;
	ret;
}
`)
	if err != nil {
		log.Fatal(err)
	}
	for _, kernel := range m.Kernels() {
		fmt.Println(kernel.Name, "has", len(kernel.Params), "parameter")
		kernel.EachInstr(func(instr *ptx.Instr) {
			fmt.Printf("line %d: %s\n", instr.Pos.Line, instr.Format(kernel))
		})
	}
	// Output:
	// scale has 1 parameter
	// line 8: ld.param.u64 %p, [data]
	// line 9: ld.global.u32 %v, [%p]
	// line 10: shl.b32 %v, %v, 1
	// line 11: st.global.u32 [%p], %v
	// line 12: ret
}
