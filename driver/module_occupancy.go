package driver

// This file implements occupancy queries.

import (
	"gemu/interp"
	"gemu/occupancy"
)

// residency returns the number of blocks of a kernel that fit on a multiprocessor at the same time. The limits on threads,
// blocks, shared memory and registers decide. threads is the size of a block, dynamic its dynamic shared memory in bytes.
// The result is 0 if the kernel does not allow blocks of that size.
func (f *Function) residency(threads, dynamic int) (int, error) {
	info, err := f.prepared()
	if err != nil {
		return 0, err
	}
	if threads < 1 || dynamic < 0 {
		return 0, fail(InvalidValue, "blocks of %d threads with %d bytes of dynamic shared memory: want at least 1 thread and 0 bytes", threads, dynamic)
	}
	if threads > info.MaxThreads {
		return 0, nil
	}
	limits := f.module.ctx.dev.d.limits()
	n, _ := limits.Resident(occupancy.Block{Threads: threads, Registers: min(info.Registers, limits.PerThread), Shared: info.Shared + dynamic})
	return n, nil
}

// residency returns the function with a handle, and its residency.
func (t *Thread) residency(h Handle, threads int, dynamic uint64) (*Function, int, error) {
	f, err := t.function(h)
	if err != nil {
		return nil, 0, err
	}
	n, err := f.residency(threads, int(min(dynamic, 1<<30)))
	return f, n, err
}

// OccupancyMaxActiveBlocks is cuOccupancyMaxActiveBlocksPerMultiprocessor: the number of blocks that fit on a
// multiprocessor at the same time.
func (t *Thread) OccupancyMaxActiveBlocks(h Handle, threads int, dynamic uint64) (int, error) {
	_, n, err := t.residency(h, threads, dynamic)
	return n, err
}

// OccupancyMaxActiveClusters is cuOccupancyMaxActiveClusters: the number of clusters that fit on the device at the same
// time.
func (t *Thread) OccupancyMaxActiveClusters(p *LaunchParams) (int, error) {
	f, n, err := t.residency(p.Func, p.Block.Count(), uint64(p.Shared))
	if err != nil {
		return 0, err
	}
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	cluster, err := f.clusterOf(p.Cluster)
	if err != nil {
		return 0, t.d.printError(err)
	}
	return n * interp.Multiprocessors / max(cluster.Count(), 1), nil
}

// OccupancyMaxPotentialClusterSize is cuOccupancyMaxPotentialClusterSize: the maximum cluster size of the kernel, in
// blocks.
func (t *Thread) OccupancyMaxPotentialClusterSize(p *LaunchParams) (int, error) {
	f, n, err := t.residency(p.Func, p.Block.Count(), uint64(p.Shared))
	if err != nil {
		return 0, err
	}
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	return min(f.maxCluster(), n*interp.Multiprocessors), nil
}

// OccupancyMaxPotentialBlockSize is cuOccupancyMaxPotentialBlockSize. block is the largest block size with which the
// number of threads resident on a multiprocessor is the highest; grid is the number of such blocks that fill the device.
// dynamicFor returns the dynamic shared memory for a block size. limit bounds the block size; 0: no limit.
func (t *Thread) OccupancyMaxPotentialBlockSize(h Handle, dynamicFor func(threads int) uint64, limit int) (grid, block int, err error) {
	f, info, err := t.prepared(h)
	if err != nil {
		return 0, 0, err
	}
	maximum := info.MaxThreads
	if limit > 0 {
		maximum = min(maximum, limit)
	}
	best, blocks := 0, 0
	for threads := (maximum + warpSize - 1) / warpSize * warpSize; threads > 0; threads -= warpSize {
		size := min(threads, maximum)
		n, err := f.residency(size, int(min(dynamicFor(size), 1<<30)))
		if err != nil {
			return 0, 0, err
		}
		if n*size > best {
			best, block, blocks = n*size, size, n
		}
	}
	if best == 0 {
		return 0, 0, fail(InvalidValue, "no block of the kernel fits a multiprocessor")
	}
	return blocks * interp.Multiprocessors, block, nil
}

// OccupancyAvailableDynamicShared is cuOccupancyAvailableDynamicSMemPerBlock: the dynamic shared memory in bytes that is
// available to each block if a number of blocks share a multiprocessor.
func (t *Thread) OccupancyAvailableDynamicShared(h Handle, blocks, threads int) (uint64, error) {
	f, err := t.function(h)
	if err != nil {
		return 0, err
	}
	info, err := f.prepared()
	if err != nil {
		return 0, err
	}
	resident, err := f.residency(threads, 0)
	switch {
	case err != nil:
		return 0, err
	case blocks < 1:
		return 0, fail(InvalidValue, "%d blocks: at least 1 is needed", blocks)
	case resident < blocks:
		return 0, fail(InvalidValue, "%d blocks of %d threads do not fit a multiprocessor; %d fit", blocks, threads, resident)
	}
	l := t.d.limits()
	return uint64(max(min(l.Shared/blocks/l.Unit*l.Unit-l.Reserved, l.PerBlock)-info.Shared, 0)), nil
}
