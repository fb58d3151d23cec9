package notation

// Percentage is a part of a whole in percent, 0 of nothing.
func Percentage(n, whole int64) float64 {
	if whole == 0 {
		return 0
	}
	return 100 * float64(n) / float64(whole)
}
