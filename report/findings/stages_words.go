package findings

import "llmsweep/report/lang"

// nounServer stands for the configuration of a run that has no labels.
var nounServer = lang.Say("A server", "服务")
