package dispatch

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gemu/ptx"
)

// Launch is a launch on a machine, for its dispatcher.
type Launch struct {
	Grid   ptx.Dim3 // number of CTAs
	Order  []int    // linear indices of all CTAs, in the order of the launch; nil: ascending
	SMs    int      // number of multiprocessors
	Places int      // CTAs that fit on a multiprocessor at a time
}

// at returns the CTA at a position of the order.
func (l *Launch) at(position int) int {
	if l.Order == nil {
		return position
	}
	return l.Order[position]
}

// Dispatcher chooses the multiprocessor of each CTA of a launch. At the beginning the machine calls Next once for each place, in
// rotation over the multiprocessors; later, for the place of each CTA that has ended.
type Dispatcher interface {
	// Next returns the linear index of the next CTA of multiprocessor sm. If ok is false, the place stays free until the end of the
	// launch. Each CTA must be returned exactly once, before Next has returned false for all places.
	Next(sm int) (cta int, ok bool)
	// Ended notes that a CTA of a multiprocessor has ended.
	Ended(sm, cta int)
}

// Policy makes dispatchers. Another module can make one, for Extensions of package cli.
type Policy struct {
	Name  string // name in parameters
	Doc   string // the multiprocessor of a CTA, for help
	Zones int    // minimum number of multiprocessors; 0: no minimum
	// New returns the dispatcher of a launch.
	New func(*Launch) Dispatcher
}

// Rotation gives each place the next CTA in the order of the launch.
var Rotation = &Policy{Name: "rotation", Doc: "the next CTA of the launch, for each free place", New: func(l *Launch) Dispatcher { return &rotation{launch: l} }}

type rotation struct {
	launch *Launch
	next   int // position in the order
}

func (r *rotation) Next(int) (int, bool) {
	if r.next == r.launch.Grid.Count() {
		return 0, false
	}
	r.next++
	return r.launch.at(r.next - 1), true
}

func (r *rotation) Ended(int, int) {}

// Pairs gives two consecutive CTAs to a multiprocessor (Lee et al., HPCA 2014: block CTA scheduling).
var Pairs = &Policy{Name: "pairs", Doc: "groups of two CTAs in the order of the launch", New: func(l *Launch) Dispatcher {
	list := make([]int, l.Grid.Count())
	for i := range list {
		list[i] = l.at(i)
	}
	return newGroups(l.SMs, slices.Collect(slices.Chunk(list, 2)))
}}

// Clusters gives whole groups of CTAs to a multiprocessor: see Group. The groups that remain after each multiprocessor has had the same
// number of groups are given CTA by CTA (Vijaykumar 2019, figure 18).
func Clusters(shape ptx.Dim3) *Policy {
	return &Policy{Name: fmt.Sprintf("cluster:%dx%dx%d", shape.X, shape.Y, shape.Z), Doc: fmt.Sprintf("groups of %d×%d×%d CTAs", shape.X, shape.Y, shape.Z), New: func(l *Launch) Dispatcher {
		return newGroups(l.SMs, Groups(l.Grid, shape))
	}}
}

// WholeClusters is Clusters without a remainder: each group is given to a multiprocessor as a whole.
func WholeClusters(shape ptx.Dim3) *Policy {
	p := Clusters(shape)
	return &Policy{Name: "whole-" + p.Name, Doc: p.Doc + ", also the last", New: func(l *Launch) Dispatcher {
		return &groups{whole: Groups(l.Grid, shape), begun: make([][]int, l.SMs)}
	}}
}

// groups gives whole groups to multiprocessors.
type groups struct {
	whole  [][]int // groups that have not begun, of those that are given as a whole
	single []int   // CTAs of the remaining groups
	begun  [][]int // by multiprocessor: the remaining CTAs of its group
}

func newGroups(sms int, list [][]int) *groups {
	n := len(list) / sms * sms
	return &groups{whole: list[:n], single: slices.Concat(list[n:]...), begun: make([][]int, sms)}
}

func (g *groups) Next(sm int) (cta int, ok bool) {
	from := &g.single
	if len(g.begun[sm]) == 0 && len(g.whole) > 0 {
		g.begun[sm], g.whole = g.whole[0], g.whole[1:]
	}
	if len(g.begun[sm]) > 0 {
		from = &g.begun[sm]
	}
	if len(*from) == 0 {
		return 0, false
	}
	cta, *from = (*from)[0], (*from)[1:]
	return cta, true
}

func (g *groups) Ended(int, int) {}

// Parts divides the multiprocessors into n zones, and the CTAs, in the order of the launch, into n parts of equal size. The CTAs of a part
// begin in rotation on the multiprocessors of its zone (Arunkumar et al., ISCA 2017). Sizes that n does not divide differ by at most one.
func Parts(n int) *Policy {
	return &Policy{Name: fmt.Sprintf("parts:%d", n), Doc: fmt.Sprintf("%d zones of multiprocessors, each with an equal part of the CTAs", n), Zones: n, New: func(l *Launch) Dispatcher {
		count := l.Grid.Count()
		list := make([][]int, n)
		for position := range count {
			zone := position * n / count
			list[zone] = append(list[zone], l.at(position))
		}
		return NewZones(l.SMs, list)
	}}
}

