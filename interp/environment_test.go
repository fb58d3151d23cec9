package interp

import (
	"context"
	"math"
	"runtime"
	"testing"

	"gemu/internal/fpenv"
	"gemu/ptx"
)

// TestFloatingPointEnvironment: the environment of the calling thread has no effect on results. A C program that calls a library
// of gemu may round upward, or flush subnormal numbers.
func TestFloatingPointEnvironment(t *testing.T) {
	if fpenv.Upward == 0 {
		t.Skip("the environment of this architecture cannot be set")
	}
	const source = `.version 7.0
.target sm_70
.address_size 64
.entry sums(.param .u64 out) {
	.reg .u64 %o;
	.reg .f32 %x, %y;
	ld.param.u64 %o, [out];
	ld.global.v2.f32 {%x, %y}, [%o];
	add.f32 %x, %x, %y;
	add.f32 %y, %y, %y;
	st.global.v2.f32 [%o], {%x, %y};
	ret;
}`
	engines := []Engine{Portable}
	if Native.Available() {
		engines = append(engines, Native)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for _, engine := range engines {
		dev := NewDevice(Config{Workers: 1})
		m, err := dev.Load("sums.ptx", []byte(source))
		if err != nil {
			t.Fatal(err)
		}
		data, err := NewBuffer(dev, []float32{1, 0x1p-148})
		if err != nil {
			t.Fatal(err)
		}
		before := fpenv.Control()
		fpenv.SetControl(before | fpenv.Upward | fpenv.FlushSubnormals)
		_, err = m.Run(context.Background(), &Launch{Kernel: "sums", Grid: ptx.Dim(1), Block: ptx.Dim(1), Args: []any{data}, Engine: engine, Mode: Vector})
		after := fpenv.Control()
		fpenv.SetControl(before)
		if err != nil {
			t.Fatal(err)
		}
		got, want := [2]float32(Slice[float32](data)), [2]float32{1, 0x1p-147} // IEEE 754: rounded to nearest, and exact
		if got != want {
			t.Errorf("%v: %x %x, want %x %x", engine, math.Float32bits(got[0]), math.Float32bits(got[1]), math.Float32bits(want[0]), math.Float32bits(want[1]))
		}
		if other := uint32(fpenv.Upward | fpenv.FlushSubnormals); after&other != other {
			t.Errorf("%v: the thread's environment is %#x after the launch, want that from before, with %#x", engine, after, other)
		}
	}
}
