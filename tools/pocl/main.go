// Command pocl compares the speed of launches with pocl, which compiles OpenCL C for the CPU. It runs the same
// kernels on the same data, on a single core, in alternation. It prints the median times and their ratio for each
// engine, and compares the results bit by bit. run.sh calls it.
package main

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gemu/interp"
	"gemu/kernels"
)

//go:embed naive.ptx
var naive string

var (
	host   = flag.String("host", "", "the compiled opencl/host.c")
	source = flag.String("source", "opencl/kernels.cl", "the kernels in OpenCL C")
	repeat = flag.Int("repeat", 15, "runs of each, of which the median counts")
)

// programs are the measured kernels, on the data of workloads of the library.
var programs = []struct{ kernel, workload, ptx string }{
	{"saxpy", "saxpy", kernels.Lookup("saxpy").PTX()},
	{"naive", "sgemm", naive},
	{"sgemm", "sgemm", kernels.Lookup("sgemm").PTX()},
	{"mandelbrot", "mandelbrot", kernels.Lookup("mandelbrot").PTX()},
}

func main() {
	log.SetFlags(0)
	flag.Parse()
	if *repeat < 1 {
		log.Fatal("-repeat wants a number from 1 on")
	}
	fmt.Printf("%-12s%12s%12s%12s  %s\n", "kernel", "pocl", "gemu", "gemu/pocl", "engine")
	for _, p := range programs {
		in, err := inputs(p.workload)
		if err == nil {
			in.Kernel = p.kernel
			err = measure(in, p.ptx)
		}
		if err != nil {
			log.Fatalf("%s: %v", p.kernel, err)
		}
	}
}

// input is a launch with the contents of its buffers.
type input struct {
	interp.Launch
	args []any // int, int32, float32 or []byte
}

// errReported ends a workload after its launch has been recorded.
var errReported = errors.New("seen")

// inputs returns the launch of a workload.
func inputs(workload string) (in *input, err error) {
	s, err := kernels.Start(context.Background(), kernels.Lookup(workload), interp.NewDevice(interp.Config{}), 0)
	if err != nil {
		return nil, err
	}
	s.Prepare = func(l *interp.Launch) {
		in = &input{Launch: interp.Launch{Grid: l.Grid, Block: l.Block}}
		for _, a := range l.Args {
			if b, ok := a.(*interp.Buffer); ok {
				a = slices.Clone(b.Bytes())
			}
			in.args = append(in.args, a)
		}
		l.Drive = func(context.Context, *interp.Execution) error { return errReported }
	}
	if err := kernels.Lookup(workload).Run(s); !errors.Is(err, errReported) {
		return nil, fmt.Errorf("the workload ended before its launch: %w", err)
	}
	return in, nil
}

// measure runs a launch on pocl and on each engine in turn.
func measure(in *input, ptx string) error {
	pocl, err := start(in)
	if err != nil {
		return err
	}
	defer pocl.close()
	var engines []*engine
	for _, kind := range interp.Engines()[1:] { // without Auto, which stands for another engine of the list
		if _, err := interp.EngineNamed(kind.String()); err != nil {
			fmt.Printf("%v: %v\n", kind, err)
			continue
		}
		e, err := newEngine(kind, in, ptx)
		if err != nil {
			return err
		}
		engines = append(engines, e)
	}
	for i := range *repeat + 2 { // the first two warm up
		t, err := pocl.run()
		if err != nil {
			return err
		}
		for _, e := range engines {
			if err := e.run(in); err != nil {
				return err
			}
		}
		if i < 2 {
			pocl.times = nil
			for _, e := range engines {
				e.times = nil
			}
			continue
		}
		pocl.times = append(pocl.times, t)
	}
	buffers, err := pocl.finish()
	if err != nil {
		return err
	}
	for _, e := range engines {
		fmt.Printf("%-12s%9.3f ms%9.3f ms%12.2f  %s\n", in.Kernel, median(pocl.times)/1e6, median(e.times)/1e6, median(e.times)/median(pocl.times), e.name)
		for i, b := range e.buffers {
			if !bytes.Equal(b.Bytes(), buffers[i]) {
				return fmt.Errorf("buffer %d is not what pocl computes, on engine %s", i, e.name)
			}
		}
	}
	return nil
}

