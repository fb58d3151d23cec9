package fuzz

import (
	"context"
	"testing"

	"gemu/internal/part"
	"gemu/internal/random"
	"gemu/ptx"
)

func defaultOptions(f Features) Options {
	return Options{Features: f, Version: ptx.Version{Major: 7}, SM: 80, Grid: 2, Block: ptx.Dim(40), Length: 60}
}

// TestProgramsAreDefined: programs of every feature alone, and of all, are defined.
func TestProgramsAreDefined(t *testing.T) {
	part.SkipShort(t)
	first := part.Seed(t)
	lists := []Features{0, random.AllFeatures, random.AllFeatures}
	for i := range random.FeatureNames {
		lists = append(lists, 1<<i, random.AllFeatures&^(1<<i))
	}
	for i, f := range lists {
		o := defaultOptions(f)
		o.Block = []ptx.Dim3{ptx.Dim(40), ptx.Dim(32), ptx.Dim(5, 3), ptx.Dim(4, 4, 3)}[i%4]
		if i%3 == 0 {
			o.SM, o.Version = 100, ptx.Version{Major: 8, Minor: 8}
		}
		g, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		for seed := range uint64(part.Count(1, 2, 100)) {
			if _, err := g.Program(first + seed).Verify(context.Background()); err != nil {
				t.Errorf("features %v, block %s, seed %#x: %v", names(f), o.Block, first+seed, err)
				return
			}
		}
	}
}

// TestFindShuffles: a shuffle is found wherever it is, and not in a comment.
func TestFindShuffles(t *testing.T) {
	const head = ".version 7.0\n.target sm_80\n.address_size 64\n"
	const body = "{ .reg .b32 %a; mov.b32 %a, 1; shfl.sync.idx.b32 %a, %a, 0, 31, -1; ret; }\n"
	for source, want := range map[string]bool{
		head + ".entry k()" + body:                                  true,
		head + ".func f()" + body + ".entry k() { call f; ret; }\n": true,
		head + ".entry k() { ret; } // shfl.sync\n":                 false,
	} {
		if got := (&Program{Source: source}).shuffles(); got != want {
			t.Errorf("%s: %v", source, got)
		}
	}
}
