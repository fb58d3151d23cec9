// Package core is the clock of the multiprocessors of a GPU: warp slots, schedulers, a scoreboard, functional units, the unit for memory
// with an L1, and barriers. It runs recorded launches (package stream), and counts cycles, and for each scheduler and cycle the reason
// why it issued no instruction (Stalls). The memory behind the L1 is package memory.
//
// Time is in cycles of the multiprocessors, in integers, from 0 on. Cycles in which nothing happens cost nothing. docs/design/clock.md has
// the order of the events of a cycle.
package core

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Class is a class of instructions with a latency and a unit.
type Class uint8

// The classes. Each has the instructions of the class of the instruction table (ptx.Class) with its name, unless the comment says otherwise.
const (
	Int      Class = iota // integers, video instructions, and exchange within a warp without a shuffle
	Mul                   // integer multiplications
	FP                    // floating point of up to 32 bits
	Double                // floating point of 64 bits
	Special               // special functions and divisions
	Shuffle               // shfl
	Tensor                // matrix instructions
	Texture               // textures and surfaces
	Constant              // loads of parameters and constants; queries of addresses; prefetches
	Control               // branches, calls, returns, barriers, fences, hints
	Memory                // accesses to global, local and shared memory; LSU has their numbers
	classes
)

var classNames = [classes]string{"int", "mul", "fp", "double", "special", "shuffle", "tensor", "texture", "constant", "control", "memory"}

func (c Class) String() string { return classNames[c] }

// Unit is the unit of a class of instructions.
type Unit struct {
	Of      Class // class whose units execute the instructions: usually the class itself
	Count   int   // units of a multiprocessor, at most one for each scheduler; schedulers share units in equal parts
	Cycles  int64 // cycles for which an instruction of 32 lanes occupies its unit
	Latency int64 // cycles from the issue until another instruction can use the result
}

// Spec has the numbers of a multiprocessor with a clock.
type Spec struct {
	Schedulers int           // schedulers of a multiprocessor, each of which issues an instruction in a cycle; slot s belongs to scheduler s mod Schedulers
	Policy     *Policy       // choice of the warp that issues
	Units      [classes]Unit // units, by class; that of Memory is not used
	Barrier    int64         // cycles from the arrival of the last warp at a barrier until the warps can issue

	Ports  int   // lines that the memory unit takes in a cycle
	Queue  int   // instructions that wait in the memory unit
	L1     int64 // cycles from the access of a line until its data are ready, if the L1 has them
	Shared int64 // the same for shared memory, from the last pass on
	MSHRs  int   // lines in flight of an L1; 0: no limit
	Merges int   // accesses that wait for a line in flight; 0: no limit

	Readings []Reading // parameters whose values are unknown, with their ranges

	ownUnits [classes]bool // classes whose number of units Set has changed
}

// Reading is a parameter whose value is unknown: the specification assumes a value of a range.
type Reading struct {
	Name      string // name of the parameter, for Set
	Low, High int64  // the range; Low is the value for the faster machine
}

// units returns the units of a multiprocessor. of has the classes that are executed by the units of others.
func units(of map[Class]Class, count, cycles, latency [classes]int64) (list [classes]Unit) {
	for c := range classes {
		list[c] = Unit{c, int(count[c]), cycles[c], latency[c]}
		if shared, ok := of[c]; ok {
			list[c].Of = shared
		}
	}
	return list
}

// Volta is the multiprocessor of a V100. Units and schedulers: "NVIDIA Tesla V100 GPU Architecture" (2017): four partitions, each with a
// scheduler, 16 lanes for integers, 16 for floating point, 8 for 64 bits, 4 for special functions, and tensor cores. The latencies of
// arithmetic, L1 and shared memory, and the MSHRs are those of GPGPU-Sim's configuration SM7_QV100 (version 045b68f3), which takes them from Jia et al.,
// "Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking" (2018).
var Volta = Spec{
	Schedulers: 4, Policy: GTO,
	Units: units(map[Class]Class{Mul: FP},
		//        int mul fp dbl sfu shfl tens tex const ctrl
		[classes]int64{4, 4, 4, 4, 4, 1, 4, 1, 4, 4},
		[classes]int64{2, 2, 2, 4, 8, 1, 16, 8, 1, 1},
		[classes]int64{4, 5, 4, 8, 39, 23, 64, 100, 8, 4}),
	Barrier: 10, Ports: 1, Queue: 8, L1: 28, Shared: 19, MSHRs: 256, Merges: 8,
	Readings: []Reading{
		{"special.latency", 20, 100}, {"shuffle.latency", 19, 30}, {"tensor.cycles", 8, 64}, {"tensor.latency", 16, 64}, {"texture.latency", 50, 200},
		{"constant.latency", 1, 30}, {"control.latency", 1, 16}, {"barrier", 1, 30}, {"lsu.ports", 4, 1}, {"lsu.queue", 16, 4},
	},
}

