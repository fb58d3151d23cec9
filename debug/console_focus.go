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

// cmdCuda changes or prints the focus.
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
		split, _ := c.Context()
		c.printf("kernel %s, block %s, thread %s, warp %d, lane %d\n", c.info.Kernel.Name, split.ID, c.Thread(f), f.Warp, f.Lane)
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

// cudaWords splits arguments such as "block (1, 0, 0) thread 5" into words: block, (1,0,0), thread, 5.
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
	{"lanes", (*Console).cudaLanes}, {"stack", (*Console).cudaStack}, {"threads", (*Console).cudaThreads}, {"strip", (*Console).cudaStrip},
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
	for _, split := range c.Contexts() {
		if split.CTA == last {
			continue
		}
		last = split.CTA
		c.printf("%s block %s\n", c.mark(split.CTA == c.focus.CTA), split.ID)
	}
	return nil
}

func (c *Console) mark(current bool) string {
	if current {
		return "*"
	}
	return " "
}

// cudaWarps shows the contexts of the block in focus.
func (c *Console) cudaWarps() error {
	if _, err := c.Context(); err != nil {
		return err
	}
	for _, split := range c.Contexts() {
		if split.CTA == c.focus.CTA {
			c.printf("%s warp %d %-18s %s\n", c.mark(c.focus.isIn(&split)), split.Warp, probe.LaneText(split.Lanes), c.describeContext(&split))
		}
	}
	return nil
}

// cudaThreads shows all contexts, each with the index of its first thread.
func (c *Console) cudaThreads() error {
	for _, split := range c.Contexts() {
		f := Focus{split.CTA, split.Warp, lowestLane(split.Lanes)}
		c.printf("%s block %s warp %d %-18s first thread %s %s\n", c.mark(c.focus.isIn(&split)), split.ID, split.Warp, probe.LaneText(split.Lanes), c.Thread(f), c.describeContext(&split))
	}
	return nil
}
