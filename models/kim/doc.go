// Package kim models the machines of Kim, Torng, Srinath, Lockhart and Batten, "Microarchitectural Mechanisms to Exploit
// Value Structure in SIMT Architectures" (ISCA 2013). In addition to the value structure under the policies kim and fgsimt, which package
// interp measures, it has:
//
//   - figure 2, for an infinitely long warp ([Figure2]);
//   - lower bounds from the uses of units ([Use], [GPSIMT], [FGSIMT]);
//   - cycles ([Replay], [GPMachine], [FGMachine]): GP-SIMT of sections 3.1 and 5.1, FG-SIMT of sections 3.2 and 5.2. The machines replay the executed
//     instructions of warps with their dependences.
//
// The data flow of a replay:
//
//	launch ──▶ Replay: policy's structure probe + recorder ──▶ ctaRecord ──▶ GPMachine or FGMachine ──▶ Time
//
// docs/kim2013-time.md separates the paper's facts about the machines from our choices. The machines are first-order: there is no
// fetch, no instruction cache, no energy.
//
// Read replay.go, then gpmachine.go and fgmachine.go with clock.go. bounds.go and figure2.go stand alone.
package kim
