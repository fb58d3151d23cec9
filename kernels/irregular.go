package kernels

// This file has the workloads of Measured after irregular programs that Vijaykumar et al. 2016 use (docs/caba.md): graphs, trees and
// formulas of LonestarGPU, and two programs that come with GPGPU-Sim.

import (
	"fmt"
	"index/suffixarray"
	"math"
	"math/bits"
	"slices"

	"gemu/interp"
	"gemu/ptx"
)

const lonestar = "; LonestarGPU (Burtscher, Nasre and Pingali, A quantitative study of irregular programs on GPUs, IISWC 2012)"

func init() {
	for _, w := range []*Workload{
		{Papers: []string{"thesis2019", "vijaykumar2016"}, Name: "caba/mst", Doc: "minimum spanning forest of a random graph", N: 1 << 17, Max: 1 << 22, SizeDoc: "nodes, with two edges for each node", Origin: "Boruvka (1926)" + lonestar, Run: mst},
		{Papers: []string{"thesis2019", "vijaykumar2016"}, Name: "caba/sssp", Doc: "shortest paths from a node of a random graph", N: 1 << 17, Max: 1 << 22, SizeDoc: "nodes, with four edges from each node", Origin: "Bellman, On a routing problem (1958)" + lonestar, Run: func(s *Session) error { return shortestPaths(s, "sssp", 100) }},
		{Name: "caba/bfs", Doc: "numbers of edges from a node of a random graph", N: 1 << 17, Max: 1 << 22, SizeDoc: "nodes, with four edges from each node", Origin: "Moore, The shortest path through a maze (1959)" + lonestar, Run: func(s *Session) error { return shortestPaths(s, "bfs", 1) }},
		{Papers: []string{"thesis2019", "vijaykumar2016"}, Name: "caba/sp", Doc: "survey propagation on a random formula", N: 1 << 15, Max: 1 << 20, SizeDoc: "variables, with 4.2 clauses for each variable", Origin: "Braunstein, Mézard and Zecchina, Survey propagation: an algorithm for satisfiability (2005)" + lonestar, Run: surveys},
		{Papers: []string{"thesis2019", "vijaykumar2016"}, Name: "caba/bh", Doc: "gravity of bodies, with the far ones taken together by a tree", N: 1 << 16, Max: 1 << 20, SizeDoc: "bodies", Origin: "Barnes and Hut, A hierarchical O(N log N) force-calculation algorithm (1986)" + lonestar, Run: barnesHut},
		{Name: "caba/mum", Doc: "longest matches of pieces of DNA with a genome, by a suffix tree", N: 1 << 17, Max: 1 << 22, SizeDoc: "letters of the genome, with a piece of 64 letters for each 32", Origin: "Schatz et al., High-throughput sequence alignment using graphics processing units (2007)", Run: mummer},
		{Name: "caba/ray", Doc: "picture of spheres with shadows and reflections", N: 512, Max: 1 << 12, SizeDoc: "pixels across, ¾ as many down", Origin: "Whitted, An improved illumination model for shaded display (1980); RAY of Bakhoda et al., Analyzing CUDA workloads using a detailed GPU simulator (2009)", Blocks: []int{128, 64, 256}, Run: ray},
	} {
		w.BlockThreads = true
		if w.Papers == nil {
			w.Papers = []string{"vijaykumar2016"}
		}
		if w.Blocks == nil {
			w.Blocks = []int{256, 128, 512}
		}
		registerMeasured(w)
	}
}

// edge is an edge from a node, and its number.
type edge struct{ target, weight, number int32 }

// compressedRows returns the edges of all nodes one after another, as arrays, and the place of the first edge of each node.
func compressedRows(from [][]edge) (first, target, weight, number []int32) {
	first = []int32{0}
	for _, list := range from {
		for _, e := range list {
			target, weight, number = append(target, e.target), append(weight, e.weight), append(number, e.number)
		}
		first = append(first, int32(len(target)))
	}
	return first, target, weight, number
}

