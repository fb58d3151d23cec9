package rig

// This file tries warps that take turns.

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"gemu/interp/internal/code"
	"gemu/interp/internal/mem"
	"gemu/interp/internal/native"
	"gemu/ptx"
	"gemu/regfile"
)

// crew is warps that take turns as package simt has them.
type crew struct {
	native.Team

	warps          []*walk
	arrived        uint32
	barrier        uint32
	allowed, given int64
	shared         []byte
	uniform        [native.Registers]uint64
	zero           []code.Row
	takes          int64
}

// stops has a warp come to the end of a block at which it ends or waits. It goes on itself, or nobody is given, and another has its
// turn, if that is not Go's.
func (c *crew) stops(w *walk, b *code.Block, end *code.Instr) (on *walk, ok bool) {
	x := &w.context
	if c == nil || end.Guard != 0 || x.Mask != x.Live || x.Others != 0 || c.Apart != 0 {
		return nil, false
	}
	halts := func(s native.State) {
		w.settle()
		x.State, x.Touched, c.Dirty = s, 1, 1
	}
	if end.Op == code.Exit {
		if x.Ends == 0 || c.arrived != 0 {
			return nil, false
		}
		c.Live--
		halts(native.Ended)
		return nil, true
	}
	if end.A >= 0 || end.B != code.NoRow || end.Side != 0 {
		return nil, false
	}
	id := w.file.Src32(end.A)[0]
	if id > 15 || c.arrived != 0 && c.barrier != id || b.Next == x.Stop {
		return nil, false
	}
	c.barrier = id
	if c.arrived++; c.arrived != c.Live {
		x.PC, x.At = b.Next, b.Last
		halts(native.Waits)
		return nil, true
	}
	c.arrived, c.Dirty = 0, 1
	for _, o := range c.warps {
		if o.context.State == native.Waits {
			o.context.State, o.context.Touched = native.Ready, 1
		}
	}
	return w, true
}

// turn gives the next warp its turn.
func (c *crew) turn(w *walk) {
	executed := w.context.Count
	c.Left -= executed - c.Began
	c.allowed -= executed - w.context.Enough + c.given
	c.Began = executed
	if c.Live == 0 && c.More > 0 && c.Left > 0 {
		c.follow()
	}
	for k := 1; k <= len(c.warps) && c.Left > 0; k++ {
		i := (int(c.Now) + k) % len(c.warps)
		o := c.warps[i]
		x := &o.context
		if x.State == native.Stops || x.State == native.Ready && x.Count > c.Most {
			break
		}
		if x.State != native.Ready {
			continue
		}
		c.Now, c.Turned, c.Steps = uint32(i), 1, c.Steps+uint32(k)
		c.Share = min(c.Left, c.Quantum)
		c.Began, c.End, x.Touched = x.Count, x.Count+c.Share, 1
		c.given = min(c.Share, c.allowed)
		if x.Enough = x.Count + c.given; c.allowed <= 0 {
			x.Reason = native.Used
			return
		}
		o.run(x.PC, true)
		return
	}
	w.context.Reason = native.Turned
}

// follow has all warps be those of the next CTA.
func (c *crew) follow() {
	c.More--
	c.Followed++
	c.allowed -= c.takes
	if c.At[0]++; c.At[0] == c.Width[0] {
		c.At[0] = 0
		if c.At[1]++; c.At[1] == c.Width[1] {
			c.At[1] = 0
			c.At[2]++
		}
	}
	copy(c.uniform[ptx.CtaidX:], c.At[:])
	clear(c.shared)
	for i, w := range c.warps {
		x, e := &w.context, &c.Ended
		e.Count, e.Slots, e.Held, e.Branches = e.Count+x.Count, e.Slots+x.Slots, e.Held+x.Held, e.Branches+x.Branches
		e.Divergent, e.Met, e.Leaves = e.Divergent+x.Divergent, e.Met+x.Met, e.Leaves+x.Leaves
		x.Count, x.Since = 0, 0
		x.Counted()
		if x.Live = c.Usual; i == len(c.warps)-1 {
			x.Live = c.Last
		}
		x.Mask, x.Stop, x.PC, x.Most, x.Ends, x.Meetings, x.Others = x.Live, -1, c.Entry, native.MostWays, 1, 0, 0
		x.State, x.Touched = native.Ready, 0
		for _, z := range c.zero {
			switch z.Slot {
			case code.R:
				*w.file.Row32(z.Row) = regfile.Row32{}
			case code.Q:
				*w.file.Row64(z.Row) = regfile.Row64{}
			default:
				w.file.SetP(z.Row, regfile.Full, 0)
			}
		}
	}
	c.Live, c.Left, c.Now, c.Dirty = uint32(len(c.warps)), c.Slice, uint32(len(c.warps)-1), 1
	c.Steps = ^uint32(0)
}

