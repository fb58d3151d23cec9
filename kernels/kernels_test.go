package kernels

import (
	"context"
	"testing"

	"gemu/interp"
)

func TestWorkloads(t *testing.T) {
	for _, w := range All() {
		t.Run(w.Name, func(t *testing.T) {
			s, err := Start(context.Background(), w, interp.NewDevice(interp.Config{}), 0)
			if err != nil {
				t.Fatal(err)
			}
			if err := w.Run(s); err != nil {
				t.Fatal(err)
			}
		})
	}
}
