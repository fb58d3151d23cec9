package machine

import (
	"gemu/probe"
)

// operationKinds are the events that need the reference.
const OperationKinds = probe.OnOperation | probe.OnResult
