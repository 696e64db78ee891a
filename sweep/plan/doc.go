// Package plan computes how many replicas of a server a demand needs, by simulation of twins behind a router.
//
//	demand.go    the requests that a service is to answer: at a rate, with a daily profile, or as a trace recorded them
//	fleet.go     replicas behind a router through hours of requests
//	capacity.go  the smallest fleet that keeps the objectives, what it costs, and what breaks first
package plan
