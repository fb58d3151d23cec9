package driver

// This file has the machines of GEMU_MACHINE, which run the memory requests of all launches.

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"gemu/machine"
	"gemu/machine/stream"
	"gemu/machine/systems"
)

// MachineStat is all launches on a machine.
type MachineStat struct {
	Name    string          `json:"name"`            // name of the machine, or its file
	Total   machine.Counts  `json:"total"`           // counts of all launches
	Kernels []MachineKernel `json:"kernels"`         // one entry for each kernel, in the order of the first end of a launch
	Error   string          `json:"error,omitempty"` // first contradiction of the counts, which are then wrong

	Notices []string `json:"notices,omitempty"` // reasons why systems of the machine have had no effect

	Values *machine.ImageCounts `json:"values,omitempty"` // differences between the order of the machine and the execution; only with GEMU_MACHINE_VALUES
}

// MachineKernel is all launches of a kernel on a machine.
type MachineKernel struct {
	Module   string         `json:"module"`   // name of the module in messages
	Kernel   string         `json:"kernel"`   // name of the kernel
	Launches int64          `json:"launches"` // number of launches
	Counts   machine.Counts `json:"counts"`   // counts of the launches
	Lines    []MachineLine  `json:"lines"`    // lines of the PTX with requests, in their order
}

// MachineLine is a line of the PTX.
type MachineLine struct {
	Line   int            `json:"line"`   // number of the line in the PTX of its function's module, from 1 on
	Counts machine.Counts `json:"counts"` // counts of the instructions of the line; write-backs are 0

	Changed int64 `json:"changed,omitempty"` // loads of lines of memory that would have seen another value; only with GEMU_MACHINE_VALUES
}

// SetDescriptors sets the descriptors of data of the program, in place of earlier ones: the text of a file that docs/json.md describes as
// gemu-descriptors/1, or "" for none. Machines with the systems ldesc=program and xmem=program (GEMU_MACHINE) take them for launches that begin
// later. They are those of the process, not of a device. The error InvalidValue has the line of a wrong text.
func (d *Driver) SetDescriptors(text string) error {
	var f *systems.File
	if text != "" {
		var err error
		if f, err = systems.Read("descriptors", []byte(text)); err != nil {
			return fail(InvalidValue, "%v", err)
		}
	}
	systems.SetHost(f)
	return nil
}

// machineStatistics sums the launches of a machine by kernel, and forgets them. It is the consumer of a recorder.
type machineStatistics struct {
	*machine.Machine
	report func(err error) // reports the first error of the machine

	mu   sync.Mutex
	stat MachineStat
}

// addMachines adds machines to the statistics, and returns the probe that feeds them. With values they compare the values of loads. report
// reports the first error of a machine.
func (s *statistics) addMachines(specs []machine.Spec, values bool, report func(err error)) *stream.Recorder {
	var consumers stream.Consumers
	for _, spec := range specs {
		m := &machineStatistics{Machine: machine.New(spec, 0), report: report, stat: MachineStat{Name: spec.Name}}
		if values {
			m.stat.Values = new(machine.ImageCounts)
		}
		s.machines, consumers = append(s.machines, m), append(consumers, m)
	}
	if values {
		return stream.NewDataRecorder(consumers)
	}
	return stream.NewRecorder(consumers)
}

// EndLaunch ends a launch, verifies its counts and adds them.
func (m *machineStatistics) EndLaunch(l *stream.Launch, err error) {
	m.Machine.EndLaunch(l, err)
	m.add()
}

// add verifies the counts of the launches that have ended, and adds them.
func (m *machineStatistics) add() {
	m.mu.Lock()
	defer m.mu.Unlock()
	err := m.Err()
	if err == nil {
		if err = m.Verify(); err != nil {
			err = fmt.Errorf("%w. This is an error of gemu: please report it", err)
		}
	}
	if err != nil && m.stat.Error == "" {
		m.stat.Error = err.Error()
		m.report(err)
	}
	m.stat.Notices = m.Notices()
	for _, launch := range m.TakeLaunches() {
		m.stat.add(launch)
	}
}

// add adds the counts of a launch.
func (s *MachineStat) add(l *machine.Launch) {
	s.Total.Add(&l.Counts)
	if s.Values != nil {
		s.Values.Add(&l.Image)
	}
	module, name := l.Kernel.Module().Name, l.Kernel.Name
	i := slices.IndexFunc(s.Kernels, func(k MachineKernel) bool { return k.Module == module && k.Kernel == name })
	if i < 0 {
		i = len(s.Kernels)
		s.Kernels = append(s.Kernels, MachineKernel{Module: module, Kernel: name, Lines: []MachineLine{}})
	}
	k := &s.Kernels[i]
	k.Launches++
	k.Counts.Add(&l.Counts)
	for n := range l.Instrs {
		if l.Instrs[n].Requests == 0 {
			continue
		}
		instr, _ := l.Program.At(n)
		line := int(instr.Pos.Line)
		at, found := slices.BinarySearchFunc(k.Lines, line, func(l MachineLine, line int) int { return cmp.Compare(l.Line, line) })
		if !found {
			k.Lines = slices.Insert(k.Lines, at, MachineLine{Line: line})
		}
		k.Lines[at].Counts.Add(&l.Instrs[n])
		k.Lines[at].Changed += l.Changed[n]
	}
}

// snapshot returns the counts of the launches that have ended.
func (m *machineStatistics) snapshot() *MachineStat {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := m.stat
	if out.Values != nil {
		values := *out.Values
		out.Values = &values
	}
	out.Kernels = slices.Clone(m.stat.Kernels)
	for i := range out.Kernels {
		out.Kernels[i].Lines = slices.Clone(out.Kernels[i].Lines)
	}
	return &out
}
