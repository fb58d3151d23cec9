package ptx

import (
	"fmt"
	"testing"
)

// TestVersionsOfTensormapConstants checks that the constants of tensormap.replace have the version and target in the
// notes of the manual (section "tensormap.replace"), and that a module of an older target may use them.
func TestVersionsOfTensormapConstants(t *testing.T) {
	for _, c := range []struct {
		field    string
		constant int
		version  Version
		sm       int // 0 if no target has the constant
	}{
		{"elemtype", 0, Version{8, 3}, 90}, {"elemtype", 12, Version{8, 3}, 90},
		{"elemtype", 13, Version{8, 7}, 100}, {"elemtype", 15, Version{8, 7}, 100}, {"elemtype", 16, Version{}, 0},
		{"interleave_layout", 2, Version{8, 3}, 90}, {"interleave_layout", 3, Version{}, 0},
		{"swizzle_mode", 3, Version{8, 3}, 90}, {"swizzle_mode", 4, Version{8, 8}, 103}, {"swizzle_mode", 5, Version{}, 0},
		{"swizzle_atomicity", 0, Version{8, 6}, 100}, {"swizzle_atomicity", 3, Version{8, 6}, 100}, {"swizzle_atomicity", 4, Version{}, 0},
		{"fill_mode", 1, Version{8, 3}, 90}, {"fill_mode", 2, Version{}, 0},
	} {
		for _, target := range []string{"sm_90", "sm_90a", "sm_100f", "sm_103a", "sm_107a", "sm_120a"} {
			m, err := Parse("since.ptx", fmt.Appendf(nil, `.version 9.5
.target %s
.address_size 64
.entry k() {
	.reg .b64 %%d;
	tensormap.replace.tile.%s.global.b1024.b32 [%%d], %d;
	ret;
}`, target, c.field, c.constant))
			switch {
			case (err == nil) != (c.sm > 0):
				t.Errorf("%s: %s %d: %v", target, c.field, c.constant, err)
			case err == nil:
				if version, sm := m.Kernels()[0].Blocks[0].Instrs[0].Since(); version != c.version || sm != c.sm {
					t.Errorf("%s %d: PTX %s, sm_%d; want %s, sm_%d", c.field, c.constant, version, sm, c.version, c.sm)
				}
			}
		}
	}
}

// TestMaskOfAllLanes checks that -1 is accepted where an operand must be the mask of all lanes.
func TestMaskOfAllLanes(t *testing.T) {
	for mask, valid := range map[string]bool{"-1": true, "0xffffffff": true, "0xffffffffffffffff": true, "1": false, "0xfffffffff": false, "%r": false} {
		_, err := Parse("mask.ptx", []byte(`.version 9.3
.target sm_100
.address_size 64
.entry k() {
	.reg .b64 %d;
	.reg .b32 %r;
	.shared .align 16 .b8 s[64];
	fabric.try_pullred.async.multimem.shared::cta.mbarrier::complete_tx::bytes.mbarrier::report::fabric.relaxed.sys.and.b32.sync [s], [%r, %d], %r, [s], `+mask+`;
	ret;
}`))
		if (err == nil) != valid {
			t.Errorf("%s: %v", mask, err)
		}
	}
}