// Ampere is the multiprocessor of an A100. The numbers of lanes are in "NVIDIA A100 Tensor Core GPU Architecture" (2020); all latencies are
// those of Volta, as readings.
var Ampere = Volta.with(func(s *Spec) { s.Readings = append(s.Readings, laterReadings...) })

// Hopper is the multiprocessor of an H100. The numbers of lanes are in "NVIDIA H100 Tensor Core GPU Architecture" (2022); all latencies are
// those of Volta, as readings.
var Hopper = Volta.with(func(s *Spec) {
	s.Units[FP].Cycles, s.Units[Mul].Cycles, s.Units[Double].Cycles = 1, 1, 2
	s.Readings = append(s.Readings, laterReadings...)
})

// laterReadings are the further readings of multiprocessors after Volta.
var laterReadings = []Reading{
	{"int.latency", 4, 6}, {"mul.latency", 4, 6}, {"fp.latency", 4, 6}, {"double.latency", 4, 16}, {"l1.latency", 28, 45}, {"shared.latency", 19, 33}, {"l1.mshrs", 512, 128}, {"l1.merges", 16, 4},
}

// Fermi is the multiprocessor of a GTX 480 in cycles of 700 MHz, in which its 32 lanes, 16 of them at 1.4 GHz for each of two schedulers,
// execute two warps: GPGPU-Sim's configuration GTX480, which counts the same cycles. It has one unit for special functions, which executes 64 bits too.
var Fermi = Spec{
	Schedulers: 2, Policy: GTO,
	Units: units(map[Class]Class{Mul: Int, FP: Int, Double: Special},
		//        int mul fp dbl sfu shfl tens tex const ctrl
		[classes]int64{2, 2, 2, 1, 1, 1, 1, 1, 2, 2},
		[classes]int64{1, 2, 1, 8, 4, 1, 32, 4, 1, 1},
		[classes]int64{4, 5, 4, 8, 39, 24, 64, 100, 8, 4}),
	Barrier: 10, Ports: 1, Queue: 8, L1: 30, Shared: 24, MSHRs: 32, Merges: 8,
	Readings: []Reading{
		{"special.latency", 20, 100}, {"texture.latency", 50, 200}, {"constant.latency", 1, 30}, {"control.latency", 1, 16}, {"barrier", 1, 30},
		{"lsu.queue", 16, 4}, {"l1.latency", 18, 45}, {"shared.latency", 15, 30},
	},
}

// with returns a changed copy.
func (s Spec) with(change func(*Spec)) Spec {
	s.Readings = slices.Clone(s.Readings)
	change(&s)
	return s
}

// parameters are the numbers of a Spec, by name.
var parameters = func() (list []parameter) {
	list = []parameter{
		{"schedulers", 1, 8, func(s *Spec) any { return &s.Schedulers }},
		{"barrier", 1, maxLatency, func(s *Spec) any { return &s.Barrier }},
		{"lsu.ports", 1, 32, func(s *Spec) any { return &s.Ports }},
		{"lsu.queue", 1, 1 << 10, func(s *Spec) any { return &s.Queue }},
		{"l1.latency", 1, maxLatency, func(s *Spec) any { return &s.L1 }},
		{"l1.mshrs", 0, 1 << 20, func(s *Spec) any { return &s.MSHRs }},
		{"l1.merges", 0, 1 << 20, func(s *Spec) any { return &s.Merges }},
		{"shared.latency", 1, maxLatency, func(s *Spec) any { return &s.Shared }},
	}
	for c := range Memory {
		list = append(list,
			parameter{c.String() + ".units", 1, 8, func(s *Spec) any { return &s.Units[c].Count }},
			parameter{c.String() + ".cycles", 1, maxLatency, func(s *Spec) any { return &s.Units[c].Cycles }},
			parameter{c.String() + ".latency", 1, maxLatency, func(s *Spec) any { return &s.Units[c].Latency }})
	}
	return list
}()

