package driver

// This file counts the statistics of all launches of a process.

import (
	"context"
	"encoding/json"
	"sync"

	"gemu/affinetrack"
	"gemu/internal/document"
	"gemu/internal/wholefile"
	"gemu/interp"
	"gemu/models"
	"gemu/profile"
	"gemu/ptx"
	"gemu/structure"
)

// Statistics are the counts of all launches: the content of the file of GEMU_STATS.
type Statistics struct {
	Schema  string       `json:"schema"`  // "gemu-statistics/2"
	Mode    string       `json:"mode"`    // "check", "affine" or "vector"
	Policy  string       `json:"policy"`  // value policy
	Total   LaunchCounts `json:"total"`   // sums over all kernels
	Kernels []KernelStat `json:"kernels"` // one entry for each kernel, in the order of first launches

	Models []*models.Report `json:"models,omitempty"` // reports of register-file models on all launches, with GEMU_REGFILE

	Machines []*MachineStat `json:"machines,omitempty"` // machines, with GEMU_MACHINE

	Profile []*document.KernelProfile `json:"profile,omitempty"` // counts of each kernel by line, with GEMU_PROFILE, in the order of first launches. Classes of results are counted with GEMU_STATS
}

// KernelStat holds the counts of all launches of one kernel.
type KernelStat struct {
	Module string `json:"module"` // name of the module in messages
	Kernel string `json:"kernel"` // name of the kernel
	LaunchCounts
}

// LaunchCounts holds sums over the launches that did not fail.
type LaunchCounts struct {
	Launches           int64              `json:"launches"`            // number of launches
	Seconds            float64            `json:"seconds"`             // duration of the launches
	ThreadInstructions int64              `json:"thread_instructions"` // as in gemu-run
	WarpInstructions   int64              `json:"warp_instructions"`   // as in gemu-run
	ActiveLanesMean    float64            `json:"active_lanes_mean"`   // as in gemu-run
	Branches           int64              `json:"branches"`            // as in gemu-run
	DivergentBranches  int64              `json:"divergent_branches"`  // as in gemu-run
	Structure          *structure.Summary `json:"structure,omitempty"` // value structure of the launches

	laneSlots int64                // sum of interp.Result.LaneSlots
	structure *structure.Structure // nil if no launch has counted the structure of its values
}

// add adds the counts of a launch.
func (c *LaunchCounts) add(r *interp.Result) {
	c.Launches++
	c.Seconds += r.Duration.Seconds()
	c.ThreadInstructions += r.ThreadInstructions
	c.WarpInstructions += r.WarpInstructions
	c.laneSlots += r.LaneSlots
	c.Branches += r.Branches
	c.DivergentBranches += r.DivergentBranches
	if r.Structure != nil {
		if c.structure == nil {
			c.structure = &structure.Structure{Policy: r.Structure.Policy}
		}
		c.structure.Add(r.Structure)
	}
}

// finish computes the fields that are derived from sums.
func (c *LaunchCounts) finish() {
	if c.WarpInstructions > 0 {
		c.ActiveLanesMean = float64(c.laneSlots) / float64(c.WarpInstructions)
	}
	if c.structure != nil {
		s := c.structure.Summary()
		c.Structure = &s
	}
}

// statistics collects the counts for Statistics.
type statistics struct {
	mu      sync.Mutex
	mode    string
	policy  string
	total   LaunchCounts
	kernels []*KernelStat             // in the order of first launches
	index   map[[2]string]*KernelStat // by module and kernel
	models  *models.Comparison        // nil: none

	machines []*machineStatistics

	profile      *profile.Probe // nil: none
	profileInPTX bool           // the lines of the profile are those of the PTX
}

func newStatistics(s *Settings) *statistics {
	policy := s.Policy
	if policy == nil {
		policy = affinetrack.Policies[0]
	}
	return &statistics{mode: s.Mode.String(), policy: policy.Name, index: map[[2]string]*KernelStat{}}
}

// add adds the counts of a launch of a kernel.
func (s *statistics) add(kernel *ptx.Func, r *interp.Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := [2]string{kernel.Module().Name, kernel.Name}
	k := s.index[key]
	if k == nil {
		k = &KernelStat{Module: key[0], Kernel: key[1]}
		s.index[key] = k
		s.kernels = append(s.kernels, k)
	}
	k.add(r)
	s.total.add(r)
}

// snapshot returns the counts of all launches so far.
func (s *statistics) snapshot() *Statistics {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := &Statistics{Schema: "gemu-statistics/2", Mode: s.mode, Policy: s.policy, Total: s.total, Kernels: []KernelStat{}}
	out.Total.finish()
	for _, k := range s.kernels {
		k.finish()
		out.Kernels = append(out.Kernels, *k)
	}
	if s.models != nil {
		out.Models = s.models.Reports()
	}
	for _, m := range s.machines {
		out.Machines = append(out.Machines, m.snapshot())
	}
	if s.profile != nil {
		out.Profile = document.KernelProfiles(s.profile.Profile(), document.ClassesOf(s.total.structure), s.profileInPTX)
	}
	return out
}

// write writes the statistics to a file.
func (s *statistics) write(file string) error {
	b, err := json.MarshalIndent(s.snapshot(), "", "  ")
	if err != nil {
		return err
	}
	return wholefile.Write(context.Background(), file, append(b, '\n'))
}

// Statistics returns the counts of all launches so far. They include the value structure if Settings.Stats is set.
func (d *Driver) Statistics() *Statistics { return d.stats.snapshot() }
