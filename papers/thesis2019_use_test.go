package papers

import (
	"testing"

	"gemu/machine/core"
	"gemu/machine/stream"
	"gemu/occupancy"
	"gemu/phases"
	"gemu/probe"
)

// TestUse is a sequence worked out by hand: blocks of one warp with 4 registers and 64 bytes, on a multiprocessor of 32 registers in a warp's width and 256
// bytes. Block 0 is resident in cycles 0 to 899, block 1 in 100 to 499, and block 2 in 900 to 999 in the place of block 0.
func TestUse(t *testing.T) {
	accesses := &sharedRecorder{map[useWarp][]sharedAccess{}}
	o := &useObserver{accesses: accesses, next: map[useWarp]int{}, limits: &occupancy.Limits{WarpSize: 32, FileSize: 1024, Shared: 256}, sms: 1}
	o.launch = &stream.Launch{LaunchInfo: &probe.LaunchInfo{SharedBytes: 64}}
	o.of, o.warps, o.groups = 4, 1, map[[2]int]int{}
	o.uses = []phases.RegisterNumbers{{0b0001}, {0b0110}, {0b1111}}
	o.beginEpochs()
	access := func(cta int, instr int32, at uint64, n int) {
		var set byteSet
		set.add(at, n)
		accesses.warps[useWarp{0, cta, 0}] = append(accesses.warps[useWarp{0, cta, 0}], sharedAccess{instr, set})
	}
	issue := func(cta, slot int, instr int32, at int64) {
		o.Warp(&core.WarpSpan{CTA: cta, Slot: slot, From: at, To: at + 1, WarpState: core.WarpState{Reason: core.Issues, Instr: instr}})
	}
	access(0, 1, 0, 8)
	access(0, 1, 4, 8)
	access(2, 2, 60, 4)
	issue(0, 0, 0, 0)
	issue(0, 0, 1, 10) // registers 0, 1, 2 and bytes 0 to 7 of epoch 0
	issue(1, 1, 0, 100)
	issue(1, 1, 0, 499) // register 0 of epoch 0
	o.CTA(&core.CTASpan{CTA: 1, From: 100, To: 500})
	issue(0, 0, 1, 700) // registers 1 and 2 and bytes 4 to 11 of epoch 1
	o.CTA(&core.CTASpan{CTA: 0, From: 0, To: 900})
	issue(2, 0, 2, 950) // registers 0 to 3 of the same place, and bytes 60 to 63
	o.CTA(&core.CTASpan{CTA: 2, From: 900, To: 1000})
	o.End(1000)
	for i, want := range [2][2]useCounts{
		{{3 + 1 + 4, 4 * (2 + 1), 2 * 32}, {4 + 1, 4 * 2, 32}},
		{{8 + 12, 64 * (2 + 1), 2 * 256}, {16, 64 * 2, 256}},
	} {
		for k := range want {
			if o.counts[i][k] != want[k] {
				t.Errorf("resource %d, epochs of %d cycles: %+v, want %+v", i, useEpochs[k], o.counts[i][k], want[k])
			}
		}
	}
	if len(accesses.warps) != 0 {
		t.Errorf("%d warps are kept", len(accesses.warps))
	}
}

// TestCliffBlocks: 48 registers of 32 lanes are 1536 of the 16384 of a partition, so 10 warps fit there, and 40 on a multiprocessor: 2 blocks of 14 to 20
// warps, as in the thesis, which has two blocks of MST from 480 to 640 threads.
func TestCliffBlocks(t *testing.T) {
	if n := cliffBlocks(occupancy.LimitsOf(50)); n != [3]int{448, 640, 672} {
		t.Errorf("%d", n)
	}
}
