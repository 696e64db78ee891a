package report

// What tests of renderings need that import this package: DrawRun draws runs, SweptRun is a whole sweep, CheckOrder tells
// what of an answer is out of order, and Precision how far rounding may have moved a printed number.
var (
	DrawRun    = drawRun
	SweptRun   = sweptRun
	CheckOrder = checkOrder
	Precision  = precision
)
