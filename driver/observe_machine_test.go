package driver

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gemu/machine"
	"gemu/machine/dispatch"
	"gemu/machine/stream"
)

// TestMachines: the counts of GEMU_MACHINE are the sums over the launches. Each warp of add loads and stores 128 bytes. Each launch begins
// with an empty L1, and the L2 keeps the data.
func TestMachines(t *testing.T) {
	c := newClient(t, func(s *Settings) {
		for _, name := range []string{"v100", "h100"} {
			spec, ok := machine.Find(name)
			if !ok {
				t.Fatal(name)
			}
			s.Machines = append(s.Machines, spec)
		}
	})
	at := c.alloc(256)
	for range 3 {
		c.ok(c.launch("add", 1, 64, at, 10))
	}
	c.ok(c.CtxSynchronize(0))
	want := machine.Counts{Requests: 3 * 2 * 2, Loads: 3 * 2 * 4, Stores: 3 * 2 * 4, L1Misses: 24, L1StoreHits: 24, L2Hits: 40, L2WriteHits: 24, L2Misses: 8, Reads: 8, UsedBytes: 2 * 3 * 256, L1Compulsory: 24, CompulsoryReads: 8}
	list := c.d.Statistics().Machines
	if len(list) != 2 || list[0].Name != "v100" || list[1].Name != "h100" {
		t.Fatalf("%+v", list)
	}
	line := strings.Count(kernels[:strings.Index(kernels, "ld.global.u32 %r4")], "\n") + 1
	for _, m := range list {
		if m.Total != want || len(m.Kernels) != 1 {
			t.Fatalf("%s: %+v, want %+v", m.Name, m, want)
		}
		k := m.Kernels[0]
		if k.Kernel != "add" || k.Launches != 3 || k.Counts != want || len(k.Lines) != 1 || k.Lines[0].Line != line || k.Lines[0].Counts != want {
			t.Errorf("%s: %+v, want %+v in line %d", m.Name, k, want, line)
		}
	}
}

// TestMachinesWithDescriptors: a machine of GEMU_MACHINE takes the descriptors in a file. Data without reuse bypass the L1, so that stores do not hit there.
func TestMachinesWithDescriptors(t *testing.T) {
	at := newClient(t, func(*Settings) {}).alloc(256) // the address is the same in each process
	file := filepath.Join(t.TempDir(), "d.json")
	if err := os.WriteFile(file, fmt.Appendf(nil, `{"schema": "gemu-descriptors/1", "locality": [{"base": %d, "type": "NO_REUSE"}]}`, at), 0o666); err != nil {
		t.Fatal(err)
	}
	c := newClient(t, func(s *Settings) {
		err := s.Environment(func(name string) string {
			return map[string]string{"GEMU_MACHINE": "v100,v100+ldesc=" + file, "GEMU_STATS": filepath.Join(t.TempDir(), "s.json")}[name]
		})
		if err != nil {
			t.Fatal(err)
		}
	})
	c.ok(c.launch("add", 1, 64, c.alloc(256), 10))
	c.ok(c.CtxSynchronize(0))
	list := c.d.Statistics().Machines
	if len(list) != 2 || list[0].Total.L1StoreHits != 8 || list[1].Total.L1StoreHits != 0 || list[1].Total.Loads != list[0].Total.Loads || list[1].Name != "v100+ldesc="+file {
		t.Errorf("%+v and %+v, want 8 and 0 hits of stores", list[0], list[1])
	}
}

