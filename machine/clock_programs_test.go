package machine_test

import (
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
// barriers of clusters, asynchronous copies, and traps.
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
			if err := m.Err(); err != nil {
				if !strings.Contains(err.Error(), "slots") { // a CTA with more warps than slots
					t.Errorf("%s on %s: %v", p, name, err)
				}
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
type instructions struct{ all int64 }

func (n *instructions) BeginLaunch(*stream.Launch) {}
func (n *instructions) CTA(_ *stream.Launch, c *stream.CTA) {
	for i := range c.Warps {
		n.all += c.Warps[i].Instructions
	}
}
func (n *instructions) EndLaunch(*stream.Launch, error) {}
