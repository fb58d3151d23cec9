package interp

import (
	"slices"
	"testing"

	"gemu/internal/part"
	"gemu/interp/internal/code"
	"gemu/interp/internal/native"
	"gemu/ptx"
)

// TestMachineCodeForms: the forms returned by MachineCodeOf agree with the native engine: the assembler has code for a
// variant's instructions exactly if the forms say so, for all lanes and for the lanes of a mask. It tries a fifth of the variants; with
// GEMU_TEST=ci all of them.
func TestMachineCodeForms(t *testing.T) {
	part.SkipShort(t)
	t.Parallel()
	if !Native.Available() {
		t.Skip("this host executes no machine code of ours")
	}
	lib, compared, has := native.HostLibrary(), 0, 0
	every := part.Count(5, 2, 1)
	for _, op := range ptx.Ops() {
		for _, form := range op.Forms() {
			variants := form.Variants()
			for i, v := range variants {
				if i%every > 0 {
					continue
				}
				if _, runs := SupportsVariant(v); !runs {
					continue
				}
				k := lowerExample(t, v)
				ends := slices.ContainsFunc(k.Blocks, func(b code.Block) bool {
					op := k.End(&b).Op
					return op != code.Exit && op != code.Jump
				})
				if ends {
					continue // the engine's answer is the reason of an exit, not a place
				}
				var want MachineCodeForms
				for _, masked := range []bool{false, true} {
					ctx := &native.Context{Mask: ^uint32(0), Live: ^uint32(0)}
					if masked {
						ctx.Mask = 1
					}
					c, all := lib.New(k.Program), true
					for _, b := range k.Blocks {
						for pc := b.First; pc < b.Last; pc++ {
							all = all && c.NextSupported(ctx, pc) == pc
						}
					}
					if masked {
						want.SomeLanes = all
					} else {
						want.AllLanes = all
					}
				}
				got := MachineCodeOf(v)
				if compared++; got.AllLanes {
					has++
				}
				if got.AllLanes != want.AllLanes || got.SomeLanes != want.SomeLanes {
					t.Errorf("%s: forms %+v; the engine has code for all lanes: %v, for some: %v", v.Text, got, want.AllLanes, want.SomeLanes)
				}
			}
		}
	}
	t.Logf("%d of %d variants have machine code", has, compared)
}
