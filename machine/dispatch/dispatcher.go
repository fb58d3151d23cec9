package dispatch

import (
	"errors"
	"fmt"
	"math/bits"
	"strconv"
	"strings"

	"gemu/ptx"
)

// Launch is a launch on a machine, for its dispatcher.
type Launch struct {
	Grid   ptx.Dim3               // number of CTAs; a dispatcher must not take memory for each, because a launch can end long before the last
	Order  func(position int) int // linear index of the CTA at a position, from 0 on, in the order of the launch; nil: ascending
	SMs    int                    // number of multiprocessors
	Places int                    // CTAs that fit on a multiprocessor at a time
}

// at returns the CTA at a position of the order.
func (l *Launch) at(position int) int {
	if l.Order == nil {
		return position
	}
	return l.Order(position)
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

// Ordered is a dispatcher on a launch whose CTAs begin in another order. The order of the launch has no effect.
func Ordered(p *Policy, name string, order Order) *Policy {
	return &Policy{Name: p.Name + ", --order " + name, Doc: p.Doc, Zones: p.Zones, New: func(l *Launch) Dispatcher {
		list, changed := order(l.Grid), *l
		changed.Order = func(position int) int { return list[position] }
		return p.New(&changed)
	}}
}

// Pairs gives two consecutive CTAs to a multiprocessor (Lee et al., HPCA 2014: block CTA scheduling).
var Pairs = &Policy{Name: "pairs", Doc: "groups of two CTAs in the order of the launch", New: func(l *Launch) Dispatcher {
	n := l.Grid.Count()
	pairs := n/2 + n%2
	return newGroups(l.SMs, partition{
		groups: pairs,
		size:   func(group int) int { return min(2, n-2*group) },
		at:     func(group, i int) int { return l.at(2*group + i) },
	}, pairs/l.SMs*l.SMs)
}}

// Clusters gives whole groups of CTAs to a multiprocessor: see Group. The groups that remain after each multiprocessor has had the same
// number of groups are given CTA by CTA (Vijaykumar 2019, figure 18).
func Clusters(shape ptx.Dim3) *Policy {
	return &Policy{Name: fmt.Sprintf("cluster:%dx%dx%d", shape.X, shape.Y, shape.Z), Doc: fmt.Sprintf("groups of %d×%d×%d CTAs", shape.X, shape.Y, shape.Z), New: func(l *Launch) Dispatcher {
		list := boxes(l.Grid, shape)
		return newGroups(l.SMs, list, list.groups/l.SMs*l.SMs)
	}}
}

// WholeClusters is Clusters without a remainder: each group is given to a multiprocessor as a whole.
func WholeClusters(shape ptx.Dim3) *Policy {
	p := Clusters(shape)
	return &Policy{Name: "whole-" + p.Name, Doc: p.Doc + ", also the last", New: func(l *Launch) Dispatcher {
		list := boxes(l.Grid, shape)
		return newGroups(l.SMs, list, list.groups)
	}}
}

// groups gives whole groups to multiprocessors.
type groups struct {
	partition
	whole  int          // number of groups that are given as a whole; those after them are given CTA by CTA
	next   int          // next group that is given as a whole
	single groupPlace   // next CTA of the groups that are given CTA by CTA
	begun  []groupPlace // by multiprocessor: the next CTA of its group; size 0 before its first group
}

// groupPlace is a place in a group.
type groupPlace struct{ group, i, size int }

func newGroups(sms int, list partition, whole int) *groups {
	return &groups{partition: list, whole: whole, single: groupPlace{group: whole}, begun: make([]groupPlace, sms)}
}

func (g *groups) Next(sm int) (cta int, ok bool) {
	from := &g.begun[sm]
	if from.i == from.size && g.next < g.whole {
		*from = groupPlace{group: g.next, size: g.size(g.next)}
		g.next++
	}
	if from.i == from.size {
		from = &g.single
		for from.i == from.size {
			if from.size > 0 {
				from.group++
			}
			if from.group == g.groups {
				from.i, from.size = 0, 0
				return 0, false
			}
			from.i, from.size = 0, g.size(from.group)
		}
	}
	from.i++
	return g.at(from.group, from.i-1), true
}

func (g *groups) Ended(int, int) {}

// Parts divides the multiprocessors into n zones, and the CTAs, in the order of the launch, into n parts of equal size. The CTAs of a part
// begin in rotation on the multiprocessors of its zone (Arunkumar et al., ISCA 2017). Sizes that n does not divide differ by at most one.
func Parts(n int) *Policy {
	return &Policy{Name: fmt.Sprintf("parts:%d", n), Doc: fmt.Sprintf("%d zones of multiprocessors, each with an equal part of the CTAs", n), Zones: n, New: func(l *Launch) Dispatcher {
		count := l.Grid.Count()
		begin := func(zone int) int { return zone*(count/n) + (zone*(count%n)+n-1)/n } // zone·count/n, rounded up
		return newZones(l.SMs, partition{
			groups: n,
			size:   func(zone int) int { return begin(zone+1) - begin(zone) },
			at:     func(zone, i int) int { return l.at(begin(zone) + i) },
		})
	}}
}

// Zone returns the zone of a multiprocessor, of n zones of equal size.
func Zone(sm, sms, n int) int { return sm * n / sms }

// zones is a dispatcher with a group of CTAs for each zone.
type zones struct {
	partition
	sms  int
	next []int // by zone: number of CTAs that have begun
}

func newZones(sms int, list partition) *zones { return &zones{list, sms, make([]int, list.groups)} }

// NewZones returns a dispatcher that gives the multiprocessors of each zone the CTAs of its list, in rotation.
func NewZones(sms int, list [][]int) Dispatcher {
	return newZones(sms, partition{
		groups: len(list),
		size:   func(zone int) int { return len(list[zone]) },
		at:     func(zone, i int) int { return list[zone][i] },
	})
}

func (z *zones) Next(sm int) (int, bool) {
	zone := Zone(sm, z.sms, z.groups)
	if z.next[zone] == z.size(zone) {
		return 0, false
	}
	z.next[zone]++
	return z.at(zone, z.next[zone]-1), true
}

func (z *zones) Ended(int, int) {}

// zoneGroups is a dispatcher with groups of CTAs for each zone.
type zoneGroups struct {
	zones []*groups
	sms   int
}

// NewZoneGroups returns a dispatcher that gives the multiprocessors of each of n zones the CTAs of the zone, in groups: those of Clusters for a shape,
// divided by zone. zone has the zone of each CTA by linear index. In each zone the groups that remain after each multiprocessor has had the same number
// of groups are given CTA by CTA. With fewer than n multiprocessors a zone has none, and the CTAs are given as by Rotation.
func NewZoneGroups(l *Launch, shape ptx.Dim3, n int, zone []int) Dispatcher {
	z := &zoneGroups{sms: l.SMs}
	lists := make([][][]int, n) // by zone and group
	boxes := boxes(l.Grid, shape)
	for group := range boxes.groups {
		parts := make([][]int, n)
		for i := range boxes.size(group) {
			cta := boxes.at(group, i)
			parts[zone[cta]] = append(parts[zone[cta]], cta)
		}
		for k, part := range parts {
			if len(part) > 0 {
				lists[k] = append(lists[k], part)
			}
		}
	}
	for k, list := range lists {
		sms := 0
		for sm := range l.SMs {
			if Zone(sm, l.SMs, n) == k {
				sms++
			}
		}
		if sms == 0 { // its CTAs would never run
			return Rotation.New(l)
		}
		z.zones = append(z.zones, newGroups(sms, partition{
			groups: len(list),
			size:   func(group int) int { return len(list[group]) },
			at:     func(group, i int) int { return list[group][i] },
		}, len(list)/sms*sms))
	}
	return z
}

func (z *zoneGroups) Next(sm int) (int, bool) {
	n := len(z.zones)
	zone := Zone(sm, z.sms, n)
	first := (zone*z.sms + n - 1) / n // multiprocessor of the zone
	return z.zones[zone].Next(sm - first)
}

func (z *zoneGroups) Ended(int, int) {}

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
	begun  map[int]uint64 // CTAs that have begun, a bit each, by index divided by 64: a launch can end long before the last CTA
	count  int            // CTAs of the grid
	left   int            // CTAs that have not begun
	err    error
}

// NewChecked returns a checked dispatcher of a policy.
func NewChecked(p *Policy, l *Launch) *Checked {
	n := l.Grid.Count()
	return &Checked{policy: p, of: p.New(l), begun: map[int]uint64{}, count: n, left: n}
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
	case cta < 0 || cta >= c.count:
		c.err = fmt.Errorf("dispatcher %s returns CTA %d; the CTAs are 0 to %d", c.policy.Name, cta, c.count-1)
	case c.begun[cta/64]>>(cta%64)&1 != 0:
		c.err = fmt.Errorf("dispatcher %s returns CTA %d twice", c.policy.Name, cta)
	default:
		c.begun[cta/64] |= 1 << (cta % 64)
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
		word := 0
		for c.begun[word] == 1<<64-1 {
			word++
		}
		return fmt.Errorf("dispatcher %s has left out %d of %d CTAs, among them CTA %d", c.policy.Name, c.left, c.count, 64*word+bits.TrailingZeros64(^c.begun[word]))
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
		shape, err := ParseShape(value)
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
	if _, err := strconv.Atoi(name); err == nil {
		return nil, errors.New("unknown dispatcher; a comma separates values here: write a shape with x, as in cluster:2x4x1")
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