func mst(s *Session) error {
	n := s.N
	edges := 2 * n
	r := newRNG(1)
	from, ends, weights := make([][]edge, n), make([]int32, 2*edges), make([]uint64, edges)
	for e := range edges {
		u, v, w := int32(e/2), int32(r.intn(n)), int32(1+r.intn(1000))
		ends[2*e], ends[2*e+1], weights[e] = u, v, uint64(w)<<32|uint64(e)
		from[u], from[v] = append(from[u], edge{v, w, int32(e)}), append(from[v], edge{u, w, int32(e)})
	}
	first, target, weight, number := compressedRows(from)
	component, none := make([]int32, n), make([]uint64, n)
	for i := range n {
		component[i], none[i] = int32(i), math.MaxUint64
	}
	dFirst, dTarget, dWeight, dNumber, dEnds := upload(s, first), upload(s, target), upload(s, weight), upload(s, number), upload(s, ends)
	dComponent, lightest, parent, chosen, joins := upload(s, component), upload(s, none), alloc[int32](s, n), alloc[uint8](s, edges), alloc[int32](s, 1)
	total, rounds := int32(0), 0
	for {
		if err := s.threadEach("mst_find", n, n, dFirst, dTarget, dWeight, dNumber, dComponent, lightest); err != nil {
			return err
		}
		if err := s.threadEach("mst_join", n, n, dEnds, dComponent, lightest, parent, chosen, joins); err != nil {
			return err
		}
		if interp.Slice[int32](joins)[0] == total {
			break
		}
		total = interp.Slice[int32](joins)[0]
		if rounds++; rounds > bits.Len(uint(n)) { // a round at least halves the components that have edges to others
			return fmt.Errorf("components still join in round %d", rounds)
		}
		if err := s.threadEach("mst_follow", n, n, parent, dComponent, lightest); err != nil {
			return err
		}
	}
	// Kruskal's algorithm: weights with numbers are distinct, so there is a single minimum.
	root := func(u int32) int32 {
		for component[u] != u {
			component[u] = component[component[u]]
			u = component[u]
		}
		return u
	}
	want := make([]uint8, edges)
	slices.Sort(weights)
	for _, w := range weights {
		e := uint32(w)
		if a, b := root(ends[2*e]), root(ends[2*e+1]); a != b {
			component[a], want[e] = b, 1
		}
	}
	s.Summary = fmt.Sprintf("%d of %d edges after %d rounds", total, edges, rounds)
	return Equal("edges", interp.Slice[uint8](chosen), want)
}

// shortestPaths runs the kernels of a program with a name on a graph whose edges have weights from 1 to heaviest. If all weights are 1, the
// kernels do not read them.
func shortestPaths(s *Session, name string, heaviest int) error {
	const far = 1 << 30
	n := s.N
	r := newRNG(1)
	from, distance := make([][]edge, n), make([]int32, n)
	for u := range n {
		for range 4 {
			from[u] = append(from[u], edge{target: int32(r.intn(n)), weight: int32(1 + r.intn(heaviest))})
		}
		distance[u] = far
	}
	distance[0] = 0
	isActive := make([]uint8, n)
	isActive[0] = 1
	first, target, weight, _ := compressedRows(from)
	active, dDistance, next, changed := upload(s, isActive), upload(s, distance), upload(s, distance), alloc[int32](s, 1)
	args := []any{n, upload(s, first), upload(s, target)}
	if heaviest > 1 {
		args = append(args, upload(s, weight))
	}
	args = append(args, active, dDistance, next)
	total, rounds := int32(0), 0
	for {
		if err := s.threadEach(name+"_relax", n, args...); err != nil {
			return err
		}
		if err := s.threadEach(name+"_commit", n, n, next, dDistance, active, changed); err != nil {
			return err
		}
		rounds++
		if interp.Slice[int32](changed)[0] == total {
			break
		}
		total = interp.Slice[int32](changed)[0]
		if rounds == n { // a shortest path has fewer than n edges
			return fmt.Errorf("distances still change in round %d", rounds)
		}
	}
	// Dijkstra's algorithm, with a list of nodes for each distance.
	reached, visited, near := 0, make([]bool, n), [][]int32{{0}}
	for d := 0; d < len(near); d++ {
		for _, u := range near[d] {
			if visited[u] {
				continue
			}
			reached++
			visited[u] = true
			for _, e := range from[u] {
				if to := int32(d) + e.weight; to < distance[e.target] {
					distance[e.target] = to
					for len(near) <= int(to) {
						near = append(near, nil)
					}
					near[to] = append(near[to], e.target)
				}
			}
		}
	}
	s.Summary = fmt.Sprintf("%d of %d nodes reached in %d rounds", reached, n, rounds)
	return Equal("distance", interp.Slice[int32](dDistance), distance)
}

