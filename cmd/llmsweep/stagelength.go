package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// stageLength is how many requests a stage has: a number, or a multiple of the requests in flight, such as 10x. The zero value leaves it to the time.
type stageLength struct {
	Number int
	Times  float64
}

// mostRequests bounds the number of requests of a stage.
const mostRequests = 1e9

// UnmarshalText reads 100 or 10x.
func (s *stageLength) UnmarshalText(text []byte) error {
	number, isMultiple := strings.CutSuffix(strings.TrimSpace(string(text)), "x")
	v, err := strconv.ParseFloat(number, 64)
	switch {
	case err != nil || !(v > 0 && v <= mostRequests) || !isMultiple && v != math.Trunc(v):
		return fmt.Errorf("%q must be a number of requests above 0, such as 100, or a multiple of the requests in flight, such as 10x", text)
	case isMultiple:
		*s = stageLength{Times: v}
	default:
		*s = stageLength{Number: int(v)}
	}
	return nil
}

// of returns the number of requests of a stage with a number in flight; 0 where the time decides.
func (s stageLength) of(inFlight int) int {
	if s.Times > 0 {
		return max(1, int(math.Round(min(mostRequests, s.Times*float64(inFlight)))))
	}
	return s.Number
}