func median(list []float64) float64 {
	list = slices.Sorted(slices.Values(list))
	n := len(list)
	return (list[(n-1)/2] + list[n/2]) / 2
}

// engine is a launch on an engine of gemu.
type engine struct {
	name    string
	module  *interp.Module
	launch  interp.Launch
	buffers []*interp.Buffer
	times   []float64 // nanoseconds
}

func newEngine(kind interp.Engine, in *input, ptx string) (*engine, error) {
	d := interp.NewDevice(interp.Config{Workers: 1})
	m, err := d.Load(in.Kernel+".ptx", []byte(ptx))
	if err != nil {
		return nil, err
	}
	e := &engine{name: kind.String(), module: m, launch: in.Launch}
	e.launch.Mode, e.launch.Engine = interp.Vector, kind
	for _, a := range in.args {
		if data, ok := a.([]byte); ok {
			b, err := d.Alloc(len(data))
			if err != nil {
				return nil, err
			}
			e.buffers = append(e.buffers, b)
			a = b
		}
		e.launch.Args = append(e.launch.Args, a)
	}
	return e, nil
}

// run runs the launch on its initial data.
func (e *engine) run(in *input) error {
	i := 0
	for _, a := range in.args {
		if data, ok := a.([]byte); ok {
			e.buffers[i].Write(0, data)
			i++
		}
	}
	r, err := e.module.Run(context.Background(), &e.launch)
	if err == nil {
		e.times = append(e.times, float64(r.Duration.Nanoseconds()))
	}
	return err
}

// process is a launch in the process of host.c.
type process struct {
	*exec.Cmd
	stdin  io.WriteCloser
	stdout *bufio.Scanner
	dir    string
	files  []string // files of the buffers
	times  []float64
}

func start(in *input) (*process, error) {
	dir, err := os.MkdirTemp("", "pocl")
	if err != nil {
		return nil, err
	}
	p := &process{dir: dir}
	if err := p.start(in); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

func (p *process) start(in *input) error {
	g, b := in.Grid, in.Block
	args := []string{*source, in.Kernel, "3"}
	for _, n := range []int{g.X * b.X, g.Y * b.Y, g.Z * b.Z, b.X, b.Y, b.Z} {
		args = append(args, strconv.Itoa(n))
	}
	for _, a := range in.args {
		switch a := a.(type) {
		case int:
			args = append(args, fmt.Sprintf("i:%d", a))
		case float32:
			args = append(args, fmt.Sprintf("f:%x", math.Float32bits(a)))
		case []byte:
			name := filepath.Join(p.dir, strconv.Itoa(len(p.files)))
			if err := os.WriteFile(name, a, 0o600); err != nil {
				return err
			}
			p.files = append(p.files, name)
			args = append(args, "b:"+name)
		default:
			return fmt.Errorf("an argument of type %T", a)
		}
	}
	p.Cmd = exec.Command(*host, args...)
	p.Stderr = os.Stderr
	var err error
	if p.stdin, err = p.StdinPipe(); err != nil {
		return err
	}
	out, err := p.StdoutPipe()
	if err != nil {
		return err
	}
	p.stdout = bufio.NewScanner(out)
	if err := p.Start(); err != nil {
		return err
	}
	if !p.stdout.Scan() {
		return errors.New("host has ended")
	}
	heading(p.stdout.Text())
	return nil
}

var headingPrinted bool

// heading prints once a line about pocl.
func heading(text string) {
	if !headingPrinted {
		headingPrinted = true
		fmt.Println(strings.TrimSpace(text))
	}
}

// run runs the kernel once and returns the time in nanoseconds.
func (p *process) run() (float64, error) {
	if _, err := io.WriteString(p.stdin, "r"); err != nil {
		return 0, err
	}
	if !p.stdout.Scan() {
		return 0, errors.New("host has ended")
	}
	return strconv.ParseFloat(p.stdout.Text(), 64)
}

// finish ends the process and returns the contents of the buffers.
func (p *process) finish() (buffers [][]byte, err error) {
	p.stdin.Close()
	if err := p.Wait(); err != nil {
		return nil, err
	}
	for _, name := range p.files {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		buffers = append(buffers, data)
	}
	return buffers, nil
}

func (p *process) close() {
	if p.Cmd != nil && p.Process != nil && p.ProcessState == nil {
		p.stdin.Close()
		p.Wait()
	}
	os.RemoveAll(p.dir)
}
