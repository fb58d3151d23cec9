package machine

import (
	"gemu/probe"
)

// OperationKinds is the set of events about operations, for which the reference is needed.
const OperationKinds = probe.OnOperation | probe.OnResult
