package systems

import (
	"fmt"
	"strings"

	"gemu/machine"
	"gemu/machine/assist"
	"gemu/machine/codec"
)

// Latencies of dedicated logic for BDI in core cycles (Vijaykumar et al. 2016, section 6).
const (
	bdiCompress   = 5
	bdiDecompress = 1
)

// cabaDesign is a design of Vijaykumar et al. 2016, section 6, with compressed lines. docs/caba.md describes them.
type cabaDesign struct {
	name  string
	doc   string
	parts machine.Parts
}

// formSize returns the function of machine.Parts.Codec for an algorithm: the bytes of the form of a line.
func formSize(c codec.Codec) func(uint64, *codec.Line) int {
	return func(_ uint64, l *codec.Line) int {
		bytes, _ := c.Size(l)
		return bytes
	}
}

// cabaDesigns are the values of caba=VALUE.
var cabaDesigns = []cabaDesign{
	{"hw-mem", "memory has lines in forms of BDI, for which its controllers have logic (HW-BDI-Mem)", machine.Parts{
		Codec: formSize(codec.BDI), Compressed: &machine.Compressed{Compress: bdiCompress, Decompress: bdiDecompress, Metadata: true},
	}},
	{"hw", "the L2 and the network have forms, too, for which each multiprocessor has logic (HW-BDI)", machine.Parts{
		Codec: formSize(codec.BDI), Compressed: &machine.Compressed{L2: true, Compress: bdiCompress, Decompress: bdiDecompress, Metadata: true},
	}},
	{"ideal", "as hw, in no time and with known metadata (Ideal-BDI)", machine.Parts{
		Codec: formSize(codec.BDI), Compressed: &machine.Compressed{L2: true},
	}},
}

// cabaAssist are the values of caba=VALUE with assist warps.
var cabaAssist = []struct {
	name   string
	doc    string
	codecs []codec.Codec             // algorithms; nil: nothing is compressed, and routine stride_ahead runs for misses
	levels func(*machine.Compressed) // changes the levels of memory that have forms; nil: as hw
}{
	{"bdi", "as hw, but assist warps of the multiprocessors compress and decompress by BDI (CABA-BDI)", cabaCodecs[:1], nil},
	{"fpc", "the same by FPC", cabaCodecs[1:2], nil},
	{"c-pack", "the same by C-Pack", cabaCodecs[2:], nil},
	{"best", "each line by the best of the three, chosen in no time (CABA-BestOfAll)", cabaCodecs, nil},
	{"bdi-l1x2", "as bdi, and the L1 has forms, with twice the tags", cabaCodecs[:1], func(c *machine.Compressed) { c.Assist.L1Tags = 2 }},
	{"bdi-l1x4", "the same with four times the tags", cabaCodecs[:1], func(c *machine.Compressed) { c.Assist.L1Tags = 4 }},
	{"bdi-l2x2", "as bdi, and the L2 has as many lines as fit in their forms, with twice the tags", cabaCodecs[:1], func(c *machine.Compressed) { c.L2Tags = 2 }},
	{"bdi-l2x4", "the same with four times the tags", cabaCodecs[:1], func(c *machine.Compressed) { c.L2Tags = 4 }},
	{"bdi-uncompressed", "as bdi, and the L2 keeps a line uncompressed from its first reply on", cabaCodecs[:1], func(c *machine.Compressed) { c.UncompressedL2 = true }},
	{"bdi-direct", "as bdi, and an uncoalesced load takes its bytes from a form (Direct-Load)", cabaCodecs[:1], func(c *machine.Compressed) { c.Assist.DirectLoad = true }},
	{"stride", "assist warps read ahead of loads with a constant stride, and nothing is compressed", nil, nil},
}

// caba returns the design of a value, or that with the assist routines of a file.
func caba(value string) (*machine.System, error) {
	var names []string
	for i := range cabaDesigns {
		d := &cabaDesigns[i]
		if d.name == value {
			return &machine.System{Name: "caba=" + value, New: func() machine.Parts { return d.parts }}, nil
		}
		names = append(names, "caba="+d.name)
	}
	for i := range cabaAssist {
		d := &cabaAssist[i]
		if d.name == value {
			sources := assist.Standard()
			if d.codecs == nil {
				sources = []assist.Source{assist.Stride()}
			}
			return assistSystem("caba="+value, d.codecs, sources, d.levels)
		}
		names = append(names, "caba="+d.name)
	}
	if strings.HasSuffix(value, ".ptx") {
		return OwnAssists("caba="+value, value)
	}
	return nil, fmt.Errorf("want one of %s, or caba=FILE.ptx with assist routines", strings.Join(names, ", "))
}

// cabaDoc describes the values for help.
func cabaDoc() string {
	text := "compressed lines on machines with a clock (docs/caba.md): "
	for _, d := range cabaDesigns {
		text += "caba=" + d.name + ": " + d.doc + "; "
	}
	for _, d := range cabaAssist {
		text += "caba=" + d.name + ": " + d.doc + "; "
	}
	return text + "caba=FILE.ptx: assist routines of your own"
}
