package ptx_test

import (
	"fmt"
	"strings"
	"testing"

	"gemu/ptx"
)

// multiplications returns a module with n consecutive multiplications. fragments gives, for each, the numbers of its
// accumulator and its A.
func multiplications(n int, fragments func(i int) (accumulator, a int)) string {
	vector := func(name string, first, count int) string {
		var list []string
		for i := range count {
			list = append(list, fmt.Sprintf("%%%s%d", name, first+i))
		}
		return "{" + strings.Join(list, ",") + "}"
	}
	var b strings.Builder
	b.WriteString(".version 8.0\n.target sm_90a\n.address_size 64\n.entry k()\n{\n.reg .f32 %d<512>;\n.reg .b32 %a<64>;\n.reg .b64 %b;\nwgmma.fence.sync.aligned;\n")
	for i := range n {
		d, a := fragments(i)
		fmt.Fprintf(&b, "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 %s, %s, %%b, 1, 1, 1, 0;\nwgmma.commit_group.sync.aligned;\n", vector("d", 128*d, 128), vector("a", 4*a, 4))
	}
	b.WriteString("wgmma.wait_group.sync.aligned 0;\nret;\n}\n")
	return b.String()
}

// TestManyPendingMultiplications checks that the time to find pending multiplications grows linearly with the module.
// If each multiplication were compared with all earlier ones, this would take minutes.
func TestManyPendingMultiplications(t *testing.T) {
	const n = 4096
	m, err := ptx.ParseString("many.ptx", multiplications(n, func(i int) (int, int) { return i % 4, i % 16 }))
	if err != nil {
		t.Fatal(err)
	}
	m.Lookup("k").(*ptx.Func).EachInstr(func(instr *ptx.Instr) {
		switch p := instr.Pending; {
		case instr.Form.Family == ptx.FamilyWgmmaWait:
			if p == nil || len(p.Completes) != n || len(p.Writes) != 4*128 || len(p.Reads) != 4*128+16*4 {
				t.Errorf("%s at %s completes %+v", instr.Text, instr.Pos, p)
			}
		case p != nil:
			t.Fatalf("%s at %s disturbs %d multiplications", instr.Text, instr.Pos, len(p.Disturbs))
		}
	})
}
