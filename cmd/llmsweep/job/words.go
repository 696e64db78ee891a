package job

import "llmsweep/report/lang"

var sayPasted = lang.Say("The URL names an endpoint, so the API is %[1]s, as with --api %[1]s. With the base URL alone the API is found out.",
	"URL 指明了端点，因此使用 API %[1]s，等同于 --api %[1]s。只给基础 URL 时自动识别 API。")
