package machine

// EffectStage is a set of stages of an asynchronous effect.
type EffectStage uint8

const (
	StageIssued EffectStage = 1 << iota // it has been issued
	StageReads                          // it reads its source
	StageWrites                         // it writes its destination
)
