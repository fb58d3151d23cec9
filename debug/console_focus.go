package debug

// This file has the command cuda: it moves the focus and lists kernels, blocks, warps, lanes and threads.

import (
	"context"
	"fmt"
	"gemu/probe"
	"gemu/ptx"
	"slices"
	"strconv"
	"strings"
)

// cmdCuda changes the focus.
func (c *Console) cmdCuda(_ context.Context, args string) error {
	if _, err := c.Context(); err != nil {
		return err
	}
	f := c.focus
	cta, thread := indexAt(f.CTA, c.info.Grid), c.Thread(f)
	words := cudaWords(args)
	changed := false
	for i := 0; i < len(words); i++ {
		word := words[i]
		if !slices.Contains([]string{"block", "thread", "warp", "lane"}, word) {
			return fmt.Errorf("cuda %s: unknown word; want block, thread, warp or lane", word)
		}
		if i+1 == len(words) || words[i+1] != "" && words[i+1][0] >= 'a' && words[i+1][0] <= 'z' { // without an index, the word is a query
			continue
		}
		d, err := parseIndex(words[i+1])
		if err != nil {
			return err
		}
		i++
		changed = true
		switch word {
		case "block":
			cta = d
		case "thread":
			thread = d
		case "warp":
			if warps := (c.info.Block.Count() + c.info.WarpSize - 1) / c.info.WarpSize; d.X >= warps {
				return fmt.Errorf("want a warp from 0 to %d", warps-1)
			}
			f.Warp, f.Lane = d.X, 0
			thread = c.Thread(f)
		case "lane":
			if d.X >= c.info.WarpSize {
				return fmt.Errorf("want a lane from 0 to %d", c.info.WarpSize-1)
			}
			f.Lane = d.X
			n := linear(thread, c.info.Block)
			thread = indexAt(n-n%c.info.WarpSize+d.X, c.info.Block)
		}
	}
	if !changed {
		k, _ := c.Context()
		c.printf("kernel %s, block %s, thread %s, warp %d, lane %d\n", c.info.Kernel.Name, k.ID, c.Thread(f), f.Warp, f.Lane)
		return nil
	}
	to, ok := c.FocusOn(cta, thread)
	if !ok {
		return fmt.Errorf("block %s thread %s does not exist: the grid is %s, and a block is %s", cta, thread, c.info.Grid, c.info.Block)
	}
	if err := c.SetFocus(to); err != nil {
		return err
	}
	c.printFocus("[Switching focus] ")
	return nil
}

// cudaWords splits "block (1,0,0) thread 5".
func cudaWords(args string) []string {
	args = strings.NewReplacer("(", " (", ")", ") ", ", ", ",").Replace(args)
	return strings.Fields(args)
}

// parseIndex reads N, (X,Y) or (X,Y,Z).
func parseIndex(s string) (ptx.Dim3, error) {
	var n [3]int
	parts := strings.Split(strings.Trim(s, "()"), ",")
	for i, p := range parts {
		v, err := strconv.Atoi(p)
		if err != nil || i >= 3 || v < 0 {
			return ptx.Dim3{}, fmt.Errorf("%s: want N or (X,Y,Z)", s)
		}
		n[i] = v
	}
	return ptx.Dim3{X: n[0], Y: n[1], Z: n[2]}, nil
}

var cudaLists = []struct {
	name string
	do   func(c *Console) error
}{
	{"kernels", (*Console).cudaKernels}, {"blocks", (*Console).cudaBlocks}, {"warps", (*Console).cudaWarps},
	{"lanes", (*Console).cudaLanes}, {"threads", (*Console).cudaThreads},
}

func (c *Console) cudaKernels() error {
	ended := ""
	if c.ended {
		ended = ", ended"
	}
	c.printf("%s  grid %s block %s  warps of %d  %s%s\n", c.info.Kernel.Name, c.info.Grid, c.info.Block, c.info.WarpSize, c.info.Mode, ended)
	return nil
}

func (c *Console) cudaBlocks() error {
	last := -1
	for _, k := range c.Contexts() {
		if k.CTA == last {
			continue
		}
		last = k.CTA
		c.printf("%s block %s\n", c.mark(k.CTA == c.focus.CTA), k.ID)
	}
	return nil
}

func (c *Console) mark(current bool) string {
	if current {
		return "*"
	}
	return " "
}

// cudaWarps shows the warps of the block in focus, by context.
func (c *Console) cudaWarps() error {
	if _, err := c.Context(); err != nil {
		return err
	}
	for _, k := range c.Contexts() {
		if k.CTA == c.focus.CTA {
			c.printf("%s warp %d %-18s %s\n", c.mark(c.focus.isIn(&k)), k.Warp, probe.LaneText(k.Lanes), c.describeContext(&k))
		}
	}
	return nil
}

func (c *Console) cudaLanes() error {
	if _, err := c.Context(); err != nil {
		return err
	}
	for lane := range c.info.WarpSize {
		f := Focus{c.focus.CTA, c.focus.Warp, lane}
		for _, k := range c.Contexts() {
			if f.isIn(&k) {
				c.printf("%s lane %-2d thread %s %s\n", c.mark(f == c.focus), lane, c.Thread(f), c.describeContext(&k))
			}
		}
	}
	return nil
}

// cudaThreads shows all contexts.
func (c *Console) cudaThreads() error {
	for _, k := range c.Contexts() {
		f := Focus{k.CTA, k.Warp, lowestLane(k.Lanes)}
		c.printf("%s block %s warp %d %-18s first thread %s %s\n", c.mark(c.focus.isIn(&k)), k.ID, k.Warp, probe.LaneText(k.Lanes), c.Thread(f), c.describeContext(&k))
	}
	return nil
}
