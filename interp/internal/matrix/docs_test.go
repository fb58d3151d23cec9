package matrix

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"gemu/ptx"
)

// TestGenerationsAreDocumented checks that the tables of docs/tensor.md have exactly the entries of Generations. The table
// of wgmma has no column for the generation and none for the exponents of zeros: the exponents are those of sm_90.
func TestGenerationsAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../../../docs/tensor.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := map[*Numerics]bool{}
	zeros := "" // exponents of zeros on sm_90
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		sm, unit := 0, UnitWarp
		switch n, _ := fmt.Sscanf(cells[0], "sm_%d", &sm); {
		case !strings.HasPrefix(line, "| ") || cells[0] == "from" || cells[0] == "factors":
			continue
		case n == 0:
			sm, unit = 90, UnitWarpgroup
			cells = append([]string{cells[0]}, cells...)
			cells[5] = zeros
		case strings.Contains(cells[1], "`mma.m8n8k4`"):
			unit = UnitQuarters
		case strings.Contains(cells[1], "`tcgen05.mma`"):
			unit = UnitTensor
		case strings.Contains(cells[1], "`.kind::mxf4`"):
			unit = UnitGroups
		case strings.Contains(cells[1], "`wmma`"):
			unit = UnitFours
		}
		var types []ptx.Type
		for _, typ := range []ptx.Type{ptx.F16, ptx.BF16, ptx.TF32} {
			if strings.Contains(cells[1], "`"+typ.String()+"`") {
				types = append(types, typ)
			}
		}
		if len(types) == 0 {
			types = []ptx.Type{ptx.E4M3, ptx.E5M2}
		}
		for _, typ := range types {
			n := NumericsFor(unit, sm, typ, typ)
			documented[n] = true
			least, written := fmt.Sprintf("%d, %d", n.MinExponent32, n.MinExponent16), cells[5]
			if n.MinExponent16 == 0 { // no sums in f16
				least = fmt.Sprint(n.MinExponent32)
				written, _, _ = strings.Cut(written, ",")
			}
			block := n.Block
			if unit == UnitGroups {
				block *= exactGroup
			}
			switch result, _, _ := strings.Cut(cells[4], " "); {
			case n.SM > sm || sm > 70 && unit != UnitQuarters && n.SM != sm:
				t.Errorf("%s%v of sm_%d adds as on sm_%d", line, typ, sm, n.SM)
			case cells[2] == "" && n.Method == Blocks:
				t.Errorf("%s%v has blocks", line, typ)
			case cells[2] != "" && (n.Method != Blocks || fmt.Sprint(block, n.Fraction, n.Result) != strings.Join([]string{cells[2], cells[3], result}, " ")):
				t.Errorf("%s%v has %d, %d, %d", line, typ, block, n.Fraction, n.Result)
			case cells[2] != "" && written != least:
				t.Errorf("%s%v has %s", line, typ, least)
			}
			if unit == UnitWarp && sm == 90 && typ == ptx.F16 {
				zeros = cells[5]
			}
		}
	}
	for i := range Generations {
		if n := &Generations[i]; !documented[n] {
			t.Errorf("docs/tensor.md has no line of %+v", *n)
		}
	}
}
