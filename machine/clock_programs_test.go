package machine_test

import (
	"fmt"
	"strings"
	"testing"

	"gemu/internal/corpus"
	"gemu/internal/part"
	"gemu/interp"
	"gemu/machine"
	"gemu/machine/stream"
	"gemu/probe"
)

// TestClockPrograms runs programs on machines with a clock: each ends, issues each instruction once, and its counts fit together, also for
// barriers of clusters, asynchronous copies, and traps. A launch whose CTAs have more warps than a multiprocessor has slots, and only that, gives
// an error.
func TestClockPrograms(t *testing.T) {
	part.SkipShort(t)
	every, err := corpus.Programs("../testdata")
	if err != nil {
		t.Fatal(err)
	}
	isTried := part.Share(t, 512, 128, 1)
	ran := 0
	for i, p := range every {
		if !isTried(i) {
			continue
		}
		for _, name := range []string{"h100", "gtx480"} {
			spec, _ := machine.Find(name)
			spec.SMs = 3
			m, err := machine.NewClock(spec, 0)
			if err != nil {
				t.Fatal(err)
			}
			n := &instructions{}
			r := stream.NewRecorder(stream.Consumers{m, n})
			r.RecordInstructions()
			p.Run(func(l *interp.Launch) { l.Probes = []probe.Probe{r} })
			switch err := m.Err(); {
			case n.warps > 64:
				if want := fmt.Sprintf("a CTA has %d warps; a multiprocessor with a clock has 64 slots", n.warps); err == nil || !strings.HasSuffix(err.Error(), want) {
					t.Errorf("%s on %s: %v, want %s", p, name, err, want)
				}
				continue
			case err != nil:
				t.Errorf("%s on %s: %v", p, name, err)
				continue
			}
			issued := int64(0)
			for _, l := range m.Launches() {
				issued += l.Instructions
			}
			if issued != n.all {
				t.Errorf("%s on %s: %d instructions, want %d", p, name, issued, n.all)
			}
			ran++
		}
	}
	if ran == 0 {
		t.Error("no program ran")
	}
}

// instructions counts instructions.
type instructions struct {
	all   int64
	warps int // of a CTA of the first launch whose CTAs have more than 64; 0: none has
}

func (n *instructions) BeginLaunch(l *stream.Launch) {
	if warps := (l.Block.Count() + l.WarpSize - 1) / l.WarpSize; n.warps == 0 && warps > 64 {
		n.warps = warps
	}
}
func (n *instructions) CTA(_ *stream.Launch, c *stream.CTA) {
	for i := range c.Warps {
		n.all += c.Warps[i].Instructions
	}
}
func (n *instructions) EndLaunch(*stream.Launch, error) {}
