package machine

// DefaultTimeSlice is the length of a time slice, in instructions, of policies for which none is chosen. MaxTimeSlice is
// the longest time slice that can be chosen.
const (
	DefaultTimeSlice = 256
	MaxTimeSlice     = 1 << 20
)