// Zone returns the zone of a multiprocessor, of n zones of equal size.
func Zone(sm, sms, n int) int { return sm * n / sms }

// zones is a dispatcher with a list of CTAs for each zone.
type zones struct {
	sms  int
	list [][]int // by zone: CTAs that have not begun
}

// NewZones returns a dispatcher that gives the multiprocessors of each zone the CTAs of its list, in rotation.
func NewZones(sms int, list [][]int) Dispatcher { return &zones{sms, slices.Clone(list)} }

func (z *zones) Next(sm int) (int, bool) {
	list := &z.list[Zone(sm, z.sms, len(z.list))]
	if len(*list) == 0 {
		return 0, false
	}
	cta := (*list)[0]
	*list = (*list)[1:]
	return cta, true
}

func (z *zones) Ended(int, int) {}

// Assign returns the multiprocessor of each CTA of a launch whose CTAs all take the same time: in each turn, each multiprocessor gets a
// CTA. The error says that the dispatcher does not return each CTA exactly once.
func Assign(p *Policy, l *Launch) (sms []int, err error) {
	c := NewChecked(p, l)
	sms = make([]int, l.Grid.Count())
	ended := make([]bool, l.SMs)
	for begun := 0; begun < len(sms); {
		all := true
		for sm := range l.SMs {
			if ended[sm] {
				continue
			}
			cta, ok := c.Next(sm)
			if !ok {
				ended[sm] = true
				continue
			}
			sms[cta] = sm
			begun++
			all = false
			c.Ended(sm, cta)
		}
		if all {
			break
		}
	}
	return sms, c.Err()
}

// Checked is a dispatcher that verifies that another dispatcher returns each CTA exactly once.
type Checked struct {
	policy *Policy
	of     Dispatcher
	begun  []bool // by CTA
	left   int    // CTAs that have not begun
	err    error
}

// NewChecked returns a checked dispatcher of a policy.
func NewChecked(p *Policy, l *Launch) *Checked {
	n := l.Grid.Count()
	return &Checked{policy: p, of: p.New(l), begun: make([]bool, n), left: n}
}

// Next implements Dispatcher. After a wrong CTA it returns no further CTAs.
func (c *Checked) Next(sm int) (cta int, ok bool) {
	if c.err != nil {
		return 0, false
	}
	cta, ok = c.of.Next(sm)
	switch {
	case !ok:
		return 0, false
	case cta < 0 || cta >= len(c.begun):
		c.err = fmt.Errorf("dispatcher %s returns CTA %d; the CTAs are 0 to %d", c.policy.Name, cta, len(c.begun)-1)
	case c.begun[cta]:
		c.err = fmt.Errorf("dispatcher %s returns CTA %d twice", c.policy.Name, cta)
	default:
		c.begun[cta] = true
		c.left--
		return cta, true
	}
	return 0, false
}

// Ended implements Dispatcher.
func (c *Checked) Ended(sm, cta int) { c.of.Ended(sm, cta) }

// Err returns the error of the dispatcher at the end of a launch.
func (c *Checked) Err() error {
	if c.err == nil && c.left > 0 {
		return fmt.Errorf("dispatcher %s has left out %d of %d CTAs, among them CTA %d", c.policy.Name, c.left, len(c.begun), slices.Index(c.begun, false))
	}
	return c.err
}

// Forms describes the names that Find knows besides those of added policies.
var Forms = []string{
	Rotation.Name + ": " + Rotation.Doc,
	Pairs.Name + ": " + Pairs.Doc,
	"cluster:XxYxZ: whole groups of X×Y×Z CTAs",
	"parts:N: N zones of multiprocessors, each with an equal part of the CTAs",
}

// maxParts is the maximum number of zones.
const maxParts = 64

// Find returns the dispatcher with a name, of Forms or of more.
func Find(name string, more []*Policy) (*Policy, error) {
	kind, value, hasValue := strings.Cut(name, ":")
	switch {
	case name == Rotation.Name:
		return Rotation, nil
	case name == Pairs.Name:
		return Pairs, nil
	case kind == "cluster" && hasValue:
		shape, err := ParseShape(strings.ReplaceAll(value, "x", ","))
		if err != nil {
			return nil, fmt.Errorf("want cluster:XxYxZ, such as cluster:1x4x1: %w", err)
		}
		return Clusters(shape), nil
	case kind == "parts" && hasValue:
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 || n > maxParts {
			return nil, fmt.Errorf("want parts:N with 1 to %d zones", maxParts)
		}
		return Parts(n), nil
	}
	var names []string
	for _, p := range more {
		if p.Name == name {
			return p, nil
		}
		names = append(names, ", "+p.Name)
	}
	return nil, fmt.Errorf("unknown dispatcher; want rotation, pairs, cluster:XxYxZ, parts:N%s", strings.Join(names, ""))
}
