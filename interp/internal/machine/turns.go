package machine

// TimeSlice is the share of a warp split where warp splits take turns, in instructions.
const TimeSlice = 256
