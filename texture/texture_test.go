package texture

import (
	"math"
	"strings"
	"testing"
)

// TestLimitsOfImages checks that Check rejects an image that is too large, or whose rows are too far apart, and that the
// size of the largest allowed image does not overflow.
func TestLimitsOfImages(t *testing.T) {
	bytes := func(m Image) Image {
		m.Format = Format{Channels: 1, Bits: 8}
		m.Depth, m.Layers, m.Levels, m.Samples = 1, max(m.Layers, 1), 1, 1
		if m.Geometry == NoGeometry {
			m.Geometry = Image2D
		}
		return m
	}
	for _, c := range []struct {
		m    Image
		size uint64
		bad  string
	}{
		{bytes(Image{Width: maxExtent, Height: 1}), maxExtent, ""},
		{bytes(Image{Width: maxExtent + 1, Height: 1}), 0, "extent"},
		{bytes(Image{Width: 1 << 20, Height: 1 << 20}), 1 << 40, ""},
		{bytes(Image{Width: 1 << 20, Height: 1<<20 + 1}), 0, "too large"},
		{bytes(Image{Width: 4, Height: 5, Pitch: 3}), 0, "pitch"},
		{bytes(Image{Width: 4, Height: 5, Pitch: -8}), 0, "pitch"},
		{bytes(Image{Width: 4, Height: 5, Pitch: maxPitch}), 4*maxPitch + 4, ""},
		{bytes(Image{Width: 4, Height: 5, Pitch: maxPitch + 1}), 0, "pitch"},
		{bytes(Image{Width: 4, Height: 5, Pitch: 1 << 62}), 0, "pitch"},
		{bytes(Image{Width: 4, Height: 5, Pitch: math.MaxInt}), 0, "pitch"},
		{bytes(Image{Width: 4, Height: 512, Pitch: maxPitch}), 511*maxPitch + 4, ""},
		{bytes(Image{Width: 4, Height: 513, Pitch: maxPitch}), 0, "too large"},
		{bytes(Image{Geometry: Image2DLayers, Width: 1, Height: maxExtent, Layers: maxExtent}), 0, "too large"},
	} {
		problem := c.m.Check()
		if (problem == "") != (c.bad == "") || !strings.Contains(problem, c.bad) {
			t.Errorf("%v with a pitch of %d: %q, want %q", &c.m, c.m.Pitch, problem, c.bad)
		} else if problem == "" && c.m.Size() != c.size {
			t.Errorf("%v with a pitch of %d has %d bytes, want %d", &c.m, c.m.Pitch, c.m.Size(), c.size)
		}
	}
}
