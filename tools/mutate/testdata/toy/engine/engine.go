// Package engine is mutated in the tests of package mutate.
package engine

// Steps counts the turns of Sum's loop, Ways how often Quick is quick.
var Steps, Ways int

// Sum adds up elements under the mask, without those that are 7, minus x; it wants a mask,
// and an x under 40.
func Sum(x, m uint32, list []uint32) (sum uint32, ok bool) {
	if m == 0 || x >= 40 {
		return 0, false
	}
	for _, v := range list {
		Steps++
		if v == 7 {
			continue
		}
		sum += v & m
	}
	return minus(sum, x), true
}

func minus(a, b uint32) uint32 { return a - b }

// At looks at elements.
func At(list []int, i int) int {
	for i > len(list)-1 {
		i -= len(list)
	}
	return list[i]
}

// Never is not called.
func Never(a, b bool) bool { return a && b }

// Quick is At for the first; that it is there makes no difference but of speed.
func Quick(list []int, i int) int {
	if i == 0 {
		Ways++
		return list[0]
	}
	return At(list, i)
}

// Odd has results that nobody compares.
func Odd(x int) int { return 2*x + 1 }

// Left is left out.
func Left() int { return 1 }
