package machine

// RunCounts counts the instructions of a run by the way in which they execute.
type RunCounts struct{ Fixed, OnLanes, Proved, Compact uint8 }
