package machine

import (
	"gemu/probe"
)

// OperationKinds is the set of events that need the reference.
const OperationKinds = probe.OnOperation | probe.OnResult
