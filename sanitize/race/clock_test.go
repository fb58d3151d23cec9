package race

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"gemu/internal/part"
)

// TestJoinedChannels compares the union of lists of channels, and the test whether a list includes another, with maps.
func TestJoinedChannels(t *testing.T) {
	rng := rand.New(rand.NewPCG(part.Seed(t), 1))
	draw := func() (list []channelMoment, known map[agent]moment) {
		known = map[agent]moment{}
		for range rng.IntN(6) {
			known[channelBit|agent(rng.IntN(8))] = 1 + moment(rng.IntN(4))
		}
		for _, channel := range slices.Sorted(maps.Keys(known)) {
			list = append(list, channelMoment{channel, known[channel]})
		}
		return list, known
	}
	within := 0
	for range 5000 {
		a, known := draw()
		b, other := draw()
		isWithin := true
		union := maps.Clone(other)
		for channel, when := range known {
			isWithin = isWithin && when <= other[channel]
			union[channel] = max(union[channel], when)
		}
		if isWithin {
			within++
		}
		if got := areWithin(a, b); got != isWithin {
			t.Fatalf("%v is within %v: %v", a, b, got)
		}
		want := []channelMoment(nil)
		for _, channel := range slices.Sorted(maps.Keys(union)) {
			want = append(want, channelMoment{channel, union[channel]})
		}
		if got := joinChannels(a, b); !slices.Equal(got, want) {
			t.Fatalf("the union of %v and %v is %v, want %v", a, b, got, want)
		}
	}
	if within < 500 {
		t.Errorf("only %d lists are within the other", within)
	}
}
