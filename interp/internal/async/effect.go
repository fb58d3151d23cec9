package async

// This file executes an effect: it resolves the addresses, reads the source, writes the target and notifies the mbarrier.

import (
	"fmt"
	"unsafe"

	"gemu/interp/internal/access"
	"gemu/interp/internal/code"
	"gemu/interp/internal/machine"
	"gemu/interp/internal/mem"
	"gemu/probe"
)

// sourceRegion returns the bytes that the effect reads.
func sourceRegion(e *machine.AsyncEffect) ([]byte, *mem.Fault) {
	_, data, fault := e.CTA.RegionOf(e.Op.From, probe.AccessLoad, e.From, e.Bytes, e.Align())
	return data, fault
}

// targetRegion returns the bytes that the effect writes. If the effect completes at an mbarrier, they must be in the shared
// memory of the CTA that has the mbarrier.
func targetRegion(e *machine.AsyncEffect) ([]byte, *mem.Fault) {
	alloc, data, fault := e.CTA.RegionOf(e.Op.To, probe.AccessStore, e.To, e.Bytes+e.Fill, e.Align())
	if owner := e.CTA.CTAAt(e.Mbarrier); fault == nil && alloc != nil && e.Op.NotifiesMbarrier && alloc != owner.SharedMem {
		return nil, &mem.Fault{Kind: probe.ErrWrongSpace, Msg: fmt.Sprintf("%d bytes at %s must be in the shared memory of cta %s, like the mbarrier that counts them", e.Bytes, machine.HexAddr(e.To), owner.ID)}
	}
	return data, fault
}

// resolveEffect stops the warp with a trap if the source or the target of the effect is invalid. It reports whether both
// are valid.
func resolveEffect(w *machine.Warp, e *machine.AsyncEffect) bool {
	_, fault := targetRegion(e)
	addr := e.To
	if fault == nil && e.Data == nil {
		_, fault = sourceRegion(e)
		addr = e.From
	}
	if fault != nil {
		w.Err = faultTrap(e, fault, addr)
		return false
	}
	return true
}

// faultTrap makes the trap for a memory fault of an effect. Its place is the instruction that issued the effect.
func faultTrap(e *machine.AsyncEffect, fault *mem.Fault, addr uint64) *probe.Trap {
	t := effectTrap(e, fault.Kind, "%s", fault.Msg)
	t.Addr, t.Bytes, t.Nearby = addr, int(e.Bytes+e.Fill), fault.Near
	return t
}

// effectTrap makes a trap for an effect. Its place is the instruction that issued the effect.
func effectTrap(e *machine.AsyncEffect, kind error, format string, args ...any) *probe.Trap {
	c := e.CTA
	t := c.NewTrap(e.Src, kind, format, args...)
	t.Warp, t.Lanes, t.Active, t.Thread = e.Warp, 1<<e.Lane, e.Active, c.ThreadID(e.Warp*c.Code.Width+e.Lane)
	return t
}

// executeEffect executes an effect, unless it has happened already. A tensor-core operation first executes all earlier
// ones: see runPipe.
//
//go:norace
func executeEffect(e *machine.AsyncEffect) error {
	if e.Done {
		return nil
	}
	c := e.CTA
	if isPipeOp(e) {
		return runPipe(c.Cluster, e)
	}
	e.Done = true
	c.AsyncState.KeptBytes -= e.KeptBytes
	c.Changed = true
	if e.Arrives {
		// Earlier copies of the same thread happen before the arrival.
		if err := executeCopiesBefore(c, queueOf(&c.Warps[e.Warp], e.Lane/32), e.Lane%32, e.Sequence); err != nil {
			return err
		}
		emitEffect(e, machine.StageWrites)
		return notifyMbarrier(e)
	}
	if isPlainCopy(e) && !c.IsSubscribed(probe.OnEffect) {
		if err := copyPlain(e); err != nil || !e.Op.NotifiesMbarrier {
			return err
		}
		return notifyMbarrier(e)
	}
	if isPlainTensorCopy(e) && !c.IsSubscribed(probe.OnEffect) {
		if err := copyTensor(e); err != nil || !e.Op.NotifiesMbarrier {
			return err
		}
		return notifyMbarrier(e)
	}
	stage := machine.StageWrites
	if e.Data == nil {
		stage |= machine.StageReads
	}
	if err := readSource(e); err != nil {
		return err
	}
	emitEffect(e, stage)
	if e.Tensor != nil {
		if err := writeTensor(e); err != nil || !e.Op.NotifiesMbarrier {
			return err
		}
		return notifyMbarrier(e)
	}
	to, fault := targetRegion(e)
	if fault != nil {
		return faultTrap(e, fault, e.To)
	}
	if e.Op.Reduces {
		reduceBytes(to, e.Data, e.Op.Reduction)
	} else if e.Unwritten != 0 {
		for i, v := range e.Data {
			if e.Unwritten>>(i%16)&1 == 0 {
				to[i] = v
			}
		}
	} else {
		copy(to, e.Data)
		clear(to[e.Bytes:])
	}
	if e.Op.NotifiesMbarrier {
		return notifyMbarrier(e)
	}
	return nil
}