// maxLatency is the largest number of cycles of a parameter.
const maxLatency = 1 << 20

// parameter is a number of a Spec.
type parameter struct {
	name      string
	low, high int64
	of        func(s *Spec) any // *int or *int64
}

// get returns the value.
func (p *parameter) get(s *Spec) int64 {
	switch v := p.of(s).(type) {
	case *int:
		return int64(*v)
	case *int64:
		return *v
	}
	panic("BUG: a parameter of another type")
}

// set sets the value.
func (p *parameter) set(s *Spec, n int64) {
	switch v := p.of(s).(type) {
	case *int:
		*v = int(n)
	case *int64:
		*v = n
	}
}

// parameterNamed returns a parameter; nil if there is none.
func parameterNamed(name string) *parameter {
	i := slices.IndexFunc(parameters, func(p parameter) bool { return p.name == name })
	if i < 0 {
		return nil
	}
	return &parameters[i]
}

// ParameterNames returns the names of the parameters of Set.
func ParameterNames() []string {
	names := []string{"scheduler"}
	for i := range parameters {
		names = append(names, parameters[i].name)
	}
	return names
}

// Set changes a parameter: a number, or "scheduler", the name of a policy of Policies or of more. A number that is set is no longer a
// reading. Another number of schedulers changes the units of each class in proportion, unless their number has been set: each scheduler
// keeps its units.
func (s *Spec) Set(name, value string, more []*Policy) error {
	if name == "scheduler" {
		var names []string
		for _, p := range slices.Concat(Policies, more) {
			if p.Name == value {
				s.Policy = p
				return nil
			}
			names = append(names, p.Name)
		}
		return fmt.Errorf("unknown scheduler; want one of %s", strings.Join(names, ", "))
	}
	p := parameterNamed(name)
	if p == nil {
		return errors.New("unknown parameter")
	}
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil || n < p.low || n > p.high {
		return fmt.Errorf("want a number from %d to %d", p.low, p.high)
	}
	before := s.Schedulers
	p.set(s, n)
	if s.Schedulers != before {
		s.scaleUnits(before)
	}
	for c := range Memory {
		s.ownUnits[c] = s.ownUnits[c] || name == c.String()+".units"
	}
	s.Readings = slices.DeleteFunc(slices.Clone(s.Readings), func(r Reading) bool { return r.Name == name })
	return nil
}

// scaleUnits changes the units, which were those of another number of schedulers, in proportion: to the largest number at most in
// proportion that divides the schedulers, and at least 1. Units whose number has been set stay.
func (s *Spec) scaleUnits(before int) {
	for c := range Memory {
		if s.ownUnits[c] {
			continue
		}
		count := &s.Units[c].Count
		for *count = max(1, *count*s.Schedulers/before); s.Schedulers%*count != 0; *count-- {
		}
	}
}

// Value returns the value of a number.
func (s *Spec) Value(name string) int64 { return parameterNamed(name).get(s) }

// Ends returns the specification with all readings at the end of their range for the faster machine, and with all at the other.
func (s *Spec) Ends() (fast, slow Spec) {
	fast, slow = *s, *s
	for _, r := range s.Readings {
		p := parameterNamed(r.Name)
		p.set(&fast, r.Low)
		p.set(&slow, r.High)
	}
	return fast, slow
}

// Check returns an error if the multiprocessor cannot be built. It names the parameter.
func (s *Spec) Check() error {
	if s.Policy == nil {
		return errors.New("scheduler: no policy")
	}
	for i := range parameters {
		if p := &parameters[i]; p.get(s) < p.low || p.get(s) > p.high {
			return fmt.Errorf("%s = %d: want %d to %d", p.name, p.get(s), p.low, p.high)
		}
	}
	for c := range Memory {
		u := &s.Units[c]
		if u.Count > s.Schedulers || s.Schedulers%u.Count != 0 {
			return fmt.Errorf("%s.units = %d: want a divisor of the %d schedulers", c, u.Count, s.Schedulers)
		}
		if u.Of != c && (u.Of >= Memory || s.Units[u.Of].Of != u.Of) {
			return fmt.Errorf("%s: its instructions are executed by units without instructions of their own", c)
		}
	}
	return nil
}
