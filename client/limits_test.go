package client

import (
	"runtime"
	"testing"
)

func TestLimitsOfThisMachine(t *testing.T) {
	s := LocalLimits{Files: 1024, Ports: 28232, ReuseLocal: true}
	for _, tt := range []struct {
		load MachineLoad
		want string
	}{
		{MachineLoad{Streams: 960, Ports: true, Flag: "--concurrency"}, ""},
		{MachineLoad{Ports: true}, ""},
		{MachineLoad{Streams: 10000, Ports: true, Flag: "--concurrency"},
			"10000 streams at once need 10064 file descriptors, and this process may open 1024: raise the hard limit (ulimit " +
				"-Hn 10064 as root; LimitNOFILE= of systemd, --ulimit nofile= of Docker), or lower --concurrency to 960"},
		{MachineLoad{Streams: 481, Files: 2, Flag: "--max-concurrency"},
			"481 streams at once need 1026 file descriptors, and this process may open 1024: raise the hard limit (ulimit " +
				"-Hn 1026 as root; LimitNOFILE= of systemd, --ulimit nofile= of Docker), or lower --max-concurrency to 480"},
	} {
		got := ""
		if err := s.Check(tt.load); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%+v:\ngot  %s\nwant %s", tt.load, got, tt.want)
		}
	}
	s.Files = 0
	if err := s.Check(MachineLoad{Streams: 30000, Ports: true, Flag: "--concurrency"}); err == nil {
		t.Error("30000 streams fit into 28232 ports")
	}
	if err := s.Check(MachineLoad{Streams: 30000}); err != nil {
		t.Errorf("a Unix socket needs no port: %v", err)
	}
}

func TestPorts(t *testing.T) {
	s := LocalLimits{Ports: 28232, ReuseLocal: true}
	for rate, want := range map[float64][2]bool{470: {false, false}, 471: {true, false}, 28232: {true, false},
		28233: {true, true}} {
		if got := [2]bool{s.PortsExhausted(rate, false), s.PortsExhausted(rate, true)}; got != want {
			t.Errorf("%v connections/s: %v, want %v", rate, got, want)
		}
	}
	if (LocalLimits{}).PortsExhausted(1e6, false) {
		t.Error("without a known number of ports nothing is short")
	}
	if s := ReadLimits(); runtime.GOOS == "linux" && (s.Files < 10 || s.Ports < 1) {
		t.Errorf("%+v", s)
	}
	if n := s.PortWarning(471, false); n.Args["held"] != 28260.0 || n.Args["ports"] != 28232.0 {
		t.Errorf("%+v", n)
	}
}