// TestMachinesWithProgramDescriptors: a machine of GEMU_MACHINE takes the descriptors that the host gives for launches that begin later. Data
// without reuse bypass the L1, so that stores do not hit there: of three launches with 8 sectors each, the second has such a descriptor.
func TestMachinesWithProgramDescriptors(t *testing.T) {
	c := newClient(t, func(s *Settings) {
		err := s.Environment(func(name string) string {
			return map[string]string{"GEMU_MACHINE": "v100,v100+ldesc=program", "GEMU_STATS": filepath.Join(t.TempDir(), "s.json")}[name]
		})
		if err != nil {
			t.Fatal(err)
		}
	})
	defer c.d.SetDescriptors("")
	at := c.alloc(256)
	for _, text := range []string{"", fmt.Sprintf(`{"schema": "gemu-descriptors/1", "locality": [{"base": %d, "type": "NO_REUSE"}]}`, at), ""} {
		if err := c.d.SetDescriptors(text); err != nil {
			t.Fatal(err)
		}
		c.ok(c.launch("add", 1, 64, at, 10))
		c.ok(c.CtxSynchronize(0))
	}
	if list := c.d.Statistics().Machines; len(list) != 2 || list[0].Total.L1StoreHits != 24 || list[1].Total.L1StoreHits != 16 {
		t.Errorf("%+v and %+v, want 24 and 16 hits of stores", list[0], list[1])
	}
	if list := c.d.Statistics().Machines; len(list[0].Notices)+len(list[1].Notices) != 0 {
		t.Errorf("notices %q and %q, want none", list[0].Notices, list[1].Notices)
	}
	if err := c.d.SetDescriptors("{"); ResultOf(err) != InvalidValue || !strings.Contains(err.Error(), "descriptors:1: the text ends too early") {
		t.Error(err)
	}
}

// TestMachinesWithoutDescriptors: the statistics of a machine say that the program gives no descriptors.
func TestMachinesWithoutDescriptors(t *testing.T) {
	c := newClient(t, func(s *Settings) {
		err := s.Environment(func(name string) string {
			return map[string]string{"GEMU_MACHINE": "v100,v100+xmem=program", "GEMU_STATS": filepath.Join(t.TempDir(), "s.json")}[name]
		})
		if err != nil {
			t.Fatal(err)
		}
	})
	if list := c.d.Statistics().Machines; len(list[1].Notices) != 0 {
		t.Errorf("%q before the first launch", list[1].Notices)
	}
	c.ok(c.launch("add", 1, 64, c.alloc(256), 10))
	c.ok(c.CtxSynchronize(0))
	list := c.d.Statistics().Machines
	if len(list[0].Notices) != 0 || len(list[1].Notices) != 1 || !strings.HasPrefix(list[1].Notices[0], "xmem=program has no effect: the program gives no atom for its launches. ") {
		t.Errorf("%q and %q, want a notice of the second", list[0].Notices, list[1].Notices)
	}
}

// TestMachinesWithWrongDescriptors: a wrong descriptor is the error of its machine. The statistics do not say that the program gives none.
func TestMachinesWithWrongDescriptors(t *testing.T) {
	for _, system := range []string{"xmem", "ldesc"} {
		c := newClient(t, func(s *Settings) {
			err := s.Environment(func(name string) string {
				return map[string]string{"GEMU_MACHINE": "v100+" + system + "=program", "GEMU_STATS": filepath.Join(t.TempDir(), "s.json")}[name]
			})
			if err != nil {
				t.Fatal(err)
			}
		})
		c.mod = c.load(".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n\t.pragma \"gemu.atom param=p pattern=REGULAR access=NONE\";\n\tret;\n}\n")
		c.ok(c.launch("k", 1, 32, c.alloc(256)))
		c.ok(c.CtxSynchronize(0))
		if m := c.d.Statistics().Machines[0]; !strings.Contains(m.Error, `.pragma "gemu.atom": access "NONE"`) || len(m.Notices) != 0 {
			t.Errorf("%s: error %q, notices %q; want the error alone", system, m.Error, m.Notices)
		}
	}
}

// TestMachineValues: with GEMU_MACHINE_VALUES the statistics have the loads that would have seen another value, and their line; of two
// launches the first, because memory has the value in the second.
func TestMachineValues(t *testing.T) {
	c := newClient(t, func(s *Settings) {
		err := s.Environment(func(name string) string {
			return map[string]string{"GEMU_MACHINE": "v100", "GEMU_MACHINE_VALUES": "1", "GEMU_STATS": filepath.Join(t.TempDir(), "s.json")}[name]
		})
		if err != nil {
			t.Fatal(err)
		}
	})
	early, err := os.ReadFile("../testdata/machine/early.ptx")
	if err != nil {
		t.Fatal(err)
	}
	c.mod = c.load(string(early))
	out := c.alloc(128)
	for range 2 {
		c.ok(c.launch("k", 1, 64, out))
	}
	c.ok(c.CtxSynchronize(0))
	stat := c.d.Statistics().Machines[0]
	if want := (machine.ImageCounts{Loads: 2, Changed: 1}); stat.Values == nil || *stat.Values != want {
		t.Fatalf("%+v, want %+v", stat.Values, want)
	}
	for _, l := range stat.Kernels[0].Lines {
		if want := map[int]int64{21: 1}[l.Line]; l.Changed != want {
			t.Errorf("line %d: %d loads would have seen another value, want %d", l.Line, l.Changed, want)
		}
	}
}

