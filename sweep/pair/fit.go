package pair

import (
	"math"
	"time"
)

// What a comparison needs at least.
const (
	standardLoads = 4       // where none is asked for: one request at a time, two rates, the ceiling
	findStandard  = 3       // stages of each server before the blocks, where none is asked for: floor, search for the ceiling, ceiling
	beyondStage   = 1.25    // the time a stage takes with the wait for an idle server, over its own
	shortestShare = 1.0 / 3 // of a stage's time: shorter stages would show nothing
)

// FitStages returns the stage time with which a comparison at a number of loads (0: those that it finds itself) fits its budget, at most the one
// that was asked for; a budget of 0 is none. ok is false where stages would become too short. least is then the shortest budget that does.
// Requests that take longer than a stage are not known yet, and not counted.
func FitStages(stageTime, budget time.Duration, loads int) (fitting, least time.Duration, ok bool) {
	stages := 2 * loads // each load is tried once on each server
	if loads == 0 {
		loads, stages = standardLoads, 2*findStandard
	}
	stages += minPilot * perBlock * loads
	all := time.Duration(float64(stages) * beyondStage * float64(stageTime))
	if budget == 0 || all <= budget {
		return stageTime, 0, true
	}
	fitting = time.Duration(float64(stageTime) * budget.Seconds() / all.Seconds())
	if float64(fitting) >= shortestShare*float64(stageTime) {
		return fitting, 0, true
	}
	return stageTime, time.Duration(math.Ceil(shortestShare*all.Seconds())) * time.Second, false
}
