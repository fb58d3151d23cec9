// Command saxpy runs the kernel saxpy of a PTX file and prints its result.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"gemu/argument"
	"gemu/interp"
	"gemu/ptx"
)

func main() {
	source, err := os.ReadFile(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	if err := run(context.Background(), os.Args[1], source); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, name string, source []byte) error {
	device := interp.NewDevice(interp.Config{})
	defer device.Close()
	module, err := device.Load(name, source)
	if err != nil {
		return err
	}
	x, err := interp.NewBuffer(device, []float32{0, 1, 2, 3, 4, 5, 6, 7})
	if err != nil {
		return err
	}
	y, err := interp.NewBuffer(device, []float32{1, 1, 1, 1, 1, 1, 1, 1})
	if err != nil {
		return err
	}
	result, err := module.Launch(ctx, "saxpy", ptx.Dim(1), ptx.Dim(8), 8, float32(2), x, y)
	if err != nil {
		return err
	}
	fmt.Println(interp.Slice[float32](y), result.WarpInstructions, "warp instructions")
	return another(ctx, module)
}

// another runs the kernel with arguments as the command gemu writes them.
func another(ctx context.Context, module *interp.Module) error {
	kernel, err := module.Kernel("saxpy")
	if err != nil {
		return err
	}
	arguments, err := argument.Bind(ctx, module, kernel, []string{"8", "2.0", "f32[8]=iota", "f32[8]=1"})
	if err != nil {
		return err
	}
	if _, err := module.Launch(ctx, "saxpy", ptx.Dim(1), ptx.Dim(8), arguments.Values...); err != nil {
		return err
	}
	y, err := arguments.Lookup("3")
	if err != nil {
		return err
	}
	return y.Array().Print(os.Stdout)
}
