package machine

// EffectStage is a set of what can happen to an effect.
type EffectStage uint8

const (
	StageIssued EffectStage = 1 << iota
	StageReads
	StageWrites
)
