package machine

import (
	"gemu/probe"
)

// OperationKinds are the events that need the reference.
const OperationKinds = probe.OnOperation | probe.OnResult