// enters says up to when the warp may execute whose turn it is.
func (c *crew) enters(x *native.Context) {
	x.Enough = min(c.End, x.Count+native.Stretch)
	c.allowed, c.given = native.Stretch, x.Enough-x.Count
}

// turns tries programs that several warps execute.
func (t *trier) turns(round int) bool {
	for n := range 1000 {
		p := t.blocks(30)
		c := t.lib.New(p.Program)
		size := 1 + t.IntN(5)
		team, want := new(native.Team), new(crew)
		shared := mem.NewMap(1<<20, 1<<20, nil).NewShared(uint64(t.IntN(5000)))
		uniform, changed := [native.Registers]uint64{}, false
		warps, contexts := make([]*program, size), make([]*native.Context, size)
		t.lib.Take()
		for i := range size {
			f := p.copied()
			for k := range int32(frame.P) {
				if t.IntN(2) == 0 {
					f.SetP(k, regfile.Full, -(t.Uint32() & 1))
				}
			}
			x := &native.Context{Mask: regfile.Full, Stop: -1, Count: t.Int64N(1 << 40), PC: p.Blocks[t.IntN(len(p.Blocks))].First}
			x.State, x.Ends = native.Ready, 1
			if t.IntN(3) == 0 {
				x.Mask = t.mask(n + round)
			}
			if x.Live = x.Mask; t.IntN(6) == 0 {
				x.Live = regfile.Full
				t.ways(p, x)
			}
			if t.IntN(8) == 0 {
				x.Stop = p.Blocks[t.IntN(len(p.Blocks))].First
			}
			x.In(team)
			x.Room(nil, shared, &changed)
			x.Since = x.Count
			if !c.Ready(x) || !c.Ready(&native.Context{Mask: 1}) || !c.Ready(&native.Context{Mask: regfile.Full}) || !c.Ready(x) {
				return false
			}
			c.Fill(x, f)
			if i > 0 && t.IntN(5) == 0 {
				x.State = []native.State{native.Out, native.Stops, native.Ended}[t.IntN(3)]
			}
			if x.State != native.Ended {
				team.Live++
			}
			warps[i], contexts[i] = &program{p.Program, f}, x
		}
		if t.IntN(6) == 0 {
			team.Apart = 1
		}
		team.May = t.Uint32N(2)
		team.Left, team.Quantum, team.Most = t.Int64N(2000), 1+t.Int64N(60), 1<<40-t.Int64N(1<<36)
		team.Began = contexts[0].Count
		team.End = team.Began + 1 + t.Int64N(60)
		team.Usual, team.Last, team.Entry, team.Slice = regfile.Full, regfile.Full, p.Blocks[t.IntN(len(p.Blocks))].First, 1+t.Int64N(2000)
		if t.IntN(2) == 0 {
			team.Last = t.mask(n)
		}
		if t.IntN(3) > 0 {
			team.More = t.Uint32N(5)
		}
		for d := range team.Width {
			team.Width[d] = 1 + t.Uint64N(3)
			team.At[d] = t.Uint64N(team.Width[d])
		}
		for i := range shared.Data {
			shared.Data[i] = byte(1 + t.IntN(255))
		}
		for range t.IntN(4) {
			want.zero = append(want.zero, []code.Row{{Slot: code.R, Row: t.Int32N(int32(frame.R))}, {Slot: code.Q, Row: t.Int32N(int32(frame.Q))}, {Slot: code.P, Row: t.Int32N(int32(frame.P))}}[t.IntN(3)])
		}
		team.Of(contexts)
		c.Follows(team, warps[0].file, shared, want.zero, &uniform, nil)
		want.takes = int64(len(shared.Data)/native.AsLong + size*(2+len(want.zero)))
		t.Stencils = append(t.Stencils, t.lib.Take()...)
		want.Team, want.shared = *team, slices.Clone(shared.Data)
		if team.Of(contexts); t.IntN(8) == 0 {
			team.Of(nil)
		}
		for i := range size {
			w := &walk{program: p, file: warps[i].copied(), context: *contexts[i]}
			if w.crew = want; !team.Turns() {
				w.crew = nil
			}
			want.warps = append(want.warps, w)
		}
		at, begins := contexts[0].PC, true
		for range passes {
			now := team.Now
			ctx, w := contexts[now], want.warps[now]
			from := fmt.Sprintf("warp %d from %d", now, at)
			want.enters(&w.context)
			if ctx.Until(team.End); begins {
				c.Block(ctx, warps[now].file, p.Block(at).Index)
			} else {
				c.Instr(ctx, warps[now].file, at)
			}
			w.run(at, begins)
			t.Compared++
			if diff := t.turnsDiffer(team, want, warps, contexts); diff != "" {
				t.Differs = fmt.Sprintf("%d warps take turns, %s: %s\n%v", size, from, diff, p)
				return false
			}
			if uniform != want.uniform || !bytes.Equal(shared.Data, want.shared) {
				t.Differs = fmt.Sprintf("%d warps take turns, %s: CTA %v has special registers %v, shared memory %v,\nnot %v, %v", size, from, team.At, uniform, shared.Data, want.uniform, want.shared)
				return false
			}
			team.Dirty, want.Dirty = 0, 0 // Go has looked
			for i := range size {
				contexts[i].Touched, want.warps[i].context.Touched = 0, 0
			}
			switch ctx = contexts[team.Now]; {
			case ctx.Reason == native.Used && ctx.Count < team.End:
				at, begins = ctx.PC, true
				continue
			case ctx.Reason == native.Lacks:
				at, begins = c.Next(ctx, ctx.PC+1), false
				continue
			}
			break
		}
	}
	return true
}