// TestMachinePaths: the files of machines and of descriptors may have plus signs in their paths.
func TestMachinePaths(t *testing.T) {
	file := filepath.Join(t.TempDir(), "c++", "m+ldesc.txt")
	if err := os.Mkdir(filepath.Dir(file), 0o777); err != nil {
		t.Fatal(err)
	}
	descriptors := filepath.Join(filepath.Dir(file), "d+.json")
	for name, text := range map[string]string{file: "base = v100\nsms = 3\n", descriptors: `{"schema": "gemu-descriptors/1"}`} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	s := DefaultSettings()
	err := s.Environment(func(name string) string {
		return map[string]string{"GEMU_MACHINE": file + "," + file + "+ldesc=" + descriptors + "+xmem=" + descriptors, "GEMU_STATS": "s.json"}[name]
	})
	if err != nil || len(s.Machines) != 2 || s.Machines[0].SMs != 3 || len(s.Machines[0].Systems) != 0 || s.Machines[1].SMs != 3 || len(s.Machines[1].Systems) != 2 {
		t.Errorf("%+v, %v", s.Machines, err)
	}
}

// TestMachineError: a machine whose dispatcher leaves out CTAs is reported once on standard error, and in the statistics.
func TestMachineError(t *testing.T) {
	c := newClient(t, func(s *Settings) {
		spec, _ := machine.Find("v100")
		wrong := spec
		wrong.Dispatcher = &dispatch.Policy{Name: "none", New: func(l *dispatch.Launch) dispatch.Dispatcher {
			return dispatch.NewZones(l.SMs, make([][]int, 1))
		}}
		s.Machines = []machine.Spec{wrong, spec}
	})
	for range 2 {
		c.ok(c.launch("add", 1, 64, c.alloc(256), 10))
	}
	c.ok(c.CtxSynchronize(0))
	const want = "kernel add on machine v100: "
	list := c.d.Statistics().Machines
	if len(list) != 2 || !strings.HasPrefix(list[0].Error, want) || list[1].Error != "" {
		t.Fatalf("%+v, want an error of the first machine", list)
	}
	if got := c.messages.String(); strings.Count(got, "gemu: GEMU_MACHINE: ") != 1 || strings.Count(got, list[0].Error+"\n") != 1 {
		t.Errorf("standard error %q, want the error %q once", got, list[0].Error)
	}
}

// wrongLoads is a machine that counts a load too many.
type wrongLoads struct{ *machineStatistics }

func (m wrongLoads) EndLaunch(l *stream.Launch, err error) {
	m.Machine.EndLaunch(l, err)
	m.Launches()[0].Buffers[0].Loads++
	m.add()
}

// TestMachineContradiction: a launch whose counts contradict each other is reported once, with the contradiction.
func TestMachineContradiction(t *testing.T) {
	spec, _ := machine.Find("v100")
	var reports []error
	m := &machineStatistics{Machine: machine.New(spec, 0), report: func(err error) { reports = append(reports, err) }}
	c := newClient(t, func(s *Settings) { s.Probes = append(s.Probes, stream.NewRecorder(wrongLoads{m})) })
	for range 2 {
		c.ok(c.launch("add", 1, 64, c.alloc(256), 10))
	}
	c.ok(c.CtxSynchronize(0))
	got := m.snapshot()
	if want := "the counts contradict loads = l1_hits + l1_misses: "; len(reports) != 1 || reports[0].Error() != got.Error || !strings.Contains(got.Error, "kernel add on machine v100") || !strings.Contains(got.Error, want) {
		t.Errorf("reports %v, error %q, want one with %q", reports, got.Error, want)
	}
}
