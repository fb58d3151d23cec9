package profile

// This file defines the counters.

import "gemu/internal/coalesce"

// Units of memory transfer in bytes (CUDA C++ Programming Guide, "Device Memory Accesses"; Nsight Compute,
// "Memory Tables"), and the banks of shared memory ("Shared Memory" of compute capability 5.x).
const (
	SectorBytes = coalesce.SectorBytes // 32 bytes of global memory
	LineBytes   = coalesce.LineBytes   // 128 bytes of global memory: four sectors
	Banks       = coalesce.Banks       // 32 banks of shared memory
	BankBytes   = coalesce.BankBytes   // 4 bytes: the width of a bank
)

// Counts holds the counters of a set of instructions.
type Counts struct {
	Execs    int64 `json:"execs"`    // executions by warps
	Active   int64 `json:"active"`   // active lanes, added up over executions
	Lanes    int64 `json:"lanes"`    // lanes with a true guard; for a branch, return or exit all lanes at its place
	Diverged int64 `json:"diverged"` // executions while lanes of the warp were at other instructions or waited at the kernel's end

	Branches  int64 `json:"branches"`  // executions of branches
	Taken     int64 `json:"taken"`     // lanes with a new place after a branch, return or exit
	Divergent int64 `json:"divergent"` // executions of branches with diverging lanes

	Texture int64 `json:"texture"` // requests to the texture unit: fetches, and accesses to surfaces

	Global   Traffic `json:"global"`   // requests to global memory, with asynchronous copies
	Local    Traffic `json:"local"`    // requests to local memory
	Shared   Banked  `json:"shared"`   // requests to shared memory, without asynchronous copies
	Constant Banked  `json:"constant"` // requests to constant memory, and to parameters of kernels
}

// Traffic counts requests to memory that is transferred in sectors. A request is the access of a warp
// instruction, or a bulk copy.
type Traffic struct {
	Requests    int64 `json:"requests"`           // number of requests
	Bytes       int64 `json:"bytes"`              // distinct bytes of a request, summed over requests
	Sectors     int64 `json:"sectors"`            // sectors (32 bytes) of a request, summed over requests
	Ideal       int64 `json:"ideal"`              // least number of sectors for the same number of consecutive bytes, summed
	Lines       int64 `json:"lines"`              // lines (128 bytes) of a request, summed over requests
	Atomics     int64 `json:"atomics"`            // number of atomic requests
	SameAddress int64 `json:"same_address_lanes"` // largest number of lanes with the same address in a request, summed over atomic requests
}

// Banked counts requests to memory in banks.
type Banked struct {
	Requests    int64 `json:"requests"`           // number of requests
	Bytes       int64 `json:"bytes"`              // distinct bytes of a request, summed over requests
	Passes      int64 `json:"passes"`             // necessary accesses to all banks, summed over requests
	Ideal       int64 `json:"ideal_passes"`       // passes without conflicts
	Atomics     int64 `json:"atomics"`            // number of atomic requests
	SameAddress int64 `json:"same_address_lanes"` // largest number of lanes with the same address in a request, summed over atomic requests
}

// Conflicts returns the number of passes beyond Ideal.
func (b *Banked) Conflicts() int64 { return b.Passes - b.Ideal }

// Excess returns the number of sectors beyond Ideal.
func (t *Traffic) Excess() int64 { return t.Sectors - t.Ideal }

// Add adds the counts of o.
func (t *Traffic) Add(o *Traffic) {
	t.Requests += o.Requests
	t.Bytes += o.Bytes
	t.Sectors += o.Sectors
	t.Ideal += o.Ideal
	t.Lines += o.Lines
	t.Atomics += o.Atomics
	t.SameAddress += o.SameAddress
}

// Add adds the counts of o.
func (b *Banked) Add(o *Banked) {
	b.Requests += o.Requests
	b.Bytes += o.Bytes
	b.Passes += o.Passes
	b.Ideal += o.Ideal
	b.Atomics += o.Atomics
	b.SameAddress += o.SameAddress
}

// Add adds the counts of o.
func (c *Counts) Add(o *Counts) {
	c.Execs += o.Execs
	c.Active += o.Active
	c.Lanes += o.Lanes
	c.Diverged += o.Diverged
	c.Branches += o.Branches
	c.Taken += o.Taken
	c.Divergent += o.Divergent
	c.Texture += o.Texture
	c.Global.Add(&o.Global)
	c.Local.Add(&o.Local)
	c.Shared.Add(&o.Shared)
	c.Constant.Add(&o.Constant)
}

// Device returns the sum of global and local memory, which both lie in device memory.
func (c *Counts) Device() Traffic {
	t := c.Global
	t.Add(&c.Local)
	return t
}

// Sectors returns the sectors of global and local memory.
func (c *Counts) Sectors() int64 { return c.Global.Sectors + c.Local.Sectors }

// Excess returns the excess sectors of global and local memory.
func (c *Counts) Excess() int64 { return c.Global.Excess() + c.Local.Excess() }

// Conflicts returns the conflicts in shared and constant memory.
func (c *Counts) Conflicts() int64 { return c.Shared.Conflicts() + c.Constant.Conflicts() }

// mean returns sum/n, or 0 if n is 0.
func mean(sum, n int64) float64 {
	if n == 0 {
		return 0
	}
	return float64(sum) / float64(n)
}

// MeanLanes returns the mean number of executing lanes.
func (c *Counts) MeanLanes() float64 { return mean(c.Lanes, c.Execs) }

// SectorsPerRequest returns the mean number of sectors of a request.
func (t *Traffic) SectorsPerRequest() float64 { return mean(t.Sectors, t.Requests) }

// LinesPerRequest returns the mean number of lines of a request.
func (t *Traffic) LinesPerRequest() float64 { return mean(t.Lines, t.Requests) }

// PassesPerRequest returns the mean number of passes of a request.
func (b *Banked) PassesPerRequest() float64 { return mean(b.Passes, b.Requests) }

// Efficiency returns Ideal/Sectors, between 0 and 1: the degree of coalescing.
func (t *Traffic) Efficiency() float64 { return mean(t.Ideal, t.Sectors) }
