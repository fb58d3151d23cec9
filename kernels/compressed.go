package kernels

// This file has the workloads of Measured that stand for programs of Vijaykumar et al. 2016 (docs/caba.md). Their values have the structure of
// the programs' data, and their sizes exceed 4 MB.

import (
	"fmt"
	"math"

	"gemu/interp"
	"gemu/ptx"
)

func init() {
	registerMeasured(&Workload{Papers: []string{"vijaykumar2016"}, Name: "caba/jpeg", Doc: "cosine transform and quantisation of a picture, as before the coding of a JPEG file",
		N: 2048, Max: 1 << 13, SizeDoc: "pixels across, rounded up to 8, ¾ as many down", Origin: "ITU-T T.81 (1992), A.3.3 and A.3.4, with the luminance table K.1", Run: compressedJPEG})
	registerMeasured(&Workload{Papers: []string{"vijaykumar2016"}, Name: "caba/pvc", Doc: "views of pages in a web log, counted by a map and a reduction",
		N: 1 << 17, Max: 1 << 22, SizeDoc: "entries of the log", Origin: "PageViewCount of He et al., Mars: a MapReduce framework on graphics processors (PACT 2008)", Blocks: []int{256, 128, 512}, BlockThreads: true, Run: compressedPVC})
	registerMeasured(&Workload{Papers: []string{"thesis2019", "vijaykumar2016"}, Name: "caba/sla", Doc: "prefix sums of a large array",
		N: 1 << 21, Max: 1 << 26, SizeDoc: "elements, rounded up to 512", Origin: "Blelloch, Prefix sums and their applications (1990); scanLargeArray of the CUDA SDK", Run: compressedSLA})
}

// luminance is the table K.1 of the JPEG standard.
var luminance = [64]float32{
	16, 11, 10, 16, 24, 40, 51, 61, 12, 12, 14, 19, 26, 58, 60, 55, 14, 13, 16, 24, 40, 57, 69, 56, 14, 17, 22, 29, 51, 87, 80, 62,
	18, 22, 37, 56, 68, 109, 103, 77, 24, 35, 55, 64, 81, 104, 113, 92, 49, 64, 78, 87, 103, 121, 120, 101, 72, 92, 95, 98, 112, 100, 103, 99,
}

func compressedJPEG(s *Session) error {
	w, h := 8*blocks(s.N, 8), 8*blocks(landscape(s.N), 8)
	image := testImage(1, w, h)
	var basis, inverse [64]float32
	for k := range 8 {
		for i := range 8 {
			basis[8*k+i] = float32(0.5 * math.Cos(float64(k*(2*i+1))*math.Pi/16))
			if k == 0 {
				basis[i] = float32(math.Sqrt(0.125))
			}
		}
	}
	for i, step := range luminance {
		inverse[i] = 1 / step
	}
	setVar(s, "basis", basis[:])
	setVar(s, "inverse", inverse[:])
	to := alloc[int16](s, w*h)
	if err := s.Launch("jpeg", ptx.Dim(w/8, h/8), ptx.Dim(8, 8), upload(s, image), to, w); err != nil {
		return err
	}
	want := make([]int16, w*h)
	for y := 0; y < h; y += 8 {
		for x := 0; x < w; x += 8 {
			var half [64]float32
			for k := range 8 {
				for c := range 8 {
					for i := range 8 {
						half[8*k+c] = fma32(basis[8*k+i], float32(int(image[(y+i)*w+x+c])-128), half[8*k+c])
					}
				}
			}
			for k := range 8 {
				for l := range 8 {
					sum := float32(0)
					for i := range 8 {
						sum = fma32(basis[8*l+i], half[8*k+i], sum)
					}
					want[(y+k)*w+x+l] = int16(math.RoundToEven(float64(sum * inverse[8*k+l])))
				}
			}
		}
	}
	s.Summary = fmt.Sprintf("%d×%d pixels", w, h)
	return Equal("coefficients", interp.Slice[int16](to), want)
}

// webLog makes the entries of a log, with the offsets of their URLs in the text of all URLs: few pages have most views, visitors and times
// ascend.
func webLog(r *rng, n int) (text []byte, entries []uint64) {
	sites := []string{"http://www.example.com/", "http://news.example.org/", "http://shop.example.net/"}
	sections := []string{"index", "articles", "products", "users", "images"}
	visitor, time := 1000, uint64(1199145600)
	for range n {
		u := float64(r.float())
		page := int(2000 * u * u * u * u)
		url := fmt.Sprintf("%s%s/%04d.html", sites[page%len(sites)], sections[page%len(sections)], page)
		if r.intn(4) == 0 {
			visitor++
		}
		time += uint64(r.intn(2))
		entries = append(entries, uint64(len(text)), uint64(len(url))|uint64(visitor-r.intn(16))<<32, time)
		text = append(text, url...)
	}
	return text, entries
}

func compressedPVC(s *Session) error {
	const buckets = 1 << 12
	text, entries := webLog(newRNG(1), s.N)
	urls := upload(s, text)
	want, views := make([]uint32, buckets), make([]uint64, 0, 2*s.N)
	for i := 0; i < len(entries); i += 3 {
		hash := uint32(2166136261)
		length := uint32(entries[i+1])
		for _, c := range text[entries[i]:][:length] {
			hash = (hash ^ uint32(c)) * 16777619
		}
		want[hash%buckets]++
		if urls != nil {
			entries[i] += urls.Addr()
		}
		views = append(views, entries[i], uint64(hash)|uint64(length)<<32)
	}
	log, out, counts := upload(s, entries), alloc[uint64](s, len(views)), alloc[uint32](s, buckets)
	if err := s.threadEach("pvc_map", s.N, s.N, log, out); err != nil {
		return err
	}
	if err := s.threadEach("pvc_reduce", s.N, s.N, out, counts, buckets-1); err != nil {
		return err
	}
	s.Summary = fmt.Sprintf("%d views of pages, %d bytes of URLs", s.N, len(text))
	if err := Equal("views", interp.Slice[uint64](out), views); err != nil {
		return err
	}
	return Equal("counts", interp.Slice[uint32](counts), want)
}

func compressedSLA(s *Session) error {
	const tile = 512
	r := newRNG(1)
	n := tile * blocks(s.N, tile)
	in := make([]uint32, n)
	for i := range in {
		in[i] = uint32(r.intn(16))
	}
	// Sums of tiles are scanned by the same kernels, as long as there are several tiles.
	var scan func(from *interp.Buffer, n int) (*interp.Buffer, error)
	scan = func(from *interp.Buffer, n int) (*interp.Buffer, error) {
		tiles := blocks(n, tile)
		to, sums := alloc[uint32](s, tiles*tile), alloc[uint32](s, tile*blocks(tiles, tile))
		if err := s.Launch("sla_tiles", ptx.Dim(tiles), ptx.Dim(tile/2), from, to, sums); err != nil || tiles == 1 {
			return to, err
		}
		before, err := scan(sums, tiles)
		if err != nil {
			return nil, err
		}
		return to, s.Launch("sla_add", ptx.Dim(tiles), ptx.Dim(tile/2), to, before)
	}
	to, err := scan(upload(s, in), n)
	if err != nil {
		return err
	}
	want, sum := make([]uint32, n), uint32(0)
	for i, v := range in {
		want[i] = sum
		sum += v
	}
	s.Summary = fmt.Sprintf("%d sums", n)
	return Equal("sums", interp.Slice[uint32](to), want)
}