func surveys(s *Session) error {
	const rounds = 4
	n := s.N
	clauses := n * 21 / 5
	if n < 3 {
		clauses = 0
	}
	r := newRNG(1)
	literals := make([]int32, 0, 3*clauses)
	places := make([][]edge, 2*n) // of each literal
	for range clauses {
		for k := range 3 {
			l := int32(r.intn(2 * n))
			for own := literals[len(literals)-k:]; slices.ContainsFunc(own, func(o int32) bool { return o/2 == l/2 }); {
				l = int32(r.intn(2 * n))
			}
			places[l] = append(places[l], edge{target: int32(len(literals))})
			literals = append(literals, l)
		}
	}
	first, list, _, _ := compressedRows(places)
	survey := r.floats(max(1, len(literals)), 0, 1)
	literals, list = append(literals, 0), append(list, 0) // buffers are not empty
	dFirst, dList, dLiterals := upload(s, first), upload(s, list), upload(s, literals)
	now, next, product, change := upload(s, survey), upload(s, survey), alloc[float32](s, 2*n), alloc[int32](s, rounds)
	quiet := func(place int32) float32 { return max(1-survey[place], 1e-6) }
	for round := range rounds {
		if err := s.threadEach("sp_variables", n, n, dFirst, dList, now, product); err != nil {
			return err
		}
		if clauses > 0 {
			if err := s.threadEach("sp_clauses", clauses, clauses, dLiterals, product, now, next, change.Addr()+uint64(4*round)); err != nil {
				return err
			}
		}
		now, next = next, now
		products, after, most := make([]float32, 2*n), slices.Clone(survey), float32(0)
		for l := range products {
			products[l] = 1
			for _, place := range list[first[l]:first[l+1]] {
				products[l] *= quiet(place)
			}
		}
		for c := range clauses {
			var against [3]float32
			for k := range against {
				l := literals[3*c+k]
				same, opposite := products[l]/quiet(int32(3*c+k)), products[l^1]
				u, v, none := float32((1-opposite)*same), float32((1-same)*opposite), float32(same*opposite)
				against[k] = max(u, 0) / max(u+v+none, 1e-30)
			}
			for k := range against {
				at := 3*c + k
				after[at] = against[(k+1)%3] * against[(k+2)%3]
				most = max(most, float32(math.Abs(float64(after[at]-survey[at]))))
			}
		}
		survey = after
		if got := math.Float32frombits(uint32(interp.Slice[int32](change)[round])); got != most {
			return &Mismatch{Values: "change", Index: round, Got: got, Want: most, Count: 1, Total: rounds}
		}
		s.Summary = fmt.Sprintf("%d surveys of %d clauses changed by %.3f at most in round %d", 3*clauses, clauses, most, rounds)
	}
	return Equal("surveys", interp.Slice[float32](now), survey)
}

// octree lists the nodes of a tree in depth-first order, in the words of the kernel, with the bodies that it has.
type octree struct {
	words  []uint32
	bodies [][4]float32 // coordinates and mass, in the order of the tree
}

