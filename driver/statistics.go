package driver

// This file is the statistics of all launches of a process.

import (
	"context"
	"encoding/json"
	"sync"

	"gemu/affinetrack"
	"gemu/internal/wholefile"
	"gemu/interp"
	"gemu/models"
	"gemu/ptx"
)

// Statistics are what launches have counted: the file of GEMU_STATS.
type Statistics struct {
	Schema  string       `json:"schema"`  // "gemu-statistics/2"
	Mode    string       `json:"mode"`    // "check", "affine" or "vector"
	Policy  string       `json:"policy"`  // of value structure
	Total   LaunchCounts `json:"total"`   // of all kernels
	Kernels []KernelStat `json:"kernels"` // in the order of their first launch

	Models []*models.Report `json:"models,omitempty"` // of register files, with GEMU_REGFILE: what each made of all launches
}

// KernelStat is what the launches of one kernel have counted.
type KernelStat struct {
	Module string `json:"module"` // as messages name it
	Kernel string `json:"kernel"` // its name
	LaunchCounts
}

// LaunchCounts are sums over launches. Launches that failed are not in them.
type LaunchCounts struct {
	Launches           int64           `json:"launches"`            // that have come to their end
	Seconds            float64         `json:"seconds"`             // of them alone
	ThreadInstructions int64           `json:"thread_instructions"` // as in gemu-run
	WarpInstructions   int64           `json:"warp_instructions"`   // as in gemu-run
	ActiveLanesMean    float64         `json:"active_lanes_mean"`   // as in gemu-run
	Branches           int64           `json:"branches"`            // as in gemu-run
	DivergentBranches  int64           `json:"divergent_branches"`  // as in gemu-run
	Structure          *interp.Summary `json:"structure,omitempty"` // with Settings.Stats

	laneSlots int64
	structure *interp.Structure
}

// add adds a launch.
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
			c.structure = &interp.Structure{Policy: r.Structure.Policy}
		}
		c.structure.Add(r.Structure)
	}
}

// finish computes what is derived from the sums.
func (c *LaunchCounts) finish() {
	if c.WarpInstructions > 0 {
		c.ActiveLanesMean = float64(c.laneSlots) / float64(c.WarpInstructions)
	}
	if c.structure != nil {
		s := c.structure.Summary()
		c.Structure = &s
	}
}

// statistics gathers Statistics.
type statistics struct {
	mu      sync.Mutex
	mode    string
	policy  string
	total   LaunchCounts
	kernels []*KernelStat
	index   map[[2]string]*KernelStat // by module and kernel
	models  *models.Comparison        // nil: there are none
}

func newStatistics(s *Settings) *statistics {
	policy := s.Policy
	if policy == nil {
		policy = affinetrack.Policies[0]
	}
	return &statistics{mode: s.Mode.String(), policy: policy.Name, index: map[[2]string]*KernelStat{}}
}

// add adds a launch of a kernel.
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

// snapshot is what was counted so far.
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

// Statistics are what launches have counted so far; the structure of values is in
// them if the settings name a file for it.
func (d *Driver) Statistics() *Statistics { return d.stats.snapshot() }
