package machine

// RunCounts counts the instructions of an InstrRun by the way in which they execute: as constants of the launch, on lanes,
// proved uniform, or on compact operands.
type RunCounts struct{ Fixed, OnLanes, Proved, Compact uint8 }
