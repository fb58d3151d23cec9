package kernels

// This file has the workloads of Measured after programs of Mars that Vijaykumar et al. 2016 use (docs/caba.md). Mars keeps keys and
// values of records in arrays of bytes, and a directory with the place and the size of each key and value.

import (
	"cmp"
	"fmt"
	"slices"

	"gemu/interp"
	"gemu/ptx"
)

const mars = " of He et al., Mars: a MapReduce framework on graphics processors (PACT 2008)"

func init() {
	for _, w := range []*Workload{
		{Name: "caba/mm", Doc: "matrix product by a map, an element for each record", N: 512, Max: 1 << 12, SizeDoc: "rows and columns of the product, with ¼ as many products of an element", Origin: "MatrixMultiplication" + mars, Run: mapMM},
		{Name: "caba/km", Doc: "k-means clustering by a map, a sort and a reduction", N: 1 << 17, Max: 1 << 22, SizeDoc: "points", Origin: "Kmeans" + mars, Run: mapKM},
		{Name: "caba/ss", Doc: "similarity of each pair of documents by a map", N: 512, Max: 1 << 11, SizeDoc: "documents", Origin: "SimilarityScore" + mars, Run: mapSS},
		{Name: "caba/pvr", Doc: "pages of a web log in the order of their views, by a map and a sort", N: 1 << 17, Max: 1 << 22, SizeDoc: "pages", Origin: "PageViewRank" + mars, Run: mapPVR},
	} {
		w.Papers, w.Blocks, w.BlockThreads = []string{"vijaykumar2016"}, []int{256, 128, 512}, true
		registerMeasured(w)
	}
}

// record is an entry of a directory, in bytes.
type record struct{ key, keySize, value, valueSize uint32 }

// directory makes a directory of n records.
func directory(n int, of func(i uint32) record) []uint32 {
	list := make([]uint32, 0, 4*n)
	for i := range n {
		r := of(uint32(i))
		list = append(list, r.key, r.keySize, r.value, r.valueSize)
	}
	return list
}

// pairs returns the keys of n² records: all pairs of numbers below n.
func pairs(n int) []uint32 {
	list := make([]uint32, 0, 2*n*n)
	for i := range n * n {
		list = append(list, uint32(i/n), uint32(i%n))
	}
	return list
}

// eachPair is the directory of records whose key is a pair, without or with a value of 4 bytes.
func eachPair(n int, values bool) []uint32 {
	return directory(n*n, func(i uint32) record {
		if values {
			return record{8 * i, 8, 4 * i, 4}
		}
		return record{8 * i, 8, 0, 0}
	})
}

// sortRecords sorts a directory by keys and, between equal keys, by the offset of the value. n is a power of two, and at least two
// records for each thread of a block.
func sortRecords(s *Session, n int, list, keys *interp.Buffer) error {
	tile := 2 * s.Block
	tiles := func(first, last int) error {
		return s.LaunchShared("mars_tile", ptx.Dim(n/tile), ptx.Dim(s.Block), 16*tile, list, keys, first, last)
	}
	if err := tiles(2, tile); err != nil {
		return err
	}
	for size := 2 * tile; size <= n; size *= 2 {
		for span := size / 2; span >= tile; span /= 2 {
			if err := s.threadEach("mars_step", n/2, list, keys, size, span); err != nil {
				return err
			}
		}
		if err := tiles(size, size); err != nil {
			return err
		}
	}
	return nil
}

// sortable returns the least number of records that sortRecords can sort and that holds n records.
func sortable(s *Session, n int) int {
	size := 2 * s.Block
	for size < n {
		size *= 2
	}
	return size
}

func mapMM(s *Session) error {
	n := s.N
	inner := blocks(n, 4)
	r := newRNG(1)
	matrix := func(n int) []float32 { // of whole numbers below 100: sums are exact
		list := make([]float32, n)
		for i := range list {
			list[i] = float32(r.intn(100))
		}
		return list
	}
	a, b := matrix(n*inner), matrix(inner*n)
	values, out := alloc[float32](s, n*n), alloc[uint32](s, 4*n*n)
	if err := s.threadEach("mm_map", n*n, n*n, inner, n, upload(s, a), upload(s, b), upload(s, eachPair(n, false)), upload(s, pairs(n)), values, out); err != nil {
		return err
	}
	want := make([]float32, n*n)
	for i := range n {
		for k, x := range a[i*inner:][:inner] {
			for j, y := range b[k*n:][:n] {
				want[i*n+j] += float32(x * y)
			}
		}
	}
	s.Summary = fmt.Sprintf("%d×%d times %d×%d", n, inner, inner, n)
	if err := Equal("directory", interp.Slice[uint32](out), eachPair(n, true)); err != nil {
		return err
	}
	return Equal("product", interp.Slice[float32](values), want)
}

