package kernels_test

import (
	"context"
	"fmt"
	"log"

	"gemu/interp"
	"gemu/kernels"
)

// Run executes a workload of the library and compares its results with the host's.
func Example() {
	w := kernels.Lookup("saxpy")
	session, err := kernels.Start(context.Background(), w, interp.NewDevice(interp.Config{}), 1000)
	if err != nil {
		log.Fatal(err)
	}
	if err := w.Run(session); err != nil {
		log.Fatal(err)
	}
	fmt.Println(w.Name, "computes the results of its reference")
	// Output: saxpy computes the results of its reference
}
