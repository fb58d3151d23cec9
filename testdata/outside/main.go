// Command outside is the command gemu with a model of a register file, a sanitizer, a probe, a reconvergence policy, a replacement
// policy, a dispatcher, a scheduler of warps and systems of machines of this module. It shows how another module extends the command:
// docs/go.md.
package main

import (
	"errors"
	"math/bits"

	"gemu/cli"
	"gemu/interp"
	"gemu/machine"
	"gemu/machine/cache"
	"gemu/machine/core"
	"gemu/machine/dispatch"
	"gemu/models"
	"gemu/models/catalog"
	"gemu/probe"
	"gemu/sanitize"
	"gemu/sanitize/finding"
)

func main() {
	cli.Main(cli.Extensions{
		Models: []catalog.Entry{{
			Name: "narrow", Doc: "registers of 32 bits whose lanes all have at most 16 significant bits take half a row",
			New: func() models.Model { return &narrow{} },
		}},
		Sanitizers: []*sanitize.Tool{{
			Name: "nan", Doc: "floating-point operations whose result is NaN in some lane",
			New: func(log *finding.Log, _ sanitize.Options) probe.Probe { return &nan{log: log} },
		}},
		Probes: []cli.Probe{{
			Name: "mix", Doc: "warp instructions by class",
			New: func() cli.Reporter { return &mix{counts: map[string]int64{}} },
		}},
		Policies: []*interp.Reconverger{
			interp.NewReconverger("widest", "the warp split with the most lanes first", func(a, b interp.SplitPlace) bool {
				if x, y := bits.OnesCount64(a.Lanes), bits.OnesCount64(b.Lanes); x != y {
					return x > y
				}
				return a.Lanes < b.Lanes
			}),
		},
		Replacements: []*machine.Replacement{{
			Name: "newest", Doc: "the line that entered last",
			New: func(s cache.Shape) cache.Policy { return &newest{make([]int, s.Sets)} },
		}},
		Dispatchers: []*dispatch.Policy{{
			Name: "single", Doc: "all CTAs on multiprocessor 0",
			New: func(l *dispatch.Launch) dispatch.Dispatcher { return &single{ctas: l.Grid.Count()} },
		}},
		Schedulers: []*core.Policy{{
			Name: "youngest", Doc: "the warp that began last",
			New: func(uint64) core.Scheduler { return youngest{} },
		}},
		Systems: []cli.System{{
			Name: "stack", Doc: "an L2 that replaces the line that entered last",
			New: func(value string) (*machine.System, error) {
				if value != "" {
					return nil, errors.New("want stack without a value")
				}
				return &machine.System{Name: "stack", New: func() machine.Parts {
					return machine.Parts{L2: func(s cache.Shape) cache.Policy { return &newest{make([]int, s.Sets)} }}
				}}, nil
			},
		}, whole},
	})
}

// youngest issues the warp that began last.
type youngest struct{}

func (youngest) Pick(w *core.Warps, ready uint64, _ int64) (slot int) {
	for set := ready; set != 0; set &= set - 1 {
		if i := bits.TrailingZeros64(set); ready>>slot&1 == 0 || w.Age(i) > w.Age(slot) {
			slot = i
		}
	}
	return slot
}

// single gives all CTAs to multiprocessor 0.
type single struct{ next, ctas int }

func (s *single) Next(sm int) (cta int, ok bool) {
	if sm != 0 || s.next == s.ctas {
		return 0, false
	}
	s.next++
	return s.next - 1, true
}
func (s *single) Ended(int, int) {}

// newest is the way of each set that was filled last.
type newest struct{ ways []int }

func (n *newest) Hit(int, int, *cache.Access)                 {}
func (n *newest) Fill(set, way int, _ *cache.Access)          { n.ways[set] = way }
func (n *newest) Victim(set int, _ *cache.Access) (int, bool) { return n.ways[set], false }
