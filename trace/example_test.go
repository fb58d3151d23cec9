package trace_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log"

	"gemu/interp"
	"gemu/probe"
	"gemu/ptx"
	"gemu/trace"
)

// double computes 2·n.
const double = `
.version 7.0
.target sm_80
.address_size 64
.entry double(.param .u32 n)
{
	.reg .u32 %n, %d;
	ld.param.u32 %n, [n];
	add.u32 %d, %n, %n;
	ret;
}`

// record returns the log of a launch.
func record(n uint32) trace.Source {
	var written bytes.Buffer
	w, err := trace.NewWriter(&written, trace.Text, &trace.Header{Version: trace.Version})
	if err != nil {
		log.Fatal(err)
	}
	r := trace.NewRecorder(w, trace.Filter{})
	dev := interp.NewDevice(interp.Config{Probes: []probe.Probe{r}})
	mod, err := dev.Load("double.ptx", []byte(double))
	if err != nil {
		log.Fatal(err)
	}
	if _, err := mod.Launch(context.Background(), "double", ptx.Dim(1), ptx.Dim(32), n); err != nil {
		log.Fatal(err)
	}
	if err := r.Close(); err != nil {
		log.Fatal(err)
	}
	return trace.Source{
		Name: fmt.Sprintf("n=%d", n),
		Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(written.Bytes())), nil },
	}
}

func Example() {
	d, _, err := trace.Compare(record(3), record(5), trace.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("line %d: %s is %s and %s\n", d.Record[0].Line, d.Name, d.Value[0], d.Value[1])
	// Output:
	// line 8: %n is 0x3 and 0x5
}
