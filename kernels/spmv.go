package kernels

import (
	"fmt"
	"slices"

	"gemu/interp"
	"gemu/ptx"
)

func init() {
	register(&Workload{
		Name: "spmv", Doc: "sparse matrix times vector, in jagged diagonals",
		N: 1 << 13, Max: 1 << 20, SizeDoc: "rows and columns",
		Origin: "Saad, Krylov subspace methods on supercomputers (1989): the jagged diagonals; spmv of Parboil",
		Papers: []string{"liu2017", "thesis2019"},
		Run:    spmv,
	})
}

func spmv(s *Session) error {
	const block = 192
	n := s.N
	r := newRNG(1)
	type element struct {
		column int32
		value  float32
	}
	rows := make([][]element, n)
	for i := range rows { // most elements are near the diagonal; some rows have four times as many elements
		count := 1 + r.intn(16)
		if r.intn(32) == 0 {
			count *= 4
		}
		rows[i] = make([]element, count)
		for k := range rows[i] {
			column := clamp(i+r.intn(129)-64, n)
			if r.intn(8) == 0 {
				column = r.intn(n)
			}
			rows[i][k] = element{int32(column), 2*r.float() - 1}
		}
	}
	order := make([]int32, n)
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return len(rows[b]) - len(rows[a]) })
	length := make([]int32, n)
	for i, row := range order {
		length[i] = int32(len(rows[row]))
	}
	var first, column []int32
	var value []float32
	for k := range rows[order[0]] {
		first = append(first, int32(len(value)))
		for _, row := range order {
			if k >= len(rows[row]) {
				break
			}
			column, value = append(column, rows[row][k].column), append(value, rows[row][k].value)
		}
	}
	x := r.floats(n, -1, 1)
	y := alloc[float32](s, n)
	if err := s.Launch("spmv", ptx.Dim(blocks(n, block)), ptx.Dim(block), n, upload(s, length), upload(s, order), upload(s, first), upload(s, column), upload(s, value), upload(s, x), y); err != nil {
		return err
	}
	want := make([]float32, n)
	for i, row := range rows {
		for _, e := range row {
			want[i] = fma32(e.value, x[e.column], want[i])
		}
	}
	s.Summary = fmt.Sprintf("%d rows, %d elements", n, len(value))
	return Equal("y", interp.Slice[float32](y), want)
}
