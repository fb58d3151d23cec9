package profile

// This file is what is counted.

// Sizes of pieces of memory, in bytes (CUDA C++ Programming Guide, "Device Memory Accesses"; Nsight
// Compute, "Memory Tables"), and of shared memory's banks ("Shared Memory" of compute
// capability 5.x).
const (
	SectorBytes = 32
	LineBytes   = 128
	Banks       = 32
	BankBytes   = 4
)

// Counts is what an instruction has done, or several.
type Counts struct {
	Execs    int64 `json:"execs"`    // executions by warps
	Active   int64 `json:"active"`   // lanes that were there, added up over executions
	Lanes    int64 `json:"lanes"`    // lanes with a true guard; for a branch, return or exit all lanes at its place
	Diverged int64 `json:"diverged"` // executions with lanes of the warp elsewhere, including lanes that wait at the end

	Branches  int64 `json:"branches"`  // executions of branches
	Taken     int64 `json:"taken"`     // lanes that branches, returns and exits sent elsewhere
	Divergent int64 `json:"divergent"` // branches after which lanes were at several places

	Texture int64 `json:"texture"` // requests to the texture unit: fetches, and accesses to surfaces

	Global   Traffic `json:"global"`   // to global memory, asynchronous copies too
	Local    Traffic `json:"local"`    // to local memory
	Shared   Banked  `json:"shared"`   // to shared memory, but by asynchronous copies
	Constant Banked  `json:"constant"` // to constant memory, and to parameters of kernels
}

// Traffic is requests to memory that is transferred in sectors. A request is what an instruction of a warp
// accesses, or a bulk copy.
type Traffic struct {
	Requests    int64 `json:"requests"`           // how many
	Bytes       int64 `json:"bytes"`              // distinct bytes of a request, summed over requests
	Sectors     int64 `json:"sectors"`            // of 32 bytes that requests touch
	Ideal       int64 `json:"ideal"`              // sectors that would suffice for neighbouring bytes
	Lines       int64 `json:"lines"`              // of 128 bytes that requests touch
	Atomics     int64 `json:"atomics"`            // requests that are atomic operations
	SameAddress int64 `json:"same_address_lanes"` // of them: the most lanes with the same address, added up over requests
}

// Banked is requests to memory in banks.
type Banked struct {
	Requests    int64 `json:"requests"`           // how many
	Bytes       int64 `json:"bytes"`              // distinct bytes of a request, summed over requests
	Passes      int64 `json:"passes"`             // how often banks are accessed
	Ideal       int64 `json:"ideal_passes"`       // passes without conflicts
	Atomics     int64 `json:"atomics"`            // requests that are atomic operations
	SameAddress int64 `json:"same_address_lanes"` // of them: the most lanes with the same address, added up over requests
}

// Conflicts is passes in excess of the least.
func (b *Banked) Conflicts() int64 { return b.Passes - b.Ideal }

// Excess is sectors in excess of those that would do.
func (t *Traffic) Excess() int64 { return t.Sectors - t.Ideal }

// Add adds another's counts.
func (t *Traffic) Add(o *Traffic) {
	t.Requests += o.Requests
	t.Bytes += o.Bytes
	t.Sectors += o.Sectors
	t.Ideal += o.Ideal
	t.Lines += o.Lines
	t.Atomics += o.Atomics
	t.SameAddress += o.SameAddress
}

// Add adds another's counts.
func (b *Banked) Add(o *Banked) {
	b.Requests += o.Requests
	b.Bytes += o.Bytes
	b.Passes += o.Passes
	b.Ideal += o.Ideal
	b.Atomics += o.Atomics
	b.SameAddress += o.SameAddress
}

// Add adds another's counts.
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

// Device is the traffic of global and local memory, which lie in the memory of the device.
func (c *Counts) Device() Traffic {
	t := c.Global
	t.Add(&c.Local)
	return t
}

// Sectors is those of global and local memory.
func (c *Counts) Sectors() int64 { return c.Global.Sectors + c.Local.Sectors }

// Excess is those of them in excess of what would do.
func (c *Counts) Excess() int64 { return c.Global.Excess() + c.Local.Excess() }

// Conflicts is those of shared and of constant memory.
func (c *Counts) Conflicts() int64 { return c.Shared.Conflicts() + c.Constant.Conflicts() }

// mean is a mean, 0 of nothing.
func mean(sum, n int64) float64 {
	if n == 0 {
		return 0
	}
	return float64(sum) / float64(n)
}

// MeanLanes is how many lanes execute it in the mean.
func (c *Counts) MeanLanes() float64 { return mean(c.Lanes, c.Execs) }

// SectorsPerRequest is the sectors of a request in the mean.
func (t *Traffic) SectorsPerRequest() float64 { return mean(t.Sectors, t.Requests) }

// LinesPerRequest is the lines of a request in the mean.
func (t *Traffic) LinesPerRequest() float64 { return mean(t.Lines, t.Requests) }

// PassesPerRequest is the passes of a request in the mean.
func (b *Banked) PassesPerRequest() float64 { return mean(b.Passes, b.Requests) }

// Efficiency is Ideal over Sectors, between 0 and 1: how well accesses are coalesced.
func (t *Traffic) Efficiency() float64 { return mean(t.Ideal, t.Sectors) }