func mapKM(s *Session) error {
	const k, dims, rounds = 24, 4, 2
	n, all := s.N, sortable(s, s.N)
	byDims, initial, _ := clusters(n, k, dims)
	points, centres := make([]int32, n*dims), make([]int32, k*dims)
	for i := range points {
		points[i] = byDims[i%dims*n+i/dims]
	}
	for i := range centres {
		centres[i] = int32(initial[i])
	}
	dPoints, dCentres, keys, list := upload(s, points), upload(s, centres), alloc[uint32](s, all), alloc[uint32](s, 4*all)
	first, end := alloc[uint32](s, k), alloc[uint32](s, k)
	size := make([]uint32, k)
	for range rounds {
		if err := s.threadEach("km_map", all, n, dims, k, dPoints, dCentres, keys, list); err != nil {
			return err
		}
		if err := sortRecords(s, all, list, keys); err != nil {
			return err
		}
		clear(interp.Slice[uint32](first))
		clear(interp.Slice[uint32](end))
		if err := s.threadEach("km_group", all, n, list, keys, first, end); err != nil {
			return err
		}
		if err := s.threadEach("km_reduce", k, k, dims, list, dPoints, first, end, dCentres); err != nil {
			return err
		}
		sums := make([]int32, k*dims)
		clear(size)
		for i := range n {
			point, nearest, least := points[i*dims:][:dims], 0, int32(1<<31-1)
			for c := range k {
				distance := int32(0)
				for d, x := range point {
					distance += (x - centres[c*dims+d]) * (x - centres[c*dims+d])
				}
				if distance < least {
					nearest, least = c, distance
				}
			}
			size[nearest]++
			for d, x := range point {
				sums[nearest*dims+d] += x
			}
		}
		for i, sum := range sums {
			if size[i/dims] > 0 {
				centres[i] = sum / int32(size[i/dims])
			}
		}
	}
	s.Summary = fmt.Sprintf("%d points in %d clusters after %d rounds", n, k, rounds)
	got := slices.Clone(interp.Slice[uint32](end))
	for c, from := range interp.Slice[uint32](first) {
		got[c] -= from
	}
	if err := Equal("sizes of clusters", got, size); err != nil {
		return err
	}
	return Equal("centres", interp.Slice[int32](dCentres), centres)
}

func mapSS(s *Session) error {
	const dims = 64
	n := s.N
	r := newRNG(1)
	documents := make([]float32, n*dims) // occurrences of words: a quarter of the words of the vocabulary is in a document
	for i := range documents {
		if i%dims == 0 || r.intn(4) == 0 {
			documents[i] = float32(1 + r.intn(4)*r.intn(4))
		}
	}
	dDocuments, lengths, values, out := upload(s, documents), alloc[float32](s, n), alloc[float32](s, n*n), alloc[uint32](s, 4*n*n)
	if err := s.threadEach("ss_lengths", n, n, dims, dDocuments, lengths); err != nil {
		return err
	}
	if err := s.threadEach("ss_map", n*n, n*n, dims, dDocuments, lengths, upload(s, eachPair(n, false)), upload(s, pairs(n)), values, out); err != nil {
		return err
	}
	dot := func(i, j int) float32 { // exact: whole numbers
		sum := float32(0)
		for d, x := range documents[i*dims:][:dims] {
			sum += float32(x * documents[j*dims+d])
		}
		return sum
	}
	want := make([]float32, n*n)
	for i := range want {
		a, b := i/n, i%n
		want[i] = dot(a, b) / float32(sqrt32(dot(a, a))*sqrt32(dot(b, b)))
	}
	s.Summary = fmt.Sprintf("%d pairs of documents", n*n)
	if err := Equal("directory", interp.Slice[uint32](out), eachPair(n, true)); err != nil {
		return err
	}
	return Equal("similarity", interp.Slice[float32](values), want)
}

func mapPVR(s *Session) error {
	n := sortable(s, s.N)
	r := newRNG(1)
	views, length, start := make([]uint32, n), make([]uint32, n), make([]uint32, n+1)
	for i := range views { // few pages have most views
		u := r.float()
		views[i] = uint32(1 / (u + 1e-4))
		length[i] = uint32(24 + r.intn(48))
		start[i+1] = start[i] + length[i]
	}
	in := directory(n, func(i uint32) record { return record{start[i], length[i], 4 * i, 4} })
	keys, list := alloc[uint32](s, n), alloc[uint32](s, 4*n)
	if err := s.threadEach("pvr_map", n, n, upload(s, in), upload(s, views), keys, list); err != nil {
		return err
	}
	if err := sortRecords(s, n, list, keys); err != nil {
		return err
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(views[a], views[b]), cmp.Compare(a, b)) })
	want := directory(n, func(i uint32) record {
		page := order[i]
		return record{uint32(4 * page), 4, start[page], length[page]}
	})
	s.Summary = fmt.Sprintf("%d pages, the most viewed has %d views", n, views[order[n-1]])
	return Equal("directory", interp.Slice[uint32](list), want)
}
