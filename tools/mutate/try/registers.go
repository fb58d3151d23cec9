package main

// This file makes inputs of rare reads of registers: reads by built-in functions (malloc, vprintf), and
// 16-bit reads of special registers with larger values.

import (
	"fmt"

	"gemu/internal/trial"
	"gemu/ptx"
)

const registers = "registers"

const registersModule = `.version 8.0
.target sm_80
.address_size 64
.extern .func (.reg .b64 r) malloc(.reg .b64 n);
.extern .func free(.reg .b64 p);
.extern .func (.reg .b32 r) vprintf(.reg .b64 f, .reg .b64 a);
.global .align 8 .b8 text[8] = {37, 100, 10, 0};
.entry k0()
{
	.local .align 8 .b8 args[8];
	.reg .u32 %t, %n;
	.reg .u64 %size, %p, %f, %a;
	mov.u32 %t, %tid.x;
	st.local.u32 [args], %t;
	mad.wide.u32 %size, %t, 8, 16;
	call (%p), malloc, (%size);
	add.u64 %size, %size, %p;
	mov.u64 %f, text;
	cvta.global.u64 %f, %f;
	mov.u64 %a, args;
	cvta.local.u64 %a, %a;
	call (%n), vprintf, (%f, %a);
	add.u32 %n, %n, %t;
	call free, (%p);
	ret;
}
.entry k1()
{
	.reg .u16 %n, %i, %j;
	.reg .u32 %x, %y;
	mov.u16 %n, %nctaid.x;
	mov.u16 %i, %ctaid.x;
	cvt.u32.u16 %x, %n;
	cvt.u32.u16 %y, %i;
	add.u16 %j, %i, %n;
	ret;
}
`

// registerInputs returns the inputs.
func registerInputs() ([]trial.Input, error) {
	mod, err := load(registers, registersModule)
	if err != nil {
		return nil, err
	}
	var list []trial.Input
	for _, eager := range []bool{false, true} {
		list = append(list, input(fmt.Sprintf("registers of functions, %v", eager), mod, warp(0, eager)))
		wide := warp(1, eager)
		wide.Grid, wide.Block = ptx.Dim(1<<16+1), ptx.Dim(8)
		list = append(list, input(fmt.Sprintf("registers of 16 bits, %v", eager), mod, wide))
	}
	return list, nil
}
