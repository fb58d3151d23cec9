package saxpy

import (
	"os"
	"testing"
	"unsafe"

	"gorgonia.org/cu"
)

func TestSaxpy(t *testing.T) {
	context, err := cu.Device(0).MakeContext(cu.SchedAuto)
	if err != nil {
		t.Fatal(err)
	}
	defer context.Destroy()
	module, err := cu.Load(os.Getenv("SAXPY"))
	if err != nil {
		t.Fatal(err)
	}
	kernel, err := module.Function("saxpy")
	if err != nil {
		t.Fatal(err)
	}
	const n, bytes = 1000, 4000
	var x, y [n]float32
	for i := range x {
		x[i], y[i] = float32(i), 1
	}
	allocate := func(values *[n]float32) cu.DevicePtr {
		p, err := cu.MemAlloc(bytes)
		if err != nil {
			t.Fatal(err)
		}
		if err := cu.MemcpyHtoD(p, unsafe.Pointer(values), bytes); err != nil {
			t.Fatal(err)
		}
		return p
	}
	count, a, dx, dy := int32(n), float32(2), allocate(&x), allocate(&y)
	arguments := []unsafe.Pointer{unsafe.Pointer(&count), unsafe.Pointer(&a), unsafe.Pointer(&dx), unsafe.Pointer(&dy)}
	if err := kernel.Launch(8, 1, 1, 128, 1, 1, 0, cu.Stream{}, arguments); err != nil {
		t.Fatal(err)
	}
	if err := cu.MemcpyDtoH(unsafe.Pointer(&y), dy, bytes); err != nil {
		t.Fatal(err)
	}
	for i := range y {
		if want := float32(2*i + 1); y[i] != want {
			t.Fatalf("y[%d] = %g, want %g", i, y[i], want)
		}
	}
}

func TestMain(m *testing.M) { Exit(m.Run()) }
