package machine

// TimeSlice is the length of a time slice, in instructions.
const TimeSlice = 256
