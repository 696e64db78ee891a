package report

// What tests that import this package need: DrawRun draws runs, SweptRun is a whole sweep, CheckOrder tells what of an
// answer is out of order, and Precision how far rounding may have moved a printed number.
var (
	DrawRun    = drawRun
	SweptRun   = sweptRun
	CheckOrder = checkOrder
	Precision  = precision
)
