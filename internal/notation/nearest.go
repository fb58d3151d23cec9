package notation

// Nearest returns the candidate closest to name by edit distance, "" if none is near enough to be
// the intended name.
func Nearest(name string, candidates []string) string {
	best, bestDist := "", 1+len(name)/3
	if bestDist > 3 {
		bestDist = 3
	}
	for _, c := range candidates {
		if c == name {
			continue
		}
		if d := editDistance(name, c, bestDist); d <= bestDist && (d < bestDist || best == "") {
			best, bestDist = c, d
		}
	}
	return best
}

// editDistance is the Damerau–Levenshtein distance (neighbours may swap), or
// anything above limit if it is larger than that.
func editDistance(a, b string, limit int) int {
	if len(a)-len(b) > limit || len(b)-len(a) > limit {
		return limit + 1
	}
	prev2 := make([]int, len(b)+1)
	prev := make([]int, len(b)+1)
	cur := make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], prev2[j-2]+1)
			}
		}
		prev2, prev, cur = prev, cur, prev2
	}
	return prev[len(b)]
}