// add appends the tree of bodies in a cube around centre, whose side is twice half.
func (t *octree) add(bodies [][4]float32, centre [3]float32, half float32, depth int) {
	const opening = 4 // a cube stands for its bodies from 4 halves on: its side by its distance is at most θ = 1/2
	place := len(t.words)
	t.words = append(t.words, make([]uint32, 6)...)
	var sum [4]float64
	for _, b := range bodies {
		for d := range 3 {
			sum[d] += float64(float64(b[3]) * float64(b[d]))
		}
		sum[3] += float64(b[3])
	}
	reach := float32(-1)
	if len(bodies) > 1 && depth < 30 {
		reach = (opening * half) * (opening * half)
		var parts [8][][4]float32
		for _, b := range bodies {
			k := 0
			for d := range 3 {
				if b[d] >= centre[d] {
					k |= 1 << d
				}
			}
			parts[k] = append(parts[k], b)
		}
		for k, part := range parts {
			if len(part) > 0 {
				at := centre
				for d := range 3 {
					at[d] += half / 2 * float32(2*(k>>d&1)-1)
				}
				t.add(part, at, half/2, depth+1)
			}
		}
	} else {
		t.bodies = append(t.bodies, bodies...)
	}
	for d := range 3 {
		t.words[place+d] = math.Float32bits(float32(sum[d] / sum[3]))
	}
	t.words[place+3], t.words[place+4], t.words[place+5] = math.Float32bits(float32(sum[3])), math.Float32bits(reach), uint32(len(t.words)/6)
}

func barnesHut(s *Session) error {
	const step, softening = float32(0.01), float32(0.0025)
	n := s.N
	r := newRNG(1)
	bodies := make([][4]float32, 0, n)
	for len(bodies) < n { // a ball that is denser within
		var p [3]float32
		for d := range p {
			p[d] = 2*r.float() - 1
		}
		if square := dot32(p, p); square < 1 {
			bodies = append(bodies, [4]float32{p[0] * square, p[1] * square, p[2] * square, 1 / float32(n)})
		}
	}
	var tree octree
	tree.add(bodies, [3]float32{}, 1, 0)
	nodes := len(tree.words) / 6
	var x, v, a [3][]float32
	var dx, dv, da [3]*interp.Buffer
	for d := range 3 {
		for _, b := range tree.bodies {
			x[d] = append(x[d], b[d])
		}
		v[d], a[d] = r.floats(n, -0.1, 0.1), make([]float32, n)
		dx[d], dv[d], da[d] = upload(s, x[d]), upload(s, v[d]), upload(s, a[d])
	}
	if err := s.threadEach("bh_force", n, n, nodes, softening, upload(s, tree.words), dx[0], dx[1], dx[2], da[0], da[1], da[2]); err != nil {
		return err
	}
	visits := 0
	for i := range n {
		for at := 0; at < nodes; visits++ {
			node := tree.words[6*at:][:6]
			var p [3]float32
			for d := range p {
				p[d] = math.Float32frombits(node[d]) - x[d][i]
			}
			square := dot32(p, p)
			if square <= math.Float32frombits(node[4]) {
				at++
				continue
			}
			square += softening
			pull := math.Float32frombits(node[3]) / float32(square*sqrt32(square))
			for d := range p {
				a[d][i] = fma32(pull, p[d], a[d][i])
			}
			at = int(node[5])
		}
	}
	for d := range 3 {
		if err := s.threadEach("bh_move", n, n, step, da[d], dv[d], dx[d]); err != nil {
			return err
		}
		for i := range n {
			v[d][i] = fma32(a[d][i], step, v[d][i])
			x[d][i] = fma32(v[d][i], step, x[d][i])
		}
		if err := Equal("acceleration", interp.Slice[float32](da[d]), a[d]); err != nil {
			return err
		}
		if err := Equal("velocity", interp.Slice[float32](dv[d]), v[d]); err != nil {
			return err
		}
		if err := Equal("place", interp.Slice[float32](dx[d]), x[d]); err != nil {
			return err
		}
	}
	s.Summary = fmt.Sprintf("%d bodies, %d nodes, of which a body visits %d", n, nodes, visits/n)
	return nil
}

