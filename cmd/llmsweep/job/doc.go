// Package job measures for sweep, run, demo, resume and compare --live, from the flags to the exit code.
//
// A [Job] measures one server, or several of one model; a [Comparison] measures two servers in turns. Both go through
// the same steps, with a session of one side or two:
//
//	| step     | what happens                                                               | where                    |
//	|----------|----------------------------------------------------------------------------|--------------------------|
//	| parse    | flags are read; what makes no sense is refused                             | measurement.go, flags.go |
//	| connect  | preflight, client, workload; the simulator is started for sim:             | target.go, open.go       |
//	| begin    | run directory, view, self-test, checks of answers; other ranks join        | take.go, session.go      |
//	| measure  | package sweep, or package pair, measures the stages                        |                          |
//	| conclude | report.md, the page and the result are written; SLO and gates are judged   | conclude.go, missed.go   |
//
// A dry run ends after parse: it makes the workload without a server, and counts ([Job.DryRun]).
package job
