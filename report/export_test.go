package report

// What tests of renderings need that import this package: DrawRun draws runs, SweptRun is a whole sweep, and CheckOrder
// tells what of an answer is out of order.
var (
	DrawRun    = drawRun
	SweptRun   = sweptRun
	CheckOrder = checkOrder
)