// suffixTree makes the tree of a text (Ukkonen, On-line construction of suffix trees, 1995), in the words of the kernel. The last letter of the
// text is 4 and does not occur before; edges that begin with it are left out.
func suffixTree(text []uint8) []int32 {
	const words = 8
	const start, end, link = 4, 5, 6
	tree := make([]int32, words)
	add := func(from, to int) int32 {
		tree = append(tree, 0, 0, 0, 0, int32(from), int32(to), 0, 0)
		return int32(len(tree)/words - 1)
	}
	at := func(node int32, field int) *int32 { return &tree[int(node)*words+field] }
	active, edge, length, missing := int32(0), 0, 0, 0 // the active point, and suffixes that are not in the tree yet
	for i, c := range text {
		missing++
		latest := int32(0) // the latest inner node, which has no link yet
		linkTo := func(node int32) {
			if latest != 0 {
				*at(latest, link) = node
			}
			latest = 0
		}
		for missing > 0 {
			if length == 0 {
				edge = i
			}
			next := int32(0)
			if text[edge] < 4 {
				next = *at(active, int(text[edge]))
			}
			if next == 0 {
				if text[edge] < 4 {
					leaf := add(i, len(text))
					*at(active, int(text[edge])) = leaf
				}
				linkTo(active)
			} else {
				if whole := int(*at(next, end) - *at(next, start)); length >= whole {
					active, edge, length = next, edge+whole, length-whole
					continue
				}
				middle := int(*at(next, start)) + length
				if text[middle] == c {
					length++
					linkTo(active)
					break
				}
				inner := add(int(*at(next, start)), middle)
				*at(active, int(text[edge])) = inner
				*at(next, start) = int32(middle)
				*at(inner, int(text[middle])) = next
				if c < 4 {
					leaf := add(i, len(text))
					*at(inner, int(c)) = leaf
				}
				linkTo(inner)
				latest = inner
			}
			missing--
			if active != 0 {
				active = *at(active, link)
			} else if length > 0 {
				length--
				edge = i - missing + 1
			}
		}
	}
	for node := range int32(len(tree) / words) {
		for k := range 4 {
			if child := *at(node, k); child != 0 {
				*at(child, 7) = node
			}
		}
	}
	return tree
}

func mummer(s *Session) error {
	const size = 64
	n, queries := s.N, blocks(s.N, 32)
	r := newRNG(1)
	text := make([]uint8, n, n+1)
	for i := range text { // a genome repeats itself, with changes
		text[i] = uint8(r.intn(4))
		if from := i - 3000; from >= 0 && i/1000%4 == 0 && r.intn(20) > 0 {
			text[i] = text[from]
		}
	}
	letters := make([]uint8, 0, size*queries)
	for q := range queries { // pieces of the genome with errors; a quarter come from elsewhere
		at := r.intn(n)
		for k := range size {
			c := text[(at+k)%n]
			if q%4 == 0 || r.intn(40) == 0 {
				c = uint8(r.intn(4))
			}
			letters = append(letters, c)
		}
	}
	tree := suffixTree(append(text, 4))
	length := alloc[uint8](s, size*queries)
	if err := s.threadEach("mum_match", queries, queries, size, upload(s, tree), upload(s, append(text, 4)), upload(s, letters), length); err != nil {
		return err
	}
	want, sorted := make([]uint8, size*queries), suffixarray.New(text)
	longest := 0
	for q := range queries {
		query, match := letters[q*size:][:size], 0
		for i := range query {
			for i+match < size && sorted.Lookup(query[i:i+match+1], 1) != nil {
				match++
			}
			want[q*size+i] = uint8(match)
			longest = max(longest, match)
			match = max(match-1, 0)
		}
	}
	s.Summary = fmt.Sprintf("%d pieces, %d nodes, the longest match has %d letters", queries, len(tree)/8, longest)
	return Equal("length", interp.Slice[uint8](length), want)
}

// vec is a vector of floats; its operations round as the kernel does.
type vec [3]float32

func (a vec) add(f float32, b vec) vec {
	for d := range a {
		a[d] += float32(f * b[d])
	}
	return a
}

