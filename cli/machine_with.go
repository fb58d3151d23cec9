package cli

// This file is "gemu machine --with" and "--write-descriptors": systems of papers as machines next to those without, and the descriptors
// of data that they read.

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"gemu/machine"
	"gemu/machine/locality"
	"gemu/machine/stream"
	"gemu/machine/systems"
	"gemu/probe"
)

// System makes a system of the machine model, for gemu machine --with NAME=VALUE.
type System = systems.Maker

// with returns each machine, followed by the machine with the systems of each value of --with, and by that with the assist routines of each file of
// --assist.
func (c *machineCmd) with(a *app, specs []machine.Spec) (list []machine.Spec, err error) {
	var all [][]*machine.System
	var names []string
	for _, text := range c.With {
		s, err := systems.Find(text, a.Systems)
		if err != nil {
			return nil, fmt.Errorf("--with %s: %w", text, err)
		}
		all, names = append(all, s), append(names, text)
	}
	for _, file := range c.Assist {
		s, err := systems.OwnAssists("assist="+file, file)
		if err != nil {
			return nil, fmt.Errorf("--assist: %w", err)
		}
		all, names = append(all, []*machine.System{s}), append(names, s.Name)
	}
	estimate := false // registers limit the CTAs of all machines that are compared
	for _, list := range all {
		estimate = estimate || slices.ContainsFunc(list, (*machine.System).GivesResources)
	}
	registers := machine.EstimateRegisters()
	for _, s := range specs {
		if estimate {
			s.Registers = registers
		}
		list = append(list, s)
		for i, added := range all {
			changed := s
			changed.Name += " " + names[i]
			changed.Systems = added
			list = append(list, changed)
		}
	}
	return list, nil
}

// closeSystems returns a function that closes the systems of machines. They are closed at the end of ctx at the latest.
func closeSystems(ctx context.Context, specs []machine.Spec) func() {
	closeAll := func() {
		for i := range specs {
			specs[i].CloseSystems() // an error leaves memory to the end of the process
		}
	}
	stop := context.AfterFunc(ctx, closeAll)
	return func() { stop(); closeAll() }
}

// inference passes launches to machines that need the accesses of a launch first, and to further receivers.
type inference struct {
	forms     map[*probe.LaunchInfo][]locality.Form
	receivers []func(*locality.Launch, []locality.Form)
}

// inferred calls f with each launch that has ended and the forms of its addresses.
func (in *machineRun) inferred(f func(*locality.Launch, []locality.Form)) {
	if in.inference == nil {
		i := &inference{forms: map[*probe.LaunchInfo][]locality.Form{}}
		in.inference = i
		in.probes = append(in.probes, locality.NewFitter(func(l *probe.LaunchInfo, list []locality.Form) { i.forms[l] = list }))
		in.consumers = append(in.consumers, locality.NewCollector(func(l *locality.Launch) {
			forms := i.forms[l.LaunchInfo]
			delete(i.forms, l.LaunchInfo)
			for _, f := range i.receivers {
				f(l, forms)
			}
		}))
	}
	in.inference.receivers = append(in.inference.receivers, f)
}

// feed passes the launches to a machine, a *machine.Machine or a *machine.Clock.
func (in *machineRun) feed(m interface {
	stream.Consumer
	Infers() bool
	Replay(*locality.Launch, []locality.Form)
}) {
	if m.Infers() {
		in.inferred(m.Replay)
	} else {
		in.consumers = append(in.consumers, m)
	}
}

// descriptorWriter collects the inferred descriptors of launches.
type descriptorWriter struct {
	file  systems.File
	known map[string]bool // launches by kernel and grid
}

func newDescriptorWriter() *descriptorWriter {
	return &descriptorWriter{systems.File{Schema: systems.Schema, Locality: []systems.Locality{}, Atoms: []systems.Atom{}}, map[string]bool{}}
}

// add adds the descriptors of a launch, of the first with its kernel and grid. Launches that are too large have none.
func (w *descriptorWriter) add(l *locality.Launch, forms []locality.Form) {
	key := fmt.Sprint(l.Kernel.Name, l.Grid)
	if l.TooLarge || w.known[key] {
		return
	}
	w.known[key] = true
	w.file.Locality = append(w.file.Locality, systems.Inferred(l, forms)...)
	w.file.Atoms = systems.AddAtoms(w.file.Atoms, l, forms)
}

// write writes the file of --write-descriptors.
func (w *descriptorWriter) write(a *app, name string) error {
	b, err := json.MarshalIndent(w.file, "", "  ")
	if err != nil {
		return err
	}
	return writeOutput(a, name, append(b, '\n'))
}
