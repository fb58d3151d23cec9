package driver_test

import (
	"encoding/binary"
	"fmt"
	"log"
	"unsafe"

	"gemu/driver"
	"gemu/ptx"
)

// A program loads PTX, copies data to the device, launches a kernel, and copies the result back.
func Example() {
	const source = `.version 7.0
.target sm_70
.address_size 64
.visible .entry twice(.param .u64 data)
{
	.reg .b64 %p, %i;
	.reg .b32 %t, %v;
	ld.param.u64 %p, [data];
	mov.u32 %t, %tid.x;
	mul.wide.u32 %i, %t, 4;
	add.u64 %p, %p, %i;
	ld.global.u32 %v, [%p];
	shl.b32 %v, %v, 1;
	st.global.u32 [%p], %v;
	ret;
}
` + "\x00"
	check := func(err error) {
		if err != nil {
			log.Fatal(err)
		}
	}
	d := driver.New(driver.DefaultSettings())
	defer d.Close()
	check(d.Init(0))
	t := d.NewThread()
	_, err := t.CtxCreate(0, 0)
	check(err)
	module, err := t.ModuleLoadData(unsafe.Pointer(unsafe.StringData(source)), 0)
	check(err)
	function, err := t.ModuleGetFunction(module, "twice")
	check(err)

	data := []uint32{1, 2, 3, 4}
	size := uint64(len(data) * 4)
	buffer, err := t.MemAlloc(size)
	check(err)
	host := driver.Place{Kind: driver.HostPlace, Host: unsafe.Pointer(&data[0])}
	device := driver.Place{Kind: driver.DevicePlace, Device: buffer}
	check(t.Memcpy(device, host, size, 0, false))
	check(t.LaunchKernel(&driver.LaunchParams{
		Func: function, Grid: ptx.Dim(1), Block: ptx.Dim(len(data)),
		Buffer: binary.LittleEndian.AppendUint64(nil, buffer),
	}, 0))
	check(t.CtxSynchronize(0))
	check(t.Memcpy(host, device, size, 0, false))
	fmt.Println(data)

	// A wrong handle is an error with a result code.
	_, err = t.ModuleGetFunction(function, "twice")
	fmt.Println(driver.ResultOf(err).Name())
	// Output:
	// [2 4 6 8]
	// CUDA_ERROR_INVALID_HANDLE
}