func (a vec) dot(b vec) float32 {
	return float32(a[0]*b[0]) + float32(a[1]*b[1]) + float32(a[2]*b[2])
}

func (a vec) unit() vec {
	length := sqrt32(a.dot(a))
	return vec{a[0] / length, a[1] / length, a[2] / length}
}

// ball is a sphere.
type ball struct {
	centre vec
	radius float32
	colour vec
	mirror float32
}

// distance returns the distance along a ray, or a large number.
func (b *ball) distance(from, towards vec) float32 {
	v := from.add(-1, b.centre)
	along := v.dot(towards)
	root := float32(along*along) - (v.dot(v) - float32(b.radius*b.radius))
	if root <= 0 {
		return 1e9
	}
	if t := -along - sqrt32(root); t > 1e-3 {
		return t
	}
	return 1e9
}

// trace returns the colour of a ray.
func trace(balls []ball, from, towards vec) (sum vec) {
	light := vec{0.57735026, 0.57735026, -0.57735026}
	share := float32(1)
	for range 4 {
		nearest, hit := float32(1e9), -1
		for i := range balls {
			if t := balls[i].distance(from, towards); t < nearest {
				nearest, hit = t, i
			}
		}
		if towards[1] < 0 && from[1]/-towards[1] < nearest && from[1] > 1e-3 {
			nearest, hit = from[1]/-towards[1], len(balls)
		}
		if hit < 0 {
			return sum.add(share*(0.5+float32(0.5*towards[1])), vec{0.5, 0.7, 1})
		}
		place, up, colour, mirror := from.add(nearest, towards), vec{0, 1, 0}, vec{0.9, 0.9, 0.9}, float32(0.25)
		if hit < len(balls) {
			up, colour, mirror = place.add(-1, balls[hit].centre).unit(), balls[hit].colour, balls[hit].mirror
		} else {
			place[1] = 0
			if (int(math.RoundToEven(float64(place[0])))+int(math.RoundToEven(float64(place[2]))))&1 != 0 {
				colour = vec{0.2, 0.2, 0.2}
			}
		}
		bright := max(up.dot(light), 0)
		for i := range balls {
			if bright > 0 && balls[i].distance(place, light) < 1e9 {
				bright = 0
			}
		}
		sum = sum.add(float32(share*(1-mirror))*(0.2+float32(0.8*bright)), colour)
		share *= mirror
		towards = towards.add(-2*towards.dot(up), up)
		from = place
	}
	return sum
}

func ray(s *Session) error {
	w, h := s.N, landscape(s.N)
	r := newRNG(1)
	var balls []ball
	var words []float32
	for i := range 12 {
		radius := 0.3 + float32(0.5*r.float())
		b := ball{vec{float32(float32(i%4)*1.8) - 2.7, radius, float32(i/4) * 2}, radius, vec{0.3 + float32(0.7*r.float()), 0.3 + float32(0.7*r.float()), 0.3 + float32(0.7*r.float())}, 0.5 * r.float()}
		balls = append(balls, b)
		words = append(words, b.centre[0], b.centre[1], b.centre[2], b.radius, b.colour[0], b.colour[1], b.colour[2], b.mirror)
	}
	pixels := alloc[uint32](s, w*h)
	if err := s.Launch("ray", ptx.Dim(blocks(w, 16), blocks(h, s.Block/16)), ptx.Dim(16, s.Block/16), w, h, len(balls), upload(s, words), pixels); err != nil {
		return err
	}
	want := make([]uint32, w*h)
	for i := range want {
		x, y := i%w, i/w
		towards := vec{float32(2*x-w) / float32(h), float32(h-2*y)/float32(h) - 0.25, 2}
		for d, v := range trace(balls, vec{0, 1.5, -6}, towards.unit()) {
			want[i] |= uint32(min(int(float32(255*v)), 255)) << (8 * d)
		}
	}
	s.Summary = fmt.Sprintf("%d×%d pixels", w, h)
	return Equal("pixels", interp.Slice[uint32](pixels), want)
}
