package core_test

import (
	"testing"

	"gemu/machine/core"
	"gemu/ptx"
)

// TestMissingWait has the instructions at which warps wait for mbarriers and for the barrier of the cluster; the others wait for neither.
func TestMissingWait(t *testing.T) {
	m, err := ptx.ParseString("k.ptx", `.version 8.6
.target sm_100
.address_size 64
.entry k()
{
	.shared .align 8 .b64 full;
	.reg .pred %p;
	.reg .b64 %s;
	mbarrier.init.shared.b64 [full], 1;
	mbarrier.arrive.shared.b64 %s, [full];
	mbarrier.test_wait.shared.b64 %p, [full], %s;
	mbarrier.try_wait.parity.relaxed.cluster.shared::cta.b64 %p, [full], 0;
	mbarrier.expect_tx.relaxed.cta.shared.b64 [full], 4;
	mbarrier.inval.shared.b64 [full];
	barrier.cluster.arrive;
	barrier.cluster.wait;
	barrier.cluster.arrive.aligned;
	barrier.cluster.wait.acquire.aligned;
	fence.acq_rel.cluster;
	bar.sync 0;
	barrier.sync 1, 32;
	ret;
}
`)
	if err != nil {
		t.Fatal(err)
	}
	want := map[int32]string{11: "mbarrier", 12: "mbarrier", 16: "barrier of the cluster", 18: "barrier of the cluster"}
	m.Lookup("k").(*ptx.Func).EachInstr(func(i *ptx.Instr) {
		if got := core.MissingWait(i); got != want[int32(i.Pos.Line)] {
			t.Errorf("%s: %q, want %q", i.Text, got, want[int32(i.Pos.Line)])
		}
	})
}