// turnsDiffer says how warps that have taken turns differ from what they should be; "" for not at all.
func (t *trier) turnsDiffer(team *native.Team, want *crew, warps []*program, contexts []*native.Context) string {
	told := func(t *native.Team) string {
		return fmt.Sprintf("left %d, began %d, end %d, share %d, now %d, live %d, turned %d, steps %d, dirty %d, follow %d %d %v %d", t.Left, t.Began, t.End, t.Share, t.Now, t.Live, t.Turned, t.Steps, t.Dirty, t.More, t.Followed, t.At, t.Ended)
	}
	g, w := told(team)+fmt.Sprint(team.Waiting()), told(&want.Team)+fmt.Sprint(want.arrived > 0)
	if !team.Turns() { // nothing is done for a team that there is not, but that its end is put off
		g, w = fmt.Sprint(team.Now), fmt.Sprint(want.Now)
		want.End = team.End
	}
	if g != w {
		return fmt.Sprintf("of the team, it has %s\nnot %s", g, w)
	}
	for i, o := range want.warps {
		g, w := contexts[i], &o.context
		if diff := cmp.Or(warps[i].differs(o.file), waysDiffer(g, w)); diff != "" {
			return fmt.Sprintf("warp %d: %s", i, diff)
		}
		known := func(c *native.Context) string {
			s := fmt.Sprintf("count %d, held %d, branches %d, state %d, touched %d", c.Count, c.Held, c.Branches, c.State, c.Touched)
			if c.State == native.Waits {
				s += fmt.Sprintf(", at %d", c.At)
			}
			if uint32(i) == team.Now && c.Reason != native.Turned || c.State == native.Waits || c.State == native.Stands {
				s += fmt.Sprintf(", pc %d", c.PC)
			}
			if uint32(i) == team.Now {
				s += fmt.Sprintf(", reason %d", c.Reason)
			}
			return s
		}
		if g, w := known(g), known(w); g != w {
			return fmt.Sprintf("warp %d has %s\nnot %s", i, g, w)
		}
	}
	return ""
}
