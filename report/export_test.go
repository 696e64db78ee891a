package report

// What tests of renderings need that import this package: DrawRun and DrawUsers draw runs, SweptRun is a whole sweep.
var (
	DrawRun   = drawRun
	DrawUsers = drawUsers
	SweptRun  = sweptRun
)