// isPlainCopy reports whether an effect copies each byte of its source, and nothing else.
func isPlainCopy(e *machine.AsyncEffect) bool {
	return e.Data == nil && e.Tensor == nil && !e.Op.Reduces && e.Unwritten == 0 && e.Op.ReportPattern == code.NoReport
}

// copyPlain executes a plain copy.
//
//go:norace
func copyPlain(e *machine.AsyncEffect) error {
	from, fault := sourceRegion(e)
	if fault != nil {
		return faultTrap(e, fault, e.From)
	}
	to, fault := targetRegion(e)
	if fault != nil {
		return faultTrap(e, fault, e.To)
	}
	clear(to[copy(to, from):])
	return nil
}

// readSource reads the source of an effect into Data, unless it has been read already.
//
//go:norace
func readSource(e *machine.AsyncEffect) error {
	switch {
	case e.Data != nil || e.Arrives:
		return nil
	case e.Tensor != nil:
		return readTensor(e)
	}
	from, fault := sourceRegion(e)
	if fault != nil {
		return faultTrap(e, fault, e.From)
	}
	e.Data = make([]byte, len(from))
	copy(e.Data, from)
	e.PatternFound = e.Op.ReportPattern.Matches(e.Data)
	if !e.Done {
		chargeEffect(e, uint64(len(from)))
	}
	return nil
}

// reduceBytes combines each element of data with the element of target at the same index (manual 9.7.9.25.4.2).
//
//go:norace
func reduceBytes(target, data []byte, r code.Reduction) {
	size := r.Type.Size()
	mask := access.WidthMask(r.Type)
	for i := 0; i+size <= len(target); i += size {
		p := unsafe.Pointer(&target[i])
		mem.StoreBits(p, size, access.ApplyReduction(r, mask, mem.LoadBits(p, size), mem.LoadBits(unsafe.Pointer(&data[i]), size), 0))
	}
}

// transactionsOf returns the number of bytes that the mbarrier counts for the effect.
func transactionsOf(e *machine.AsyncEffect) uint64 { return e.Bytes + e.IgnoredBytes }

// notify returns an mbarrier after an effect has notified it: after an arrival or, for a copy, after its bytes are counted and its source is
// known to contain the effect's pattern. It returns the reason if the change is invalid.
func notify(e *machine.AsyncEffect, b mbarrier) (after mbarrier, bad string) {
	if e.Arrives {
		return b.arrive(1)
	}
	if e.PatternFound {
		b = b.withReport()
	}
	return b.completeTx(transactionsOf(e))
}

// notifyMbarrier changes the mbarrier of an effect.
func notifyMbarrier(e *machine.AsyncEffect) error {
	c := e.CTA
	b, bad := mbarrierOf(c, e.Mbarrier), notAnMbarrier
	if b.valid() {
		*b, bad = notify(e, *b)
	}
	if bad != "" {
		return effectTrap(e, probe.ErrBarrier, "%v: %s: %s", probe.ErrBarrier, mbarrierName(c, e.Mbarrier), bad)
	}
	return nil
}
