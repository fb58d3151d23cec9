package kernels

import (
	"fmt"
	"math"

	"gemu/interp"
	"gemu/ptx"
)

func init() {
	register(&Workload{
		Name: "sad", Doc: "search for motion in video, by sums of absolute differences",
		N: 8, Max: 1 << 12, SizeDoc: "macroblocks of 16×16 pixels or a few more, in a search range of twice as many pixels, up to 16",
		Origin: "full search for the motion of all partitions of H.264 (ITU-T H.264; Richardson 2003); sad of Parboil",
		Papers: []string{"liu2017"},
		Run:    sad,
	})
}

func sad(s *Session) error {
	const side, sums, threads = 16, 41, 128
	reach := min(2*s.N, 16)
	across := 2*reach + 1
	places := across * across
	// Like a frame of 176×144 pixels, which has 11×9 macroblocks.
	columns := int(math.Ceil(math.Sqrt(float64(s.N) * 11 / 9)))
	rows := blocks(s.N, columns)
	width, height := columns*side, rows*side
	stride := width + 2*reach
	before := testImage(5, stride, height+2*reach)
	r := newRNG(1)
	frame := make([]uint8, width*height)
	for i := range frame { // the image before, moved by (2, -1), with noise
		x, y := i%width+reach+2, i/width+reach-1
		frame[i] = uint8(clamp(int(before[y*stride+x])+r.intn(9)-4, 256))
	}
	got := alloc[uint16](s, columns*rows*sums*places)
	if err := s.Launch("sad_4", ptx.Dim(columns, rows), ptx.Dim(threads), reach, width, upload(s, frame), upload(s, before), got); err != nil {
		return err
	}
	for _, kernel := range []string{"sad_8", "sad_16"} {
		if err := s.Launch(kernel, ptx.Dim(columns*rows), ptx.Dim(threads), places, got); err != nil {
			return err
		}
	}
	// The parts of a macroblock: position and size.
	type part struct{ x, y, w, h int }
	var parts []part
	for i := range 16 {
		parts = append(parts, part{i % 4 * 4, i / 4 * 4, 4, 4})
	}
	for i := range 8 {
		parts = append(parts, part{i / 2 % 2 * 8, i/4*8 + i%2*4, 8, 4})
	}
	for i := range 8 {
		parts = append(parts, part{i/2%2*8 + i%2*4, i / 4 * 8, 4, 8})
	}
	for i := range 4 {
		parts = append(parts, part{i % 2 * 8, i / 2 * 8, 8, 8})
	}
	parts = append(parts, part{0, 0, 16, 8}, part{0, 8, 16, 8}, part{0, 0, 8, 16}, part{8, 0, 8, 16}, part{0, 0, 16, 16})
	want := make([]uint16, 0, columns*rows*sums*places)
	moved := 0
	for m := range columns * rows {
		total := make([][side + 1][side + 1]int, places) // sums of the differences above and to the left of a pixel
		for p := range total {
			for y := range side {
				for x := range side {
					fx, fy := m%columns*side+x, m/columns*side+y
					d := int(frame[fy*width+fx]) - int(before[(fy+p/across)*stride+fx+p%across])
					total[p][y+1][x+1] = max(d, -d) + total[p][y][x+1] + total[p][y+1][x] - total[p][y][x]
				}
			}
		}
		for _, a := range parts {
			for p := range total {
				t := &total[p]
				want = append(want, uint16(t[a.y+a.h][a.x+a.w]-t[a.y][a.x+a.w]-t[a.y+a.h][a.x]+t[a.y][a.x]))
			}
		}
		best, whole := 0, want[len(want)-places:]
		for p, v := range whole {
			if v < whole[best] {
				best = p
			}
		}
		if best == (reach-1)*across+reach+2 {
			moved++
		}
	}
	s.Summary = fmt.Sprintf("%d places for each of %d macroblocks, %d of which have moved", places, columns*rows, moved)
	return Equal("sad", interp.Slice[uint16](got), want)
}
