package report

// DrawRun and DrawUsers draw runs for the tests of renderings that import this package.
var (
	DrawRun   = drawRun
	DrawUsers = drawUsers
)
