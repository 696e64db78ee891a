package setup

import "llmsweep/report/lang"

var (
	sayHardware    = lang.Say("%d x %s", "%d 张 %s")
	sayTokens      = lang.Say("%g tokens", "%g token")
	wordThinking   = lang.Say("thinking", "思考模式")
	wordNoThinking = lang.Say("no thinking", "非思考模式")
)
