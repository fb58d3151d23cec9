package kernels

import (
	"fmt"

	"gemu/interp"
	"gemu/ptx"
)

func init() {
	register(&Workload{
		Name: "bsearch", Doc: "look-ups in a sorted table by binary search",
		N: 1 << 17, Max: 1 << 22, SizeDoc: "look-ups, and pairs in the table",
		Origin: "binary search; bsearch of Kim et al. 2013",
		Papers: []string{"kim2013"},
		Run:    bsearch,
	})
}

func bsearch(s *Session) error {
	r := newRNG(1)
	values := map[int32]int32{}
	table := make([]int32, 0, 2*s.N)
	for i, key := 0, int32(0); i < s.N; i++ {
		key += 1 + int32(r.intn(7))
		values[key] = int32(i)
		table = append(table, key, int32(i))
	}
	keys, want := make([]int32, s.N), make([]int32, s.N)
	found := 0
	for i := range keys {
		if i%4 == 3 {
			keys[i] = int32(r.intn(4*s.N + 8)) // the table has about a quarter of these numbers
		} else {
			keys[i] = table[2*r.intn(s.N)]
		}
		v, ok := values[keys[i]]
		if ok {
			want[i] = v
			found++
		} else {
			want[i] = -1
		}
	}
	dTable, dKeys, output := upload(s, table), upload(s, keys), alloc[int32](s, s.N)
	if err := s.Launch("bsearch", ptx.Dim(blocks(s.N, 256)), ptx.Dim(256), s.N, dTable, s.N, dKeys, output); err != nil {
		return err
	}
	s.Summary = fmt.Sprintf("found %d of %d keys among %d pairs", found, s.N, s.N)
	return Equal("out", interp.Slice[int32](output), want)
}
