package progress

import "llmsweep/report/lang"

var sayServed = lang.Say("the run is shown at %s, with numbers for Prometheus at %smetrics", "运行情况见 %s，供 Prometheus 读取的数据见 %smetrics")

// Served says where the run is served.
func (s *LiveServer) Served(l lang.Lang) string { return sayServed.In(l, s.URL(), s.URL()) }
