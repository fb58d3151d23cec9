package systems

import (
	"fmt"

	"gemu/machine"
	"gemu/machine/codec"
)

// onceMerge is the latency of the merge of bytes that decompresses a form, in core cycles: as long as the logic for BDI takes.
const onceMerge = bdiDecompress

// once returns the system with the encodings of stored registers (docs/compress-once.md).
func once(value string) (*machine.System, error) {
	if value != "" {
		return nil, fmt.Errorf("want once without a value")
	}
	return &machine.System{Name: "once", New: func() machine.Parts {
		return machine.Parts{
			Codec:      func(uint64, *codec.Line) int { return codec.LineBytes }, // the bytes of a line do not say whether it comes from registers
			Compressed: &machine.Compressed{Registers: true, L2: true, Decompress: onceMerge, Metadata: true},
		}
	}}, nil
}
